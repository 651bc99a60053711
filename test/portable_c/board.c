/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs before main on an emulated Cortex-M: no operating system, and files through the
 * debugger (semihosting), which newlib's rdimon has. ARGUMENTS are the words of main. The emulator
 * loads all sections where they belong, and .bss is 0.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

extern void initialise_monitor_handles(void);
extern int main(int argc, char **argv);
extern char end_of_memory;

static void reset(void);
static void fault(void);

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &end_of_memory,      (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault};

static char *words[] = {"app", ARGUMENTS};

static void reset(void) {
  *(volatile uint32_t *)0xE000ED88u |= 0x00F00000u; /* the floating point unit */
  __asm volatile("dsb\n isb");
  initialise_monitor_handles();
  exit(main((int)(sizeof words / sizeof words[0]), words));
}

static void fault(void) { _Exit(99); }

/* That of newlib asks for what it does not have. */
void *aligned_alloc(size_t align, size_t bytes) { return memalign(align, bytes); }

void _init(void);
void _fini(void);
void _init(void) {}
void _fini(void) {}
