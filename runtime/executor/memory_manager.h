// SPDX-License-Identifier: Apache-2.0
//
// MemoryManager: the memory a Method may use. Everything in it belongs to the
// application and outlives the Method.
//
//   method_allocator   what the Method keeps: values, sizes, argument lists
//   planned_memory     the arenas whose sizes MethodMeta tells; null if none
//   temp_allocator     for kernels and backends during one instruction; reset
//                      after each; null if none needs any
//
//   MethodMeta meta = program->method_meta("forward").get();
//   alignas(16) static uint8_t arena[...meta.memory_planned_buffer_size(0)...];
//   Span<uint8_t> arenas[] = {arena};
//   HierarchicalAllocator planned(arenas);
//   MemoryManager memory(&method_allocator, &planned, &temp_allocator);
//
// Arenas should be zero when a method is loaded: buffers whose initial value
// the program does not store start with what is there.

#ifndef PETREL_RUNTIME_EXECUTOR_MEMORY_MANAGER_H_
#define PETREL_RUNTIME_EXECUTOR_MEMORY_MANAGER_H_

#include "runtime/core/memory_allocator.h"

namespace petrel::runtime {

class MemoryManager final {
 public:
  explicit MemoryManager(MemoryAllocator* method_allocator,
                         HierarchicalAllocator* planned_memory = nullptr,
                         MemoryAllocator* temp_allocator = nullptr)
      : method_allocator_(method_allocator),
        planned_memory_(planned_memory),
        temp_allocator_(temp_allocator) {}

  MemoryAllocator* method_allocator() const { return method_allocator_; }
  HierarchicalAllocator* planned_memory() const { return planned_memory_; }
  MemoryAllocator* temp_allocator() const { return temp_allocator_; }

 private:
  MemoryAllocator* method_allocator_;
  HierarchicalAllocator* planned_memory_;
  MemoryAllocator* temp_allocator_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_MEMORY_MANAGER_H_
