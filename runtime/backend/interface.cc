// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/interface.h"

namespace petrel::runtime {

Result<void*> BackendExecutionContext::allocate(size_t size, size_t alignment) {
  if (temp_allocator_ == nullptr) {
    PETREL_LOG(Error,
               "a backend needs %zu bytes of temporary memory, but no temporary allocator "
               "was given",
               size);
    return Error::NotSupported;
  }
  return temp_allocator_->allocate_bytes(size, alignment);
}

size_t BackendExecutionContext::readable_bytes(const void* data) const {
  if (planned_memory_ == nullptr) return 0;
  // Compared as numbers: pointers into different arrays have no order.
  const auto address = reinterpret_cast<uintptr_t>(data);
  for (size_t i = 0; i < planned_memory_->num_buffers(); ++i) {
    const Span<uint8_t> arena = planned_memory_->buffer(i);
    const auto begin = reinterpret_cast<uintptr_t>(arena.data());
    if (address >= begin && address - begin < arena.size()) {
      return arena.size() - (address - begin);
    }
  }
  return 0;
}

}  // namespace petrel::runtime
