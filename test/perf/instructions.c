/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts what a model costs on an emulated Cortex-M without an operating system: instructions of
 * one run, by a timer of 25 MHz where the emulator takes a nanosecond for each of them, and the
 * bytes of stack that it wrote. The self-test comes first: a run that is wrong is not counted.
 * Compile with -DMODEL=\"net.h\" and the rest, as instructions.py does.
 */
#include MODEL

#include <stddef.h>
#include <stdint.h>

extern char end_of_memory;
int32_t net_selftest(struct net_context *context);

enum { kPainted = 16384, kPaint = 0xa5, kNanoseconds = 40 };

static unsigned char memory[NET_ARENA_BYTES + NET_ARENA_ALIGN];
static struct net_context context;

void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) ((char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
  if ((uintptr_t)to <= (uintptr_t)from) return memcpy(to, from, bytes);
  for (size_t i = bytes; i-- > 0;) ((char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) ((char *)to)[i] = (char)value;
  return to;
}

int memcmp(const void *a, const void *b, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const int apart = ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
    if (apart != 0) return apart;
  }
  return 0;
}

static void ask(int operation, const void *argument) {
  register int r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void say(const char *name, uint32_t number) {
  char text[12];
  int i = 11;
  text[i] = 0;
  do {
    text[--i] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  ask(4, name);
  ask(4, text + i);
  ask(4, "\n");
}

static volatile uint32_t *const timer = (volatile uint32_t *)0x40000000;

__attribute__((noinline)) static int32_t run(uint32_t *ticks) {
  static int8_t in[NET_ARENA_BYTES], out[NET_ARENA_BYTES];
  const struct net_inputs inputs = {in};
  const struct net_outputs outputs = {out};
  for (size_t i = 0; i < sizeof in; ++i) in[i] = (int8_t)(i * 73 % 255);
  timer[0] = 0;
  timer[1] = timer[2] = 0xffffffff;
  timer[0] = 1;
  const int32_t status = net_run(&context, &inputs, &outputs);
  *ticks = 0xffffffff - timer[1];
  return status;
}

static void leave(uint32_t code) {
  const uint32_t words[2] = {0x20026, code};
  ask(0x20, words);
  for (;;) {
  }
}

static void reset(void) {
  struct net_pools pools;
  uint32_t ticks = 0;
  *(volatile uint32_t *)0xE000ED88u |= 0x00F00000u; /* the floating point unit */
  __asm__ volatile("dsb\n isb");
  pools.arena = memory + (NET_ARENA_ALIGN - (uintptr_t)memory % NET_ARENA_ALIGN) % NET_ARENA_ALIGN;
  pools.arena_bytes = NET_ARENA_BYTES;
  if (net_init(&context, &pools) != NET_OK || net_selftest(&context) != NET_OK) leave(1);
  volatile unsigned char *top;
  __asm__ volatile("sub %0, sp, #1" : "=r"(top));
  for (int i = 0; i < kPainted; ++i) top[-i] = kPaint;
  if (run(&ticks) != NET_OK) leave(2);
  int deepest = kPainted;
  while (deepest > 0 && top[1 - deepest] == kPaint) --deepest;
  say("instructions ", ticks * kNanoseconds);
  say("stack ", (uint32_t)deepest);
  leave(0);
}

static void fault(void) { leave(99); }

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &end_of_memory,      (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault};
