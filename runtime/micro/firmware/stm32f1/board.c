/* SPDX-License-Identifier: Apache-2.0
 *
 * ST's STM32F100 as the board STM32VLDISCOVERY has it: USART1 at pins A9 and A10, and the timer
 * of the core. */
#include "cortex_m.h"
#include "firmware.h"
#include "semihosting.h"

#define RCC_ENABLE REGISTER(0x40021018u)
#define PORT_A_HIGH REGISTER(0x40010804u)

#define USART 0x40013800u
#define USART_STATE REGISTER(USART + 0x00u) /* bit 5: has received, bit 7: can send */
#define USART_DATA REGISTER(USART + 0x04u)
#define USART_DIVIDER REGISTER(USART + 0x08u)
#define USART_CONTROL REGISTER(USART + 0x0cu)

static int32_t read_bytes(void *user, unsigned char *bytes, uint32_t size, uint32_t timeout_ms) {
  uint32_t count = 0, loops = timeout_ms * LOOPS_PER_MS;
  (void)user;
  while (count == 0u) {
    while (count < size && (USART_STATE & 0x20u) != 0u) bytes[count++] = (unsigned char)USART_DATA;
    if (loops-- == 0u) break;
  }
  return (int32_t)count;
}

static int32_t write_bytes(void *user, const unsigned char *bytes, uint32_t size) {
  uint32_t i;
  (void)user;
  for (i = 0; i < size; ++i) {
    uint32_t loops = 100u * LOOPS_PER_MS;
    while ((USART_STATE & 0x80u) == 0u) {
      if (loops-- == 0u) return PETREL_BOARD_E_TIMEOUT;
    }
    USART_DATA = bytes[i];
  }
  return PETREL_BOARD_OK;
}

static const struct petrel_board board = {
    .name = PETREL_BOARD_NAME,
    .read = read_bytes,
    .write = write_bytes,
    .timer = {.hz = PETREL_TIMER_HZ,
              .bits = 24u,
              .start = cortex_m_systick_start,
              .stop = cortex_m_systick_stop},
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
  RCC_ENABLE |= 0x4005u; /* USART1, port A, alternate functions */
  PORT_A_HIGH = (PORT_A_HIGH & ~0xff0u) | 0x4b0u;
  USART_DIVIDER = PETREL_TIMER_HZ / 115200u;
  USART_CONTROL = 0x200cu;
  return &board;
}

int32_t petrel_board_method(void) { return semihosting_number(); }

void petrel_board_exit(int32_t code) { semihosting_exit(code); }
