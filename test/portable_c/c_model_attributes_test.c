/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of petrel_c_model() that add files: a kernel of the user, the memories of a board, a
 * record of levels, and what answers a host. Each model computes here what the model without them
 * computes; with levels, near it. */
#include <string.h>

#include "digits.h"
#include "digits_board.h"
#include "digits_int8.h"
#include "digits_kernel.h"
#include "digits_rpc.h"
#include "digits_rpc_plan.h"
#include "petrel_model.h"
#include "petrel_rpc.h"
#include "relu_kernel.h"

static float image[DIGITS_INPUT_IMAGE_ELEMENTS];
static float expected[DIGITS_OUTPUT_LINEAR_ELEMENTS];
static float scores[DIGITS_OUTPUT_LINEAR_ELEMENTS];
static uint64_t memory[DIGITS_RPC_ARENA_BYTES / sizeof(uint64_t) + 8u];

/* Of an arena without pools, whose alignment is at most 64. */
static void *aligned(void) {
  unsigned char *bytes = (unsigned char *)memory;
  while ((uintptr_t)bytes % 64u != 0u) ++bytes;
  return bytes;
}

static int run_plain(void) {
  static struct digits_pool_fast fast;
  static struct digits_pool_slow slow;
  struct digits_context context;
  struct digits_pools pools = {0};
  struct digits_inputs inputs = {image};
  struct digits_outputs outputs = {expected};
  pools.fast = &fast;
  pools.fast_bytes = sizeof fast;
  pools.slow = &slow;
  pools.slow_bytes = sizeof slow;
  if (digits_init(&context, &pools) != DIGITS_OK) return 1;
  return digits_run(&context, &inputs, &outputs) == DIGITS_OK ? 0 : 2;
}

static int run_kernel(void) {
  struct digits_kernel_context context;
  struct digits_kernel_pools pools = {0};
  struct digits_kernel_inputs inputs = {image};
  struct digits_kernel_outputs outputs = {scores};
  pools.arena = aligned();
  pools.arena_bytes = DIGITS_KERNEL_ARENA_BYTES;
  /* Of the direct interface alone. */
  if (digits_kernel_get_model_metadata()->init != NULL) return 14;
  if (digits_kernel_init(&context, &pools) != DIGITS_KERNEL_OK) return 10;
  if (digits_kernel_run(&context, &inputs, &outputs) != DIGITS_KERNEL_OK) return 11;
  if (relu_calls != 1) return 12;
  return memcmp(scores, expected, sizeof scores) == 0 ? 0 : 13;
}

static int run_board(void) {
  const struct digits_board_pools pools = digits_board_static_pools();
  struct digits_board_context context;
  struct digits_board_inputs inputs = {image};
  struct digits_board_outputs outputs = {scores};
  if (digits_board_init(&context, &pools) != DIGITS_BOARD_OK) return 20;
  if (digits_board_run(&context, &inputs, &outputs) != DIGITS_BOARD_OK) return 21;
  return memcmp(scores, expected, sizeof scores) == 0 ? 0 : 22;
}

/* Of an image that is 0 throughout. */
static int run_int8(void) {
  int8_t levels[DIGITS_INT8_INPUT_IMAGE_ELEMENTS];
  int8_t made[DIGITS_INT8_OUTPUT_LINEAR_ELEMENTS];
  struct digits_int8_context context;
  struct digits_int8_pools pools = {0};
  struct digits_int8_inputs inputs = {levels};
  struct digits_int8_outputs outputs = {made};
  memset(levels, DIGITS_INT8_INPUT_IMAGE_ZERO_POINT, sizeof levels);
  pools.arena = aligned();
  pools.arena_bytes = DIGITS_INT8_ARENA_BYTES;
  if (digits_int8_init(&context, &pools) != DIGITS_INT8_OK) return 40;
  if (digits_int8_run(&context, &inputs, &outputs) != DIGITS_INT8_OK) return 41;
  memset(image, 0, sizeof image);
  if (run_plain() != 0) return 42;
  for (int i = 0; i < (int)DIGITS_INT8_OUTPUT_LINEAR_ELEMENTS; ++i) {
    const float value = (float)DIGITS_INT8_OUTPUT_LINEAR_SCALE *
                        (float)(made[i] - DIGITS_INT8_OUTPUT_LINEAR_ZERO_POINT);
    const float error = value - expected[i];
    if (error > 2.0f || error < -2.0f) return 43;
  }
  return 0;
}

/* A host that is gone when it has heard of the start. */
static int32_t read_none(void *user, unsigned char *bytes, uint32_t size, uint32_t timeout_ms) {
  (void)user;
  (void)bytes;
  (void)size;
  (void)timeout_ms;
  return PETREL_BOARD_E_CLOSED;
}

static int32_t count(void *user, const unsigned char *bytes, uint32_t size) {
  (void)bytes;
  *(uint32_t *)user += size;
  return PETREL_BOARD_OK;
}

static int run_rpc(void) {
  static unsigned char buffer[PETREL_RPC_BUFFER_BYTES];
  static struct petrel_rpc rpc;
  uint32_t written = 0;
  struct digits_rpc_context context;
  void *const pool = aligned();
  const size_t pool_bytes = DIGITS_RPC_ARENA_BYTES;
  struct petrel_board board = {0};
  struct petrel_rpc_config config = {0};
  board.name = "here";
  board.user = &written;
  board.read = read_none;
  board.write = count;
  config.board = &board;
  config.model = digits_rpc_get_model_metadata();
  config.plan = digits_rpc_get_plan();
  config.context = &context;
  config.pools = &pool;
  config.pool_bytes = &pool_bytes;
  config.buffer = buffer;
  config.buffer_bytes = sizeof buffer;
  if (petrel_rpc_init(&rpc, &config) != PETREL_RPC_OK) return 30;
  if (petrel_rpc_loop(&rpc) != PETREL_RPC_OK) return 31;
  return written > 0 ? 0 : 32;
}

int main(void) {
  int (*const runs[])(void) = {run_plain, run_kernel, run_board, run_rpc, run_int8};
  for (int i = 0; i < (int)DIGITS_INPUT_IMAGE_ELEMENTS; ++i) {
    image[i] = (float)(i % 7) * 0.25f - 0.5f;
  }
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; ++i) {
    const int status = runs[i]();
    if (status != 0) return status;
  }
  return 0;
}
