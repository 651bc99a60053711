/* SPDX-License-Identifier: Apache-2.0
 *
 * What a board does for the code that measures and talks to the host: bytes, time, memory.
 * Whoever brings up a board fills one struct; functions that are NULL are what the board lacks,
 * and the host is told so.
 *
 *   static const struct petrel_board board = {
 *       .name = "qemu-mps2-an386", .read = uart_read, .write = uart_write,
 *       .timer = {.hz = 25000000u, .bits = 32u, .start = start, .stop = stop}};
 *
 * Invariant: every function returns within a bound of time. The struct and what it points to
 * stay as long as they are in use. `user` is handed to each function.
 */
#ifndef PETREL_BOARD_H
#define PETREL_BOARD_H

#include <stddef.h>
#include <stdint.h>

/* Of functions of a board. 0 is success. */
#define PETREL_BOARD_OK 0
#define PETREL_BOARD_E_CLOSED (-1)  /* the host is gone, and comes back with a reset only */
#define PETREL_BOARD_E_TIMEOUT (-2) /* bytes could not be written in time */
#define PETREL_BOARD_E_STATE \
  (-3) /* a timer was started while it ran, or stopped while it did not */
#define PETREL_BOARD_E_OVERFLOW (-4) /* a timer ran for longer than it counts */
#define PETREL_BOARD_E_STUCK (-5)    /* a timer does not count */
#define PETREL_BOARD_E_MISSING (-6)  /* the board has no such thing */

/* The timer stands still while the processor sleeps: what sleeps cannot be measured. */
#define PETREL_TIMER_STOPS_IN_SLEEP 1u

/* Counts ticks between start() and stop(), as whole numbers: no part needs floats for it. It
 * must not interrupt what is measured. */
struct petrel_board_timer {
  uint32_t hz;   /* ticks in a second; 0 where there is no timer */
  uint32_t bits; /* it counts 2^bits - 1 ticks at most, 1 to 64 */
  uint32_t flags;
  /* From 0 anew. Clears what stop() looks at to notice an overflow. */
  int32_t (*start)(void *user);
  /* Those since start(). PETREL_BOARD_E_OVERFLOW where there were more than it counts; a timer
   * that cannot tell (no flag of a wrap) needs a second, slower one to compare with. */
  int32_t (*stop)(void *user, uint64_t *ticks);
};

/* Bytes of files of the host, beside the stream: semihosting, or a second wire. */
struct petrel_board_bulk {
  /* Exactly `bytes` from `offset` of the file on. */
  int32_t (*read)(void *user, const char *path, size_t offset, void *to, size_t bytes);
  /* Makes the file anew where `offset` is 0, else appends at `offset`. */
  int32_t (*write)(void *user, const char *path, size_t offset, const void *from, size_t bytes);
};

struct petrel_board {
  const char *name;
  void *user;

  /* Waits for `timeout_ms` at most, roughly, and returns as soon as there is something: the
   * number of bytes, 0 when there are none, or PETREL_BOARD_E_CLOSED. */
  int32_t (*read)(void *user, unsigned char *bytes, uint32_t size, uint32_t timeout_ms);
  /* All of them, or PETREL_BOARD_E_TIMEOUT: must not wait for ever for a host that is gone. */
  int32_t (*write)(void *user, const unsigned char *bytes, uint32_t size);

  struct petrel_board_timer timer;
  struct petrel_board_bulk bulk;

  /* Of the stack that main() runs on; it grows from `stack_high` down and must not go below
   * `stack_low`. Both NULL where that is not known. */
  unsigned char *stack_low;
  unsigned char *stack_high;

  /* How often the board was started, or any number that another start changes; NULL where it
   * keeps none. */
  uint32_t (*boot_count)(void *user);
  /* Starts the board anew, and does not return; NULL where it cannot. */
  void (*reset)(void *user);
};

#endif /* PETREL_BOARD_H */
