// SPDX-License-Identifier: Apache-2.0
//
// A MemoryAllocator that takes blocks from the heap as it needs them, for
// applications that have one. reset() keeps the blocks' memory for the next
// use; the destructor gives everything back. Where the heap has no more memory, it has none
// either: nothing here throws, for the runtime that asks was not made for it.
//
//   block 0 [ used | free ]   block 1 [ used |    free    ]   ...
#ifndef PETREL_EXTENSION_MODULE_HEAP_ALLOCATOR_H_
#define PETREL_EXTENSION_MODULE_HEAP_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/memory_allocator.h"

namespace petrel::extension {

class HeapAllocator final : public runtime::MemoryAllocator {
 public:
  HeapAllocator() : MemoryAllocator(0, nullptr) {}
  ~HeapAllocator() override;
  HeapAllocator(const HeapAllocator&) = delete;
  HeapAllocator& operator=(const HeapAllocator&) = delete;

  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override;
  void reset() override;

  // Memory that is asked for from now on belongs to `generation`, and goes with it
  // while that of others stays. 0 at the start.
  void set_generation(uint64_t generation) noexcept;
  void free_generation(uint64_t generation) noexcept;

  // Bytes taken from the heap.
  size_t footprint() const;

 private:
  // The front of its own memory.
  struct Block {
    Block* next;
    size_t size;  // of what is behind this
    size_t used;
    uint64_t generation;

    uint8_t* memory() { return reinterpret_cast<uint8_t*>(this + 1); }
  };

  static constexpr size_t kBlockSize = 16 * 1024;

  // In what is left of a block; null where it does not fit.
  static void* take(Block* block, size_t size, size_t alignment);

  Block* first_ = nullptr;
  Block** end_ = &first_;     // where the next one is added
  Block* current_ = nullptr;  // blocks before it are full enough, or of others; null: all
  uint64_t generation_ = 0;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_HEAP_ALLOCATOR_H_
