// SPDX-License-Identifier: Apache-2.0
#include "exir/fold/heap_allocator.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace petrel::exir {

void* HeapAllocator::allocate(size_t size, size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
  alignment = std::max(alignment, alignof(std::max_align_t));
  if (size > std::numeric_limits<size_t>::max() - alignment) return nullptr;
  // aligned_alloc takes multiples of the alignment, and something.
  const size_t rounded = std::max(alignment, (size + alignment - 1) / alignment * alignment);
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory != nullptr) blocks_.push_back(memory);
  return memory;
}

void HeapAllocator::reset() {
  for (void* memory : blocks_) std::free(memory);
  blocks_.clear();
}

}  // namespace petrel::exir
