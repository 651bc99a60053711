/* SPDX-License-Identifier: Apache-2.0
 *
 * Each buffer in the memory that suits it: activations in 12 KiB of fast memory as long as
 * they fit and else in slow memory, the image always in the slow one, the parameters of the
 * first layer in a section of their own. The types of the two pools differ, so that
 * swapping them is a matter for the compiler.
 *
 *   petrel gen-c digits.pt2 -o digits_c --name digits \
 *     --pool name=fast,limit=12K,section=.bss.fast,align=32 \
 *     --pool name=slow,section=.bss.slow --pool name=flash,kind=ro,section=.rodata.flash \
 *     --pin image=slow --link-param 'stem*=flash'
 *   cc -std=c99 -O3 -ffp-contract=off -Wall -Wextra -Werror -Idigits_c pinned_memories.c \
 *     digits_c/digits.c digits_c/digits_params.c -lm -o app
 *   ./app < image
 */
#include "digits.h"
#include "read_and_print.h"

/* Of the application; digits_memory.c would have them, too. */
__attribute__((section(".bss.fast"))) static struct digits_pool_fast fast;
__attribute__((section(".bss.slow"))) static struct digits_pool_slow slow;

int main(void) {
  static float image[DIGITS_INPUT_IMAGE_ELEMENTS];
  static float scores[DIGITS_OUTPUT_LINEAR_ELEMENTS];
  struct digits_pools pools;
  struct digits_context context;
  struct digits_inputs inputs;
  struct digits_outputs outputs;
  pools.fast = &fast;
  pools.fast_bytes = sizeof fast;
  pools.slow = &slow;
  pools.slow_bytes = sizeof slow;
  inputs.image = image;
  outputs.linear = scores;
  if (digits_init(&context, &pools) != DIGITS_OK) return 1;
  if (!read_floats(image, DIGITS_INPUT_IMAGE_ELEMENTS)) return 2;
  if (digits_run(&context, &inputs, &outputs) != DIGITS_OK) return 3;
  print_floats(scores, DIGITS_OUTPUT_LINEAR_ELEMENTS);
  return 0;
}
