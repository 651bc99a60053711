/* SPDX-License-Identifier: Apache-2.0 */
/* An app of C that has only the SDK: runs method forward of a program on ones. */
#include <petrel/petrel.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  petrel_module* module = NULL;
  petrel_value input, output;
  float* ones;
  size_t i;
  if (argc != 2) return 2;
  PETREL_VALUE_INIT(&input);
  PETREL_VALUE_INIT(&output);
  if (petrel_module_load_path(argv[1], NULL, &module) != PETREL_OK ||
      petrel_module_input_info(module, "forward", 0, &input) != PETREL_OK) {
    fprintf(stderr, "%s\n", petrel_error_text());
    return 1;
  }
  ones = malloc(input.nbytes);
  for (i = 0; i < input.nbytes / sizeof(float); ++i) ones[i] = 1;
  input.data = ones;
  if (petrel_module_set_input(module, "forward", 0, &input) != PETREL_OK ||
      petrel_module_run(module, "forward") != PETREL_OK ||
      petrel_module_get_output(module, "forward", 0, &output) != PETREL_OK) {
    fprintf(stderr, "%s\n", petrel_error_text());
    return 1;
  }
  printf("%zu numbers, the first is %.4f\n", output.nbytes / sizeof(float),
         (double)((const float*)output.data)[0]);
  petrel_module_destroy(module);
  free(ones);
  return 0;
}
