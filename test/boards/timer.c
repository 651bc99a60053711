/* SPDX-License-Identifier: Apache-2.0
 *
 * A main program that looks at the timer of its board, and says "timer: good" or the number of
 * what is wrong. OVERFLOWS: 2^bits ticks are soon over. */
#include "firmware.h"

static volatile uint32_t spun;

static void spin(uint32_t times) {
  uint32_t i;
  for (i = 0; i < times; ++i) spun = i;
}

static uint64_t measured(const struct petrel_board_timer *timer, uint32_t times, int32_t *status) {
  uint64_t ticks = 0;
  if (timer->start(NULL) != PETREL_BOARD_OK) *status = 100;
  spin(times);
  if (timer->stop(NULL, &ticks) != PETREL_BOARD_OK) *status = 101;
  return ticks;
}

static int32_t look_at(const struct petrel_board_timer *timer) {
  uint64_t ticks = 0, one, four;
  int32_t status = 0;
  if (timer->hz == 0u || timer->bits < 8u) return 1;
  if (timer->stop(NULL, &ticks) != PETREL_BOARD_E_STATE) return 2;
  if (timer->start(NULL) != PETREL_BOARD_OK) return 3;
  if (timer->start(NULL) != PETREL_BOARD_E_STATE) return 4;
  if (timer->stop(NULL, &ticks) != PETREL_BOARD_OK) return 5;
  if (timer->stop(NULL, &ticks) != PETREL_BOARD_E_STATE) return 6;
  one = measured(timer, 50000u, &status);
  four = measured(timer, 200000u, &status);
  if (status != 0) return status;
  if (one == 0u || four < 3u * one || four > 5u * one) return 7;
  if (OVERFLOWS) {
    if (timer->start(NULL) != PETREL_BOARD_OK) return 8;
    spin(4000000u);
    if (timer->stop(NULL, &ticks) != PETREL_BOARD_E_OVERFLOW) return 9;
    /* And is well again. */
    if (measured(timer, 50000u, &status) > 2u * one || status != 0) return 10;
  }
  return 0;
}

int main(void) {
  const struct petrel_board *board = petrel_board_init();
  const int32_t wrong = look_at(&board->timer);
  unsigned char text[] = "timer: good\n";
  unsigned char digits[] = "timer: 000\n";
  if (wrong == 0) {
    (void)board->write(board->user, text, sizeof text - 1u);
  } else {
    digits[7] = (unsigned char)('0' + wrong / 100);
    digits[8] = (unsigned char)('0' + wrong / 10 % 10);
    digits[9] = (unsigned char)('0' + wrong % 10);
    (void)board->write(board->user, digits, sizeof digits - 1u);
  }
  petrel_board_exit(wrong);
  return (int)wrong;
}
