// SPDX-License-Identifier: Apache-2.0
//
// Memory for the runtime without a limit known beforehand: each request is one
// block of the heap, held until reset() or the end.
#ifndef PETREL_EXIR_FOLD_HEAP_ALLOCATOR_H_
#define PETREL_EXIR_FOLD_HEAP_ALLOCATOR_H_

#include <cstddef>
#include <vector>

#include "runtime/core/memory_allocator.h"

namespace petrel::exir {

class HeapAllocator final : public runtime::MemoryAllocator {
 public:
  HeapAllocator() : MemoryAllocator(0, nullptr) {}
  ~HeapAllocator() override { reset(); }

  // Null when the heap has no more memory or `alignment` is not a power of two.
  void* allocate(size_t size, size_t alignment) override;
  void reset() override;

 private:
  std::vector<void*> blocks_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_FOLD_HEAP_ALLOCATOR_H_
