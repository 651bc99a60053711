/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel brings to the cache that a later tile needs.
 *
 *   weights   | block of this tile |  ...  | part of the next panel |
 *             ^                            ^    ^    ^    ^
 *             w                            w + offset, `step` bytes between them
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_AHEAD_H_
#define PETREL_THIRD_PARTY_XNNPACK_AHEAD_H_

#include <stddef.h>
#include <stdint.h>

/* Bytes from the block that is computed to what is brought first, and from there to the next for
 * each row of weights. It is one word because kernels get it on the stack: two words that are
 * written apart and copied as one wait for all stores before them, those of the last tile. */
struct petrel_ahead {
  uint64_t offset_and_step;
};

#define PETREL_STEP_BITS 16

/* Precondition: `step` has 16 bits, `offset` 48. Zeros bring nothing that is not read anyway. */
static inline struct petrel_ahead petrel_bring(size_t offset, size_t step) {
  const struct petrel_ahead ahead = {(uint64_t)offset << PETREL_STEP_BITS | step};
  return ahead;
}

static inline size_t petrel_offset(struct petrel_ahead ahead) {
  return (size_t)(ahead.offset_and_step >> PETREL_STEP_BITS);
}

static inline size_t petrel_step(struct petrel_ahead ahead) {
  return (size_t)(ahead.offset_and_step & ((1u << PETREL_STEP_BITS) - 1));
}

/* Has the processor look up where the pages of the first 128 KB from `memory` on are. One look-up
 * takes as long as several tens of lines from memory, and until it is done nothing that comes after
 * the first access completes; those of a loop that does nothing else overlap. No page needs to be
 * there. */
static inline void petrel_open_pages(const char* memory, size_t bytes) {
  const size_t page = 4096;
  const size_t most = 32 * page;
  if (bytes > most) bytes = most;
  for (size_t at = 0; at < bytes; at += page) __builtin_prefetch(memory + at, 0, 2);
}

#endif /* PETREL_THIRD_PARTY_XNNPACK_AHEAD_H_ */
