/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs before main on a Cortex-M: the table of vectors, .data and .bss, the floating point
 * unit. Interrupts are not used. */
#include <stdint.h>

#include "cortex_m.h"
#include "firmware.h"

extern uint32_t petrel_data_from[], petrel_data_start[], petrel_data_end[];
extern uint32_t petrel_bss_start[], petrel_bss_end[];
extern unsigned char petrel_stack_high[];
extern int main(void);

void petrel_reset(void);

/* A fault ends the emulation with this code; on a board it stops here, for a debugger. */
#define FAULT_CODE 99

static void fault(void) {
  petrel_board_exit(FAULT_CODE);
  for (;;) {
  }
}

__attribute__((section(".vectors"), used)) static const struct {
  unsigned char *stack;
  void (*handlers[15])(void);
} vectors = {petrel_stack_high, {petrel_reset, fault, fault, fault, fault, fault}};

static void copy_words(uint32_t *to, const uint32_t *end, const uint32_t *from) {
  while (to < end) *to++ = *from++;
}

static void clear_words(uint32_t *to, const uint32_t *end) {
  while (to < end) *to++ = 0;
}

void petrel_reset(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  REGISTER(0xe000ed88u) |= 0x00f00000u; /* CPACR: the floating point unit and MVE */
  __asm volatile("dsb\n isb");
#endif
  copy_words(petrel_data_start, petrel_data_end, petrel_data_from);
  clear_words(petrel_bss_start, petrel_bss_end);
  petrel_board_exit(main());
  for (;;) {
  }
}
