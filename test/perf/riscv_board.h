/* SPDX-License-Identifier: Apache-2.0
 *
 * A RISC-V of 32 bits that an emulator gives no operating system: what instructions.c asks of
 * a processor. It counts its instructions itself.
 */
#ifndef PETREL_TEST_PERF_RISCV_BOARD_H_
#define PETREL_TEST_PERF_RISCV_BOARD_H_

#include <stdint.h>

static uint32_t counted;

static void ask(int operation, const void *argument) {
  register int a0 __asm__("a0") = operation;
  register const void *a1 __asm__("a1") = argument;
  /* The three instructions by which an emulator knows a call of its own; uncompressed. */
  __asm__ volatile(
      ".option push\n .option norvc\n slli x0, x0, 0x1f\n ebreak\n"
      " srai x0, x0, 7\n .option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
}

static uint32_t now(void) {
  uint32_t count;
  __asm__ volatile(".option push\n .option arch, +zicsr\n rdinstret %0\n .option pop"
                   : "=r"(count));
  return count;
}

static void start_counting(void) { counted = now(); }

static uint32_t instructions_since(void) { return now() - counted; }

static volatile unsigned char *stack_pointer(void) {
  volatile unsigned char *top;
  __asm__ volatile("mv %0, sp" : "=r"(top));
  return top;
}

static void begin(void) {}

static void leave(uint32_t code);
static void measure(void);

__attribute__((used)) static void fault(void) { leave(99); }

__attribute__((used)) static void enter(void) { measure(); }

__attribute__((section(".vectors"), used, naked)) static void reset(void) {
  __asm__ volatile(
      ".option push\n .option arch, +zicsr\n la sp, end_of_memory\n la t0, fault\n csrw mtvec, t0\n"
      " .option pop\n j enter");
}

#endif /* PETREL_TEST_PERF_RISCV_BOARD_H_ */
