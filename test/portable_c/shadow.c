/* SPDX-License-Identifier: Apache-2.0
 *
 * Watches every load and store of generated C that was compiled with
 * -fsanitize=kernel-address --param asan-instrumentation-with-call-threshold=0, whose calls end
 * here. A byte of an operand that its step has written over must not be read again, but to be
 * written at once, as a sum is.
 */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watched.h" /* steps and their operands that share bytes; IN_BYTES, OUT_BYTES, IN, OUT */

static unsigned char *memory;
static unsigned char lost[NET_ARENA_BYTES];
static uint32_t step;
static uintptr_t sum_at; /* a lost byte that was read */
static unsigned long loads, stores;

static int is_watched(size_t at) {
  for (size_t i = 0; i < sizeof watched / sizeof watched[0]; ++i) {
    if (watched[i].step != step) continue;
    if (at >= watched[i].begin && at < watched[i].begin + watched[i].bytes) return 1;
  }
  return 0;
}

static void fail(const char *why, size_t at) {
  fprintf(stderr, "step %u: %s byte %zu of the arena\n", (unsigned)step, why, at);
  exit(20);
}

static void load(uintptr_t address, size_t bytes) {
  const size_t at = (size_t)(address - (uintptr_t)memory);
  if (memory == NULL || address < (uintptr_t)memory || at >= NET_ARENA_BYTES) return;
  ++loads;
  if (sum_at != 0) fail("a byte was read after it was written over, and then", at);
  for (size_t i = at; i < at + bytes && i < NET_ARENA_BYTES; ++i) {
    if (!lost[i] || !is_watched(i)) continue;
    if (bytes != 1) fail("is read after it was written over:", i);
    sum_at = address;
  }
}

static void store(uintptr_t address, size_t bytes) {
  const size_t at = (size_t)(address - (uintptr_t)memory);
  if (memory == NULL || address < (uintptr_t)memory || at >= NET_ARENA_BYTES) return;
  ++stores;
  if (sum_at != 0 && sum_at != address) fail("is read after it was written over, before", at);
  sum_at = 0;
  for (size_t i = at; i < at + bytes && i < NET_ARENA_BYTES; ++i) lost[i] = 1;
}

#define HOOKS(n)                                                         \
  void __asan_load##n##_noabort(uintptr_t address);                      \
  void __asan_load##n##_noabort(uintptr_t address) { load(address, n); } \
  void __asan_store##n##_noabort(uintptr_t address);                     \
  void __asan_store##n##_noabort(uintptr_t address) { store(address, n); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
void __asan_loadN_noabort(uintptr_t address, size_t bytes);
void __asan_loadN_noabort(uintptr_t address, size_t bytes) { load(address, bytes); }
void __asan_storeN_noabort(uintptr_t address, size_t bytes);
void __asan_storeN_noabort(uintptr_t address, size_t bytes) { store(address, bytes); }
void __asan_handle_no_return(void);
void __asan_handle_no_return(void) {}

/* memcpy of the generated code. */
void *shadow_copy(void *to, const void *from, size_t bytes);
void *shadow_copy(void *to, const void *from, size_t bytes) {
  if (bytes > 0) {
    load((uintptr_t)from, bytes);
    store((uintptr_t)to, bytes);
  }
  return memmove(to, from, bytes);
}

static void *read_file(const char *name, size_t bytes) {
  void *data = malloc(bytes);
  FILE *file = fopen(name, "rb");
  if (data == NULL || file == NULL || fread(data, 1, bytes, file) != bytes) exit(3);
  fclose(file);
  return data;
}

int main(void) {
  struct net_context context;
  struct net_pools pools;
  struct net_inputs inputs;
  struct net_outputs outputs;
  void *out = malloc(OUT_BYTES);
  memory = aligned_alloc(64, (NET_ARENA_BYTES + 63) / 64 * 64);
  if (memory == NULL || out == NULL) return 4;
  memset(memory, 0xa5, NET_ARENA_BYTES);
  pools.arena = memory;
  pools.arena_bytes = NET_ARENA_BYTES;
  if (net_init(&context, &pools) != NET_OK) return 5;
  inputs.IN = read_file("in", IN_BYTES);
  outputs.OUT = out;
  for (uint32_t next = 0; next < NET_STEPS;) {
    step = next;
    memset(lost, 0, sizeof lost);
    if (net_run_step(&context, &inputs, &outputs, &next) != NET_OK) return 6;
    if (sum_at != 0) fail("is read after it was written over, and no sum:", 0);
  }
  FILE *file = fopen("out", "wb");
  if (file == NULL || fwrite(out, 1, OUT_BYTES, file) != OUT_BYTES) return 7;
  fclose(file);
  printf("%lu %lu\n", loads, stores);
  return 0;
}
