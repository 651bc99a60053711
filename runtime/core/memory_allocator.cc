// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/memory_allocator.h"

#include "runtime/core/log.h"

namespace petrel::runtime {

void* MemoryAllocator::allocate(size_t size, size_t alignment) {
  if (!is_power_of_two(alignment)) return nullptr;
  const uintptr_t misaligned_by = reinterpret_cast<uintptr_t>(current_) & (alignment - 1);
  const size_t padding = misaligned_by == 0 ? 0 : alignment - misaligned_by;
  const size_t available = free_size();
  if (padding > available || size > available - padding) return nullptr;
  uint8_t* const start = current_ + padding;
  current_ = start + size;
  return start;
}

Result<void*> MemoryAllocator::allocate_array(size_t count, size_t object_bytes, size_t alignment) {
  size_t bytes = 0;
  if (!checked_mul(count, object_bytes, &bytes)) return Error::MemoryAllocationFailed;
  if (count == 0) return static_cast<void*>(nullptr);
  return allocate_bytes(bytes, alignment);
}

Result<void*> MemoryAllocator::allocate_bytes(size_t size, size_t alignment) {
  void* const memory = allocate(size, alignment);
  if (memory == nullptr) {
    PETREL_LOG(Error, "an allocator has no %zu bytes left", size);
    return Error::MemoryAllocationFailed;
  }
  if ((reinterpret_cast<uintptr_t>(memory) & (alignment - 1)) != 0) {
    PETREL_LOG(Error, "an allocator returned %p, which is not aligned to %zu bytes", memory,
               alignment);
    return Error::MemoryAllocationFailed;
  }
  return memory;
}

Result<void*> HierarchicalAllocator::get_offset_address(uint32_t memory_id, size_t offset,
                                                        size_t size) const {
  if (memory_id >= buffers_.size()) {
    PETREL_LOG(Error, "arena %u is needed, but %zu were given", memory_id, buffers_.size());
    return Error::InvalidArgument;
  }
  const Span<uint8_t> buffer = buffers_[memory_id];
  if (!in_bounds(offset, size, buffer.size())) {
    PETREL_LOG(Error, "arena %u has %zu bytes, but %zu at offset %zu are needed", memory_id,
               buffer.size(), size, offset);
    return Error::MemoryAllocationFailed;
  }
  return static_cast<void*>(buffer.data() + offset);
}

}  // namespace petrel::runtime
