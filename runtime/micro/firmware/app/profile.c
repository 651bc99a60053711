/* SPDX-License-Identifier: Apache-2.0
 *
 * A main program that tells the host how many ticks of the board's timer each step takes: every
 * method is run some times, one step after the other as in any run. Inputs of 8 bits hold numbers
 * of all sizes, others 0.
 *
 *   bits 32, hz 25000000
 *   method forward
 *   step op3_int8_convolution, ticks 20410
 *   ...
 *   done
 *
 * "failed 5" is a status of the model, negated, "timer 4" one of the timer; nothing follows. */
#include "firmware.h"
#include "places.h"
#include "say.h"

#ifndef PETREL_PROFILE_RUNS
#define PETREL_PROFILE_RUNS 3u
#endif

static void fill(unsigned char *bytes, const struct petrel_tensor_info *tensor) {
  const int is_small = tensor->dtype == PETREL_DTYPE_INT8 || tensor->dtype == PETREL_DTYPE_UINT8;
  uint32_t seed = 1;
  size_t i;
  for (i = 0; i < tensor->bytes; ++i) {
    seed = seed * 1664525u + 1013904223u;
    bytes[i] = is_small ? (unsigned char)(seed >> 16) : 0u;
  }
}

static int stopped(const struct petrel_board *board, const char *why, int32_t status) {
  if (status == 0) return 0;
  say(board, why);
  say_number(board, (uint64_t)(-(int64_t)status));
  say(board, "\n");
  return 1;
}

/* One run; 1 when nothing more can be measured. */
static int run_steps(const struct petrel_board *board, const struct petrel_app *app,
                     const struct petrel_method_info *method, void *const *inputs,
                     void *const *outputs) {
  const void *given[PETREL_APP_MAX_TENSORS] = {NULL};
  uint32_t next = 0, i;
  for (i = 0; i < method->num_inputs; ++i) {
    fill(inputs[i], &method->inputs[i]);
    given[i] = inputs[i];
  }
  while (next < method->num_steps) {
    const char *const name = method->steps[next].name;
    uint64_t ticks = 0;
    int32_t timer = board->timer.start(board->user);
    const int32_t status = method->run_step(app->context, given, outputs, &next);
    if (timer == PETREL_BOARD_OK) timer = board->timer.stop(board->user, &ticks);
    if (stopped(board, "failed ", status) || stopped(board, "timer ", timer)) return 1;
    say(board, "step ");
    say(board, name);
    say(board, ", ticks ");
    say_number(board, ticks);
    say(board, "\n");
  }
  return 0;
}

static int measure(const struct petrel_board *board, const struct petrel_app *app,
                   const struct petrel_method_info *method) {
  void *inputs[PETREL_APP_MAX_TENSORS];
  void *outputs[PETREL_APP_MAX_TENSORS];
  uint32_t run;
  say(board, "method ");
  say(board, method->name);
  say(board, "\n");
  if (stopped(board, "failed ", find_places(app, method, inputs, outputs))) return 1;
  for (run = 0; run < PETREL_PROFILE_RUNS; ++run) {
    if (run_steps(board, app, method, inputs, outputs)) return 1;
  }
  return 0;
}

int main(void) {
  const struct petrel_board *board = petrel_board_init();
  const struct petrel_app *app = petrel_app();
  int32_t code = app->model->init(app->context, app->pools, app->pool_bytes);
  uint32_t i;
  say(board, "bits ");
  say_number(board, board->timer.hz == 0u ? 0u : board->timer.bits);
  say(board, ", hz ");
  say_number(board, board->timer.hz);
  say(board, "\n");
  if (board->timer.hz != 0u && !stopped(board, "failed ", code)) {
    for (i = 0; i < app->model->num_methods && code == 0; ++i) {
      code = measure(board, app, &app->model->methods[i]);
    }
    if (code == 0) say(board, "done\n");
  }
  petrel_board_exit(0);
  return 0;
}
