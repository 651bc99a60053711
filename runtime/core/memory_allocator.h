// SPDX-License-Identifier: Apache-2.0
//
// MemoryAllocator: a stack of bytes that is handed out from the bottom up and
// never given back piecewise. HierarchicalAllocator: the planned arenas of a
// method, addressed by arena number and offset.
//
//   alignas(16) static uint8_t pool[16 * 1024];
//   MemoryAllocator method_allocator(sizeof(pool), pool);
//
// Neither owns its memory. An application may derive from MemoryAllocator, for
// example to take memory from the heap; null means there is no more.

#ifndef PETREL_RUNTIME_CORE_MEMORY_ALLOCATOR_H_
#define PETREL_RUNTIME_CORE_MEMORY_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <new>

#include "runtime/core/checked_math.h"
#include "runtime/core/result.h"
#include "runtime/core/span.h"

namespace petrel::runtime {

class MemoryAllocator {
 public:
  static constexpr size_t kDefaultAlignment = alignof(void*);

  MemoryAllocator(size_t size, uint8_t* base_address)
      : begin_(base_address), end_(base_address + size), current_(base_address) {}
  virtual ~MemoryAllocator() = default;
  MemoryAllocator(const MemoryAllocator&) = delete;
  MemoryAllocator& operator=(const MemoryAllocator&) = delete;

  // `size` bytes at a multiple of `alignment`, a power of two; uninitialised.
  // Null when there is no more memory. A size of 0 may give any pointer.
  virtual void* allocate(size_t size, size_t alignment = kDefaultAlignment);

  // Takes everything back.
  virtual void reset() { current_ = begin_; }

  // An uninitialised array of `count` objects.
  template <typename T>
  Result<Span<T>> allocate_list(size_t count, size_t alignment = alignof(T)) {
    PETREL_ASSIGN_OR_RETURN(void* memory, allocate_array(count, sizeof(T), alignment));
    return Span<T>(static_cast<T*>(memory), count);
  }

  // The same into the place where it is kept.
  template <typename T>
  [[gnu::always_inline]] inline Error allocate_list(size_t count, Span<T>* to) {
    PETREL_ASSIGN_OR_RETURN(void* memory, allocate_array(count, sizeof(T), alignof(T)));
    *to = Span<T>(static_cast<T*>(memory), count);
    return Error::Ok;
  }

  // The same by pointers, as ExecuTorch has it: null when there is no more memory.
  template <typename T>
  T* allocateList(size_t count, size_t alignment = alignof(T)) {
    size_t bytes = 0;
    if (!checked_mul(count, sizeof(T), &bytes)) return nullptr;
    return static_cast<T*>(allocate(bytes, alignment));
  }
  template <typename T>
  T* allocateInstance(size_t alignment = alignof(T)) {
    return allocateList<T>(1, alignment);
  }

  // Null for no objects.
  Result<void*> allocate_array(size_t count, size_t object_bytes, size_t alignment);

  // allocate() that explains its failure and refuses a misaligned answer.
  Result<void*> allocate_bytes(size_t size, size_t alignment);

  uint8_t* base_address() const { return begin_; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  size_t used_size() const { return static_cast<size_t>(current_ - begin_); }
  size_t free_size() const { return static_cast<size_t>(end_ - current_); }

 private:
  uint8_t* begin_;
  uint8_t* end_;
  uint8_t* current_;
};

class HierarchicalAllocator final {
 public:
  // One span of memory per arena; the array of spans must outlive this.
  explicit HierarchicalAllocator(Span<Span<uint8_t>> buffers) : buffers_(buffers) {}

  // Bytes [offset, offset + size) of arena `memory_id`, which counts from 0
  // (MethodMeta::memory_planned_buffer_size does, too; files count from 1).
  Result<void*> get_offset_address(uint32_t memory_id, size_t offset, size_t size) const;

  size_t num_buffers() const { return buffers_.size(); }
  Span<uint8_t> buffer(size_t i) const { return buffers_[i]; }

 private:
  Span<Span<uint8_t>> buffers_;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_MEMORY_ALLOCATOR_H_
