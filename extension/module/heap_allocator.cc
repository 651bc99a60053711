// SPDX-License-Identifier: Apache-2.0
#include "extension/module/heap_allocator.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/core/checked_math.h"

namespace petrel::extension {

HeapAllocator::~HeapAllocator() {
  while (first_ != nullptr) {
    Block* const next = first_->next;
    std::free(first_);
    first_ = next;
  }
}

void* HeapAllocator::take(Block* block, size_t size, size_t alignment) {
  const uintptr_t base = reinterpret_cast<uintptr_t>(block->memory());
  size_t start = 0;
  if (!runtime::checked_align_up(base + block->used, alignment, &start)) return nullptr;
  start -= base;
  if (!runtime::in_bounds(start, size, block->size)) return nullptr;
  block->used = start + size;
  return block->memory() + start;
}

void* HeapAllocator::allocate(size_t size, size_t alignment) {
  if (!runtime::is_power_of_two(alignment)) return nullptr;
  for (; current_ != nullptr; current_ = current_->next) {
    if (current_->generation != generation_) continue;
    if (void* const memory = take(current_, size, alignment)) return memory;
  }
  size_t wanted = 0;
  if (!runtime::checked_add(size, alignment, &wanted)) return nullptr;
  wanted = std::max(wanted, kBlockSize);
  size_t bytes = 0;
  if (!runtime::checked_add(wanted, sizeof(Block), &bytes)) return nullptr;
  auto* const block = static_cast<Block*>(std::malloc(bytes));
  if (block == nullptr) return nullptr;
  *block = {nullptr, wanted, 0, generation_};
  *end_ = block;
  end_ = &block->next;
  current_ = block;
  return take(block, size, alignment);
}

void HeapAllocator::reset() {
  for (Block* block = first_; block != nullptr; block = block->next) block->used = 0;
  current_ = first_;
}

void HeapAllocator::set_generation(uint64_t generation) noexcept {
  generation_ = generation;
  current_ = first_;
}

void HeapAllocator::free_generation(uint64_t generation) noexcept {
  Block** at = &first_;
  while (*at != nullptr) {
    Block* const block = *at;
    if (block->generation == generation) {
      *at = block->next;
      std::free(block);
    } else {
      at = &block->next;
    }
  }
  end_ = at;
  current_ = first_;
}

size_t HeapAllocator::footprint() const {
  size_t bytes = 0;
  for (const Block* block = first_; block != nullptr; block = block->next) bytes += block->size;
  return bytes;
}

}  // namespace petrel::extension
