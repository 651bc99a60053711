/* SPDX-License-Identifier: Apache-2.0
 *
 * Nordic's nRF51 as the BBC micro:bit has it: its UART, and TIMER0 with 32 bits at 16 MHz. */
#include "cortex_m.h"
#include "firmware.h"
#include "semihosting.h"

#define UART 0x40002000u
#define UART_START_RX REGISTER(UART + 0x000u)
#define UART_START_TX REGISTER(UART + 0x008u)
#define UART_RECEIVED REGISTER(UART + 0x108u)
#define UART_SENT REGISTER(UART + 0x11cu)
#define UART_ENABLE REGISTER(UART + 0x500u)
#define UART_PIN_TX REGISTER(UART + 0x50cu)
#define UART_PIN_RX REGISTER(UART + 0x514u)
#define UART_RXD REGISTER(UART + 0x518u)
#define UART_TXD REGISTER(UART + 0x51cu)
#define UART_BAUD REGISTER(UART + 0x524u)

#define TIMER 0x40008000u
#define TIMER_START REGISTER(TIMER + 0x000u)
#define TIMER_STOP REGISTER(TIMER + 0x004u)
#define TIMER_CLEAR REGISTER(TIMER + 0x00cu)
#define TIMER_CAPTURE REGISTER(TIMER + 0x040u)
#define TIMER_REACHED REGISTER(TIMER + 0x144u) /* compare register 1 */
#define TIMER_MODE REGISTER(TIMER + 0x504u)
#define TIMER_BITS REGISTER(TIMER + 0x508u)
#define TIMER_PRESCALER REGISTER(TIMER + 0x510u)
#define TIMER_COMPARE0 REGISTER(TIMER + 0x540u)
#define TIMER_COMPARE1 REGISTER(TIMER + 0x544u)

static uint32_t is_running;

static int32_t read_bytes(void *user, unsigned char *bytes, uint32_t size, uint32_t timeout_ms) {
  uint32_t count = 0, loops = timeout_ms * LOOPS_PER_MS;
  (void)user;
  while (count == 0u) {
    while (count < size && UART_RECEIVED != 0u) {
      UART_RECEIVED = 0;
      bytes[count++] = (unsigned char)UART_RXD;
    }
    if (loops-- == 0u) break;
  }
  return (int32_t)count;
}

static int32_t write_bytes(void *user, const unsigned char *bytes, uint32_t size) {
  uint32_t i;
  (void)user;
  for (i = 0; i < size; ++i) {
    uint32_t loops = 100u * LOOPS_PER_MS;
    UART_SENT = 0;
    UART_TXD = bytes[i];
    while (UART_SENT == 0u) {
      if (loops-- == 0u) return PETREL_BOARD_E_TIMEOUT;
    }
  }
  return PETREL_BOARD_OK;
}

static int32_t start_timer(void *user) {
  (void)user;
  if (is_running != 0u) return PETREL_BOARD_E_STATE;
  is_running = 1u;
  TIMER_MODE = 0;
  TIMER_BITS = 3u; /* 32 */
  TIMER_PRESCALER = 0;
  TIMER_CLEAR = 1u;
  TIMER_COMPARE1 = 0xffffffffu; /* reached just before it wraps */
  TIMER_REACHED = 0;
  TIMER_START = 1u;
  return PETREL_BOARD_OK;
}

static int32_t stop_timer(void *user, uint64_t *ticks) {
  (void)user;
  if (is_running == 0u) return PETREL_BOARD_E_STATE;
  TIMER_CAPTURE = 1u;
  TIMER_STOP = 1u;
  is_running = 0;
  *ticks = TIMER_COMPARE0;
  return TIMER_REACHED != 0u ? PETREL_BOARD_E_OVERFLOW : PETREL_BOARD_OK;
}

static const struct petrel_board board = {
    .name = PETREL_BOARD_NAME,
    .read = read_bytes,
    .write = write_bytes,
    .timer = {.hz = PETREL_TIMER_HZ, .bits = 32u, .start = start_timer, .stop = stop_timer},
#ifdef PETREL_SEMIHOSTING
    .bulk = {.read = semihosting_read, .write = semihosting_write},
#endif
    .stack_low = petrel_stack_low,
    .stack_high = petrel_stack_high,
    .boot_count = cortex_m_boot_count,
    .reset = cortex_m_reset,
};

const struct petrel_board *petrel_board_init(void) {
  cortex_m_count_boot();
#ifndef PETREL_SEMIHOSTING
  /* The crystal of 16 MHz, which the emulator does not have. */
  REGISTER(0x40000100u) = 0;
  REGISTER(0x40000000u) = 1u;
  while (REGISTER(0x40000100u) == 0u) {
  }
#endif
  UART_PIN_TX = 24u;
  UART_PIN_RX = 25u;
  UART_BAUD = 0x01d7e000u; /* 115,200 */
  UART_ENABLE = 4u;
  UART_START_RX = 1u;
  UART_START_TX = 1u;
  return &board;
}

int32_t petrel_board_method(void) { return semihosting_number(); }

void petrel_board_exit(int32_t code) { semihosting_exit(code); }
