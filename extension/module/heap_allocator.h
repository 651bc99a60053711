// SPDX-License-Identifier: Apache-2.0
//
// A MemoryAllocator that takes blocks from the heap as it needs them, for
// applications that have one. reset() keeps the blocks' memory for the next
// use; the destructor gives everything back.
//
//   block 0 [ used | free ]   block 1 [ used |    free    ]   ...
#ifndef PETREL_EXTENSION_MODULE_HEAP_ALLOCATOR_H_
#define PETREL_EXTENSION_MODULE_HEAP_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "runtime/core/memory_allocator.h"

namespace petrel::extension {

class HeapAllocator final : public runtime::MemoryAllocator {
 public:
  HeapAllocator() : MemoryAllocator(0, nullptr) {}

  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override;
  void reset() override;

  // Memory that is asked for from now on belongs to `generation`, and goes with it
  // while that of others stays. 0 at the start.
  void set_generation(uint64_t generation) noexcept;
  void free_generation(uint64_t generation) noexcept;

  // Bytes taken from the heap.
  size_t footprint() const;

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  struct Block {
    std::unique_ptr<uint8_t, Free> memory;
    size_t size = 0;
    size_t used = 0;
    uint64_t generation = 0;
  };

  static constexpr size_t kBlockSize = 16 * 1024;

  std::vector<Block> blocks_;
  size_t current_ = 0;  // blocks before it are full enough, or of others
  uint64_t generation_ = 0;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_MODULE_HEAP_ALLOCATOR_H_
