/* SPDX-License-Identifier: Apache-2.0
 *
 * Arm's MPS3 with the image AN547: a CMSDK UART, and the timer of the core. */
#define CMSDK_UART 0x49303000u
#include "cmsdk_uart.h"
#include "cortex_m.h"
#include "firmware.h"
#include "semihosting.h"

static const struct petrel_board board = {
    .name = PETREL_BOARD_NAME,
    .read = cmsdk_uart_read,
    .write = cmsdk_uart_write,
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
  cmsdk_uart_init(32000000u, 115200u);
  return &board;
}

int32_t petrel_board_method(void) { return semihosting_number(); }

void petrel_board_exit(int32_t code) { semihosting_exit(code); }
