/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs and outputs in the workspace: the image is read into its place there and nothing
 * is copied. Its bytes are those of activations later, so it is gone after a run.
 *
 *   petrel gen-c digits.pt2 -o digits_c --name digits --pool name=workspace
 *   cc -std=c99 -O3 -ffp-contract=off -Idigits_c io_in_arena.c digits_c/digits.c \
 *     digits_c/digits_params.c digits_c/digits_memory.c -lm -o app
 *   ./app < image
 */
#include "digits.h"
#include "read_and_print.h"

int main(void) {
  const struct digits_pools pools = digits_static_pools();
  struct digits_context context;
  struct digits_inputs inputs;
  struct digits_outputs outputs;
  if (digits_init(&context, &pools) != DIGITS_OK) return 1;
  inputs = digits_map_inputs(&context);
  outputs = digits_map_outputs(&context);
  if (!read_floats(digits_input_image(&context), DIGITS_INPUT_IMAGE_ELEMENTS)) return 2;
  if (digits_run(&context, &inputs, &outputs) != DIGITS_OK) return 3;
  print_floats(outputs.linear, DIGITS_OUTPUT_LINEAR_ELEMENTS);
  return 0;
}
