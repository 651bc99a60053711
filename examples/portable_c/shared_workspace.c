/* SPDX-License-Identifier: Apache-2.0
 *
 * Two models that never run at the same time share one workspace, which is as large as the
 * larger of them needs: digits_group.h has its type. An image of noise goes through the
 * filter before and after the image of a digit, and neither disturbs the other.
 *
 *   petrel gen-c conv_same.pt2 -o filter_c --name filter --pool name=workspace
 *   petrel gen-c digits.pt2 -o digits_c --name digits --pool name=workspace \
 *     --group filter_c/manifest.json
 *   cc -std=c99 -O3 -ffp-contract=off -Idigits_c -Ifilter_c shared_workspace.c \
 *     digits_c/digits.c digits_c/digits_params.c filter_c/filter.c filter_c/filter_params.c \
 *     filter_c/filter_selftest.c -lm -o app
 *   ./app < image
 */
#include "digits_group.h"
#include "read_and_print.h"

int32_t filter_selftest(struct filter_context *context);

static union digits_group_workspace workspace;

static int run_filter(void) {
  struct filter_context context;
  struct filter_pools pools;
  pools.workspace = &workspace.filter;
  pools.workspace_bytes = sizeof workspace;
  return filter_init(&context, &pools) == FILTER_OK && filter_selftest(&context) == FILTER_OK;
}

static int run_digits(const float *image, float *scores) {
  struct digits_context context;
  struct digits_pools pools;
  struct digits_inputs inputs;
  struct digits_outputs outputs;
  pools.workspace = &workspace.digits;
  pools.workspace_bytes = sizeof workspace;
  inputs.image = image;
  outputs.linear = scores;
  return digits_init(&context, &pools) == DIGITS_OK &&
         digits_run(&context, &inputs, &outputs) == DIGITS_OK;
}

int main(void) {
  static float image[DIGITS_INPUT_IMAGE_ELEMENTS];
  static float scores[DIGITS_OUTPUT_LINEAR_ELEMENTS];
  if (!read_floats(image, DIGITS_INPUT_IMAGE_ELEMENTS)) return 1;
  if (!run_filter() || !run_digits(image, scores) || !run_filter()) return 2;
  print_floats(scores, DIGITS_OUTPUT_LINEAR_ELEMENTS);
  return 0;
}
