// SPDX-License-Identifier: Apache-2.0
//
// For tests: an allocator of XNNPACK's that counts what it has, may refuse a block, and knows
// which blocks are its own.
//
//   ASSERT_TRUE(count_xnnpack());               // before anything else initialises it
//   xnnpack_memory.refuse = 3;                  // the fourth block from now on
//   ... xnnpack_memory.now, peak, refused ...
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_COUNTED_XNNPACK_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_COUNTED_XNNPACK_H_

#include <gtest/gtest.h>
#include <xnnpack.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

namespace petrel::backends::xnnpack {

struct XnnpackMemory {
  size_t now = 0;       // bytes that XNNPACK has
  size_t peak = 0;      // the most that it had
  int64_t refuse = -1;  // how many blocks it gets before one that it does not; below 0: all
  bool refused = false;
  std::map<void*, size_t> blocks;
};
inline XnnpackMemory xnnpack_memory;

inline void* take_for_xnnpack(size_t alignment, size_t size) {
  constexpr size_t kLeast = 64;
  XnnpackMemory& m = xnnpack_memory;
  // For nothing there may be no block either.
  if (size != 0 && m.refuse >= 0 && m.refuse-- == 0) {
    m.refused = true;
    return nullptr;
  }
  const size_t aligned = std::max(alignment, kLeast);
  void* const block = std::aligned_alloc(aligned, (size + aligned) / aligned * aligned);
  m.blocks[block] = size;
  m.now += size;
  m.peak = std::max(m.peak, m.now);
  return block;
}

inline void give_of_xnnpack(void* block) {
  if (block == nullptr) return;
  XnnpackMemory& m = xnnpack_memory;
  const auto found = m.blocks.find(block);
  ASSERT_NE(found, m.blocks.end()) << "a block that is not there is freed";
  m.now -= found->second;
  m.blocks.erase(found);
  std::free(block);
}

// The old block is not counted beside the new one: the pages of a large block move.
inline void* change_for_xnnpack(void* block, size_t size) {
  XnnpackMemory& m = xnnpack_memory;
  const size_t before = m.peak;
  void* const made = take_for_xnnpack(0, size);
  if (block == nullptr || made == nullptr) return made;
  const size_t old = m.blocks[block];
  std::memcpy(made, block, std::min(size, old));
  m.peak = std::max(before, m.now - old);
  give_of_xnnpack(block);
  return made;
}

inline bool count_xnnpack() {
  static const xnn_allocator kAllocator = {
      nullptr,
      [](void*, size_t size) { return take_for_xnnpack(0, size); },
      [](void*, void* block, size_t size) { return change_for_xnnpack(block, size); },
      [](void*, void* block) { give_of_xnnpack(block); },
      [](void*, size_t alignment, size_t size) { return take_for_xnnpack(alignment, size); },
      [](void*, void* block) { give_of_xnnpack(block); },
  };
  static const bool is_counted = xnn_initialize(&kAllocator) == xnn_status_success;
  return is_counted;
}

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_COUNTED_XNNPACK_H_
