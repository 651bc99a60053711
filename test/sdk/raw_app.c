/* SPDX-License-Identifier: Apache-2.0 */
/* raw_app PROGRAM OUT [INPUT SIZES]...: runs method forward of a program on tensors whose
 * bytes are in files and whose sizes are given as 2x3x4, and writes the bytes of output i to
 * the file OUT.i. */
#include <petrel/petrel.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, petrel_error_text());
  return 1;
}

static int set_input(petrel_module* module, size_t index, const char* path, const char* sizes) {
  petrel_value value;
  FILE* file;
  size_t d, got;
  PETREL_VALUE_INIT(&value);
  if (petrel_module_input_info(module, "forward", index, &value) != PETREL_OK) return 1;
  value.data = malloc(value.nbytes + 1); /* enough for its largest sizes */
  file = fopen(path, "rb");
  if (value.data == NULL || file == NULL) return 1;
  got = fread(value.data, 1, value.nbytes + 1, file);
  fclose(file);
  if (got > value.nbytes) return 1;
  value.nbytes = got;
  for (d = 0; d < value.rank; ++d) {
    char* end;
    value.sizes[d] = strtol(sizes, &end, 10);
    sizes = *end == 'x' ? end + 1 : end;
  }
  return petrel_module_set_input(module, "forward", index, &value) != PETREL_OK;
}

static int write_output(petrel_module* module, size_t index, const char* out) {
  char path[4096];
  petrel_value value;
  FILE* file;
  size_t put;
  PETREL_VALUE_INIT(&value);
  if (petrel_module_get_output(module, "forward", index, &value) != PETREL_OK) return 1;
  if (snprintf(path, sizeof path, "%s.%zu", out, index) >= (int)sizeof path) return 1;
  file = fopen(path, "wb");
  if (file == NULL) return 1;
  put = fwrite(value.data, 1, value.nbytes, file);
  return fclose(file) != 0 || put != value.nbytes;
}

int main(int argc, char** argv) {
  petrel_module* module = NULL;
  size_t i, count;
  if (argc < 3) return 2;
  if (petrel_module_load_path(argv[1], NULL, &module) != PETREL_OK) return failed(argv[1]);
  for (i = 0; 2 * i + 4 < (size_t)argc; ++i) {
    if (set_input(module, i, argv[2 * i + 3], argv[2 * i + 4])) return failed(argv[2 * i + 3]);
  }
  if (petrel_module_run(module, "forward") != PETREL_OK) return failed("run");
  if (petrel_module_num_outputs(module, "forward", &count) != PETREL_OK) return failed("outputs");
  for (i = 0; i < count; ++i) {
    if (write_output(module, i, argv[2])) return failed(argv[2]);
  }
  petrel_module_destroy(module);
  return 0;
}
