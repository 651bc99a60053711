/* SPDX-License-Identifier: Apache-2.0
 *
 * The UART of Arm's CMSDK, at CMSDK_UART, as functions of petrel_board. Included by one board.c. */
#ifndef PETREL_CMSDK_UART_H
#define PETREL_CMSDK_UART_H

#include "cortex_m.h"

#define UART_DATA REGISTER(CMSDK_UART + 0x00u)
#define UART_STATE REGISTER(CMSDK_UART + 0x04u) /* bit 0: cannot send, bit 1: has received */
#define UART_CONTROL REGISTER(CMSDK_UART + 0x08u)
#define UART_DIVIDER REGISTER(CMSDK_UART + 0x10u)

static inline int32_t cmsdk_uart_read(void *user, unsigned char *bytes, uint32_t size,
                                      uint32_t timeout_ms) {
  uint32_t count = 0, loops = timeout_ms * LOOPS_PER_MS;
  (void)user;
  while (count == 0u) {
    while (count < size && (UART_STATE & 2u) != 0u) bytes[count++] = (unsigned char)UART_DATA;
    if (loops-- == 0u) break;
  }
  return (int32_t)count;
}

static inline int32_t cmsdk_uart_write(void *user, const unsigned char *bytes, uint32_t size) {
  uint32_t i;
  (void)user;
  for (i = 0; i < size; ++i) {
    uint32_t loops = 100u * LOOPS_PER_MS;
    while ((UART_STATE & 1u) != 0u) {
      if (loops-- == 0u) return PETREL_BOARD_E_TIMEOUT;
    }
    UART_DATA = bytes[i];
  }
  return PETREL_BOARD_OK;
}

/* 8 bits, no parity. */
static inline void cmsdk_uart_init(uint32_t clock_hz, uint32_t baud) {
  UART_DIVIDER = clock_hz / baud;
  UART_CONTROL = 3u;
}

#endif /* PETREL_CMSDK_UART_H */
