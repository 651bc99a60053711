/* SPDX-License-Identifier: Apache-2.0
 *
 * A Cortex-M that an emulator gives no operating system: what instructions.c asks of a
 * processor. TIMER_HZ is the clock of its SysTick, which counts down from 2^24; the emulator
 * takes a nanosecond for each instruction.
 */
#ifndef PETREL_TEST_PERF_ARM_BOARD_H_
#define PETREL_TEST_PERF_ARM_BOARD_H_

#include <stdint.h>

extern char end_of_memory;

static volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010u;

static void ask(int operation, const void *argument) {
  register int r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void start_counting(void) {
  systick[0] = 0;
  systick[1] = 0xffffff;
  systick[2] = 0;
  systick[0] = 5; /* the processor's clock, no interrupt */
}

static uint32_t instructions_since(void) {
  return (uint32_t)((uint64_t)(0xffffff - systick[2]) * 1000000000u / TIMER_HZ);
}

static volatile unsigned char *stack_pointer(void) {
  volatile unsigned char *top;
  __asm__ volatile("mov %0, sp" : "=r"(top));
  return top;
}

static void begin(void) {
  *(volatile uint32_t *)0xE000ED88u |= 0x00F00000u; /* floating point and vectors */
  __asm__ volatile("dsb\n isb");
}

static void measure(void);
static void leave(uint32_t code);

static void fault(void) { leave(99); }

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &end_of_memory,      (const void *)measure, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault,   (const void *)fault};

#endif /* PETREL_TEST_PERF_ARM_BOARD_H_ */
