// SPDX-License-Identifier: Apache-2.0
#include "extension/module/heap_allocator.h"

#include <algorithm>

namespace petrel::extension {

void* HeapAllocator::allocate(size_t size, size_t alignment) {
  if (!runtime::is_power_of_two(alignment)) return nullptr;
  for (; current_ < blocks_.size(); ++current_) {
    Block& block = blocks_[current_];
    if (block.generation != generation_) continue;
    const uintptr_t base = reinterpret_cast<uintptr_t>(block.memory.get());
    size_t start = 0;
    if (!runtime::checked_align_up(base + block.used, alignment, &start)) return nullptr;
    start -= base;
    if (runtime::in_bounds(start, size, block.size)) {
      block.used = start + size;
      return block.memory.get() + start;
    }
  }
  size_t wanted = 0;
  if (!runtime::checked_add(size, alignment, &wanted)) return nullptr;
  Block block;
  block.size = std::max(wanted, kBlockSize);
  block.generation = generation_;
  block.memory.reset(static_cast<uint8_t*>(std::malloc(block.size)));
  if (block.memory == nullptr) return nullptr;
  blocks_.push_back(std::move(block));
  current_ = blocks_.size() - 1;
  return allocate(size, alignment);
}

void HeapAllocator::reset() {
  for (Block& block : blocks_) block.used = 0;
  current_ = 0;
}

void HeapAllocator::set_generation(uint64_t generation) noexcept {
  generation_ = generation;
  current_ = 0;
}

void HeapAllocator::free_generation(uint64_t generation) noexcept {
  blocks_.erase(std::remove_if(blocks_.begin(), blocks_.end(),
                               [&](const Block& block) { return block.generation == generation; }),
                blocks_.end());
  current_ = 0;
}

size_t HeapAllocator::footprint() const {
  size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.size;
  return bytes;
}

}  // namespace petrel::extension
