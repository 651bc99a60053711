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

/* `offset` bytes behind the block that is computed, and `step` bytes further with each of its rows
 * of weights. {0, 0} brings nothing that is not read anyway. */
struct petrel_ahead {
  size_t offset;
  size_t step;
};

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
