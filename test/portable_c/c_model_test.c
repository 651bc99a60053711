/* SPDX-License-Identifier: Apache-2.0
 *
 * Two models of petrel_c_model() in one program, which share a pool. */
#include "counter.h"
#include "counter_group.h"
#include "digits.h"

static union counter_group_slow slow;
static struct digits_pool_fast fast;
static struct counter_pool_state state;

static int run_digits(void) {
  static const float image[DIGITS_INPUT_IMAGE_ELEMENTS] = {0};
  float scores[DIGITS_OUTPUT_LINEAR_ELEMENTS];
  struct digits_context context;
  struct digits_pools pools;
  struct digits_inputs inputs;
  struct digits_outputs outputs;
  pools.fast = &fast;
  pools.fast_bytes = sizeof fast;
  pools.slow = &slow.digits;
  pools.slow_bytes = sizeof slow.digits;
  inputs.image = image;
  outputs.linear = scores;
  if (digits_init(&context, &pools) != DIGITS_OK) return 1;
  return digits_run(&context, &inputs, &outputs) == DIGITS_OK ? 0 : 2;
}

int main(void) {
  const float ones[4] = {1, 1, 1, 1};
  float sums[4];
  struct counter_context context;
  struct counter_pools pools;
  struct counter_add_inputs inputs;
  struct counter_add_outputs outputs;
  pools.slow = &slow.counter;
  pools.slow_bytes = sizeof slow.counter;
  pools.state = &state;
  pools.state_bytes = sizeof state;
  inputs.x = ones;
  if (counter_init(&context, &pools) != COUNTER_OK) return 10;
  for (int round = 0; round < 2; ++round) {
    outputs.mul = sums;
    if (counter_add_run(&context, &inputs, &outputs) != COUNTER_OK) return 11;
    if (sums[0] != 2.0f + (float)round || sums[3] != 5.0f + (float)round) return 12;
    const int status = run_digits();
    if (status != 0) return status;
  }
  return 0;
}
