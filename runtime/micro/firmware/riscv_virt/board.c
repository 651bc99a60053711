/* SPDX-License-Identifier: Apache-2.0
 *
 * QEMU's RISC-V machine virt: a UART 16550, and the 64 bits of mtime. */
#include "firmware.h"
#include "semihosting.h"

#define BYTE(address) (*(volatile uint8_t *)(address))
#define WORD(address) (*(volatile uint32_t *)(address))

#define UART 0x10000000u
#define UART_DATA BYTE(UART)
#define UART_STATE BYTE(UART + 5u) /* bit 0: has received, bit 5: can send */

#define TIME_LOW WORD(0x0200bff8u)
#define TIME_HIGH WORD(0x0200bffcu)

/* Of what is waited for in loops: rather too long. */
#define LOOPS_PER_MS 8000u

extern unsigned char petrel_stack_low[], petrel_stack_high[];

__attribute__((section(".noinit"))) static uint32_t boots[2];
static uint32_t is_running;
static uint64_t started;

static int32_t read_bytes(void *user, unsigned char *bytes, uint32_t size, uint32_t timeout_ms) {
  uint32_t count = 0, loops = timeout_ms * LOOPS_PER_MS;
  (void)user;
  while (count == 0u) {
    while (count < size && (UART_STATE & 1u) != 0u) bytes[count++] = UART_DATA;
    if (loops-- == 0u) break;
  }
  return (int32_t)count;
}

static int32_t write_bytes(void *user, const unsigned char *bytes, uint32_t size) {
  uint32_t i;
  (void)user;
  for (i = 0; i < size; ++i) {
    uint32_t loops = 100u * LOOPS_PER_MS;
    while ((UART_STATE & 0x20u) == 0u) {
      if (loops-- == 0u) return PETREL_BOARD_E_TIMEOUT;
    }
    UART_DATA = bytes[i];
  }
  return PETREL_BOARD_OK;
}

static uint64_t now(void) {
  uint32_t high, low;
  do {
    high = TIME_HIGH;
    low = TIME_LOW;
  } while (high != TIME_HIGH);
  return (uint64_t)high << 32 | low;
}

static int32_t start_timer(void *user) {
  (void)user;
  if (is_running != 0u) return PETREL_BOARD_E_STATE;
  is_running = 1u;
  started = now();
  return PETREL_BOARD_OK;
}

static int32_t stop_timer(void *user, uint64_t *ticks) {
  const uint64_t stopped = now();
  (void)user;
  if (is_running == 0u) return PETREL_BOARD_E_STATE;
  is_running = 0;
  *ticks = stopped - started;
  return PETREL_BOARD_OK;
}

static uint32_t count_boots(void *user) {
  (void)user;
  return boots[0];
}

static void reset(void *user) {
  (void)user;
  WORD(0x00100000u) = 0x7777u;
  for (;;) {
  }
}

static const struct petrel_board board = {
    .name = PETREL_BOARD_NAME,
    .read = read_bytes,
    .write = write_bytes,
    .timer = {.hz = PETREL_TIMER_HZ, .bits = 64u, .start = start_timer, .stop = stop_timer},
#ifdef PETREL_SEMIHOSTING
    .bulk = {.read = semihosting_read, .write = semihosting_write},
#endif
    .stack_low = petrel_stack_low,
    .stack_high = petrel_stack_high,
    .boot_count = count_boots,
    .reset = reset,
};

const struct petrel_board *petrel_board_init(void) {
  if (boots[1] != ~boots[0]) boots[0] = 0;
  ++boots[0];
  boots[1] = ~boots[0];
  return &board;
}

int32_t petrel_board_method(void) { return semihosting_number(); }

void petrel_board_exit(int32_t code) { semihosting_exit(code); }
