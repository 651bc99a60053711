/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts what a model costs on an emulated processor without an operating system: instructions
 * of one run, and the bytes of stack that it wrote. The self-test comes first: a run that is
 * wrong is not counted. Compile with -DMODEL=\"net.h\", -DBOARD=\"arm_board.h\" and the rest, as
 * instructions.py does.
 */
#include BOARD
#include MODEL

#include <stddef.h>
#include <stdint.h>

int32_t net_selftest(struct net_context *context);

enum { kPainted = 16384, kPaint = 0xa5 };

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

__attribute__((noinline)) static int32_t run(uint32_t *instructions) {
  static int8_t in[NET_ARENA_BYTES], out[NET_ARENA_BYTES];
  const struct net_inputs inputs = {in};
  const struct net_outputs outputs = {out};
  for (size_t i = 0; i < sizeof in; ++i) in[i] = (int8_t)(i * 73 % 255);
  start_counting();
  const int32_t status = net_run(&context, &inputs, &outputs);
  *instructions = instructions_since();
  return status;
}

static void leave(uint32_t code) {
  const uint32_t words[2] = {0x20026, code};
  ask(0x20, words);
  for (;;) {
  }
}

static void measure(void) {
  struct net_pools pools;
  uint32_t instructions = 0;
  begin();
  pools.arena = memory + (NET_ARENA_ALIGN - (uintptr_t)memory % NET_ARENA_ALIGN) % NET_ARENA_ALIGN;
  pools.arena_bytes = NET_ARENA_BYTES;
  if (net_init(&context, &pools) != NET_OK || net_selftest(&context) != NET_OK) leave(1);
  volatile unsigned char *top = stack_pointer() - 1;
  for (int i = 0; i < kPainted; ++i) top[-i] = kPaint;
  if (run(&instructions) != NET_OK) leave(2);
  int deepest = kPainted;
  while (deepest > 0 && top[1 - deepest] == kPaint) --deepest;
  say("instructions ", instructions);
  say("stack ", (uint32_t)deepest);
  leave(0);
}
