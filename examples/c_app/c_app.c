// SPDX-License-Identifier: Apache-2.0
//
// An app in C: runs method forward of a program on ones.
//
//   ./bazelw run //examples:c_app -- /path/to/model.pte [weights.ptd ...]
#include <stdio.h>
#include <stdlib.h>

#include "extension/c_api/petrel.h"

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, petrel_error_text());
  return 1;
}

// Method forward on one tensor of floats; `ones` has room for it.
static int run(petrel_module* module, const petrel_value* info, float* ones) {
  petrel_value input = *info;
  petrel_value output;
  for (size_t i = 0; i < info->nbytes / sizeof(float); ++i) ones[i] = 1.0f;
  input.data = ones;
  PETREL_VALUE_INIT(&output);
  if (petrel_module_set_input(module, "forward", 0, &input) != PETREL_OK ||
      petrel_module_run(module, "forward") != PETREL_OK ||
      petrel_module_get_output(module, "forward", 0, &output) != PETREL_OK) {
    return fail("cannot run");
  }
  if (output.dtype != PETREL_FLOAT32 || output.nbytes == 0) return fail("no floats come out");
  printf("%zu numbers, the first is %f\n", output.nbytes / sizeof(float),
         (double)((const float*)output.data)[0]);
  return 0;
}

int main(int argc, char** argv) {
  petrel_options* options = NULL;
  petrel_module* module = NULL;
  petrel_value info;
  int failed;
  if (argc < 2) return fprintf(stderr, "usage: c_app MODEL.pte [DATA.ptd ...]\n"), 2;
  if (petrel_options_create(&options) != PETREL_OK) return fail("options");
  for (int i = 2; i < argc; ++i) {
    if (petrel_options_add_data_path(options, argv[i]) != PETREL_OK) return fail(argv[i]);
  }
  failed = petrel_module_load_path(argv[1], options, &module) != PETREL_OK;
  petrel_options_destroy(options);
  if (failed) return fail(argv[1]);
  PETREL_VALUE_INIT(&info);
  failed = petrel_module_input_info(module, "forward", 0, &info) != PETREL_OK;
  float* ones = failed ? NULL : malloc(info.nbytes);
  failed = ones == NULL ? fail("input 0") : run(module, &info, ones);
  free(ones);
  petrel_module_destroy(module);
  return failed;
}
