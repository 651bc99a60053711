/* SPDX-License-Identifier: Apache-2.0
 *
 * Arm's MPS2 with the images AN385, AN386 and AN500: a CMSDK UART and a CMSDK timer. */
#define CMSDK_UART 0x40004000u
#include "cmsdk_uart.h"
#include "cortex_m.h"
#include "firmware.h"
#include "semihosting.h"

#define TIMER 0x40000000u
#define TIMER_CONTROL REGISTER(TIMER + 0x00u)
#define TIMER_VALUE REGISTER(TIMER + 0x04u) /* counts down */
#define TIMER_RELOAD REGISTER(TIMER + 0x08u)
#define TIMER_WRAPPED REGISTER(TIMER + 0x0cu) /* set where bit 3 of control asks for it */

static int32_t start_timer(void *user) {
  (void)user;
  if ((TIMER_CONTROL & 1u) != 0u) return PETREL_BOARD_E_STATE;
  TIMER_RELOAD = 0xffffffffu;
  TIMER_VALUE = 0xffffffffu;
  TIMER_WRAPPED = 1u; /* clears it */
  TIMER_CONTROL = 9u; /* the interrupt is not let through by the core */
  return PETREL_BOARD_OK;
}

static int32_t stop_timer(void *user, uint64_t *ticks) {
  const uint32_t value = TIMER_VALUE;
  (void)user;
  if ((TIMER_CONTROL & 1u) == 0u) return PETREL_BOARD_E_STATE;
  TIMER_CONTROL = 0;
  *ticks = 0xffffffffu - value;
  return (TIMER_WRAPPED & 1u) != 0u ? PETREL_BOARD_E_OVERFLOW : PETREL_BOARD_OK;
}

static const struct petrel_board board = {
    .name = PETREL_BOARD_NAME,
    .read = cmsdk_uart_read,
    .write = cmsdk_uart_write,
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
  cmsdk_uart_init(25000000u, 115200u);
  return &board;
}

int32_t petrel_board_method(void) { return semihosting_number(); }

void petrel_board_exit(int32_t code) { semihosting_exit(code); }
