/* SPDX-License-Identifier: Apache-2.0
 *
 * The simplest: all memory that the model needs is one array of the program, and its
 * parameters are constants.
 *
 *   petrel gen-c digits.pt2 -o digits_c --name digits --pool name=workspace
 *   cc -std=c99 -O3 -ffp-contract=off -Idigits_c one_workspace.c digits_c/digits.c \
 *     digits_c/digits_params.c digits_c/digits_memory.c -lm -o app
 *   ./app < image
 */
#include "digits.h"
#include "read_and_print.h"

int main(void) {
  static float image[DIGITS_INPUT_IMAGE_ELEMENTS];
  static float scores[DIGITS_OUTPUT_LINEAR_ELEMENTS];
  const struct digits_pools pools = digits_static_pools();
  struct digits_context context;
  struct digits_inputs inputs;
  struct digits_outputs outputs;
  inputs.image = image;
  outputs.linear = scores;
  if (digits_init(&context, &pools) != DIGITS_OK) return 1;
  if (!read_floats(image, DIGITS_INPUT_IMAGE_ELEMENTS)) return 2;
  if (digits_run(&context, &inputs, &outputs) != DIGITS_OK) return 3;
  print_floats(scores, DIGITS_OUTPUT_LINEAR_ELEMENTS);
  return 0;
}
