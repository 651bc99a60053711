/* SPDX-License-Identifier: Apache-2.0
 *
 * A main program that lets the host compare the timer of the board with its own clock: it says
 * "begin", spins, and says "end" with the ticks between the two, some times.
 *
 *   bits 32, hz 25000000
 *   begin
 *   end 50013120, status 0
 */
#include "firmware.h"
#include "say.h"

#define TIMES 3

static volatile uint32_t spun;

static void spin(uint32_t times) {
  uint32_t i;
  for (i = 0; i < times; ++i) spun = i;
}

/* How often to spin for two seconds, or a quarter of what the timer counts. */
static uint32_t find_times(const struct petrel_board_timer *timer, void *user) {
  uint64_t wanted = 2u * (uint64_t)timer->hz, ticks = 0;
  uint32_t times = 1000u;
  if (timer->bits < 64u && wanted > ((uint64_t)1 << timer->bits) / 4u) {
    wanted = ((uint64_t)1 << timer->bits) / 4u;
  }
  while (times < 0x40000000u) {
    if (timer->start(user) != PETREL_BOARD_OK) return 0;
    spin(times);
    if (timer->stop(user, &ticks) != PETREL_BOARD_OK) return 0;
    if (ticks >= wanted / 2u) break;
    times *= 2u;
  }
  return times;
}

int main(void) {
  const struct petrel_board *board = petrel_board_init();
  const struct petrel_board_timer *timer = &board->timer;
  uint32_t times = 0;
  int i;
  if (timer->hz != 0u) times = find_times(timer, board->user);
  say(board, "bits ");
  say_number(board, timer->hz == 0u ? 0u : timer->bits);
  say(board, ", hz ");
  say_number(board, timer->hz);
  say(board, "\n");
  for (i = 0; i < TIMES && times != 0u; ++i) {
    uint64_t ticks = 0;
    int32_t status;
    say(board, "begin\n");
    status = timer->start(board->user);
    spin(times);
    if (status == PETREL_BOARD_OK) status = timer->stop(board->user, &ticks);
    say(board, "end ");
    say_number(board, ticks);
    say(board, ", status ");
    say_number(board, (uint64_t)(uint32_t)-status);
    say(board, "\n");
  }
  say(board, "done\n");
  petrel_board_exit(0);
  return 0;
}
