/* SPDX-License-Identifier: Apache-2.0
 *
 * What all Cortex-M have: registers, the timer of the core, a reset, and the stack that
 * sections.ld describes. Included by the one board.c of a firmware. */
#ifndef PETREL_CORTEX_M_H
#define PETREL_CORTEX_M_H

#include <stdint.h>

#include "petrel_board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* Of what is waited for in loops: rather too long. */
#define LOOPS_PER_MS 8000u

extern unsigned char petrel_stack_low[], petrel_stack_high[];

/* Kept over a reset: sections.ld puts it where nothing is cleared. */
__attribute__((section(".noinit"), unused)) static uint32_t cortex_m_boots[2];

static inline uint32_t cortex_m_boot_count(void *user) {
  (void)user;
  return cortex_m_boots[0];
}

/* Called once, at the start. After power comes on the two words are anything. */
static inline void cortex_m_count_boot(void) {
  if (cortex_m_boots[1] != ~cortex_m_boots[0]) cortex_m_boots[0] = 0;
  ++cortex_m_boots[0];
  cortex_m_boots[1] = ~cortex_m_boots[0];
}

static inline void cortex_m_reset(void *user) {
  (void)user;
  REGISTER(0xe000ed0cu) = 0x05fa0004u;
  for (;;) {
  }
}

/* SysTick, 24 bits, which counts down. Bit 16 of its control register tells of a wrap. */
#define SYSTICK_CONTROL REGISTER(0xe000e010u)
#define SYSTICK_RELOAD REGISTER(0xe000e014u)
#define SYSTICK_VALUE REGISTER(0xe000e018u)

static inline int32_t cortex_m_systick_start(void *user) {
  (void)user;
  if ((SYSTICK_CONTROL & 1u) != 0u) return PETREL_BOARD_E_STATE;
  SYSTICK_RELOAD = 0xffffffu;
  SYSTICK_VALUE = 0;
  SYSTICK_CONTROL = 5u; /* runs with the clock of the core, no interrupt */
  return PETREL_BOARD_OK;
}

static inline int32_t cortex_m_systick_stop(void *user, uint64_t *ticks) {
  const uint32_t value = SYSTICK_VALUE;
  const uint32_t control = SYSTICK_CONTROL;
  (void)user;
  if ((control & 1u) == 0u) return PETREL_BOARD_E_STATE;
  SYSTICK_CONTROL = 0;
  *ticks = (0xffffffu - value) & 0xffffffu;
  if ((control & 0x10000u) != 0u) return PETREL_BOARD_E_OVERFLOW;
  return PETREL_BOARD_OK;
}

#endif /* PETREL_CORTEX_M_H */
