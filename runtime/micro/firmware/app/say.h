/* SPDX-License-Identifier: Apache-2.0
 *
 * Text and numbers to whoever reads the stream of a board. */
#ifndef PETREL_SAY_H
#define PETREL_SAY_H

#include "petrel_board.h"

static inline void say(const struct petrel_board *board, const char *text) {
  uint32_t size = 0;
  while (text[size] != '\0') ++size;
  (void)board->write(board->user, (const unsigned char *)text, size);
}

static inline void say_number(const struct petrel_board *board, uint64_t number) {
  char digits[21];
  size_t at = sizeof digits - 1u;
  digits[at] = '\0';
  do {
    digits[--at] = (char)('0' + (int)(number % 10u));
    number /= 10u;
  } while (number != 0u);
  say(board, digits + at);
}

#endif /* PETREL_SAY_H */
