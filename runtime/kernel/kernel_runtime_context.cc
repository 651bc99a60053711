// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel/kernel_runtime_context.h"

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

namespace petrel::runtime {

bool KernelRuntimeContext::charge(uint64_t count, uint64_t of, uint64_t each) {
  uint64_t units = 1;
  for (const uint64_t factor : {count, of, each}) {
    if (factor != 0) units = saturating_product(units, factor);
  }
  if (work_ == nullptr) return true;
  const Error error = work_->take(kernel_name_, units);
  if (error != Error::Ok) fail(error);
  return error == Error::Ok;
}

void* KernelRuntimeContext::take_scratch(size_t size, size_t alignment) {
  const auto address = reinterpret_cast<uintptr_t>(scratch_.data());
  size_t start = 0;
  if (!is_power_of_two(alignment) || !checked_align_up(address, alignment, &start) ||
      !in_bounds(start - address, size, scratch_.size())) {
    return nullptr;
  }
  void* const memory = scratch_.data() + (start - address);
  scratch_ = scratch_.subspan(start - address + size);
  return memory;
}

void* KernelRuntimeContext::try_allocate_temp(size_t size, size_t alignment) {
  void* const memory = take_scratch(size, alignment);
  if (memory != nullptr || temp_allocator_ == nullptr) return memory;
  return temp_allocator_->allocate(size, alignment);
}

Result<void*> KernelRuntimeContext::allocate_temp(size_t size, size_t alignment) {
  void* const memory = take_scratch(size, alignment);
  if (memory != nullptr) return memory;
  if (temp_allocator_ == nullptr) {
    PETREL_LOG(Error,
               "%s needs %zu bytes of temporary memory, but no temporary allocator was given",
               kernel_name_, size);
    return Error::NotSupported;
  }
  return temp_allocator_->allocate_bytes(size, alignment);
}

}  // namespace petrel::runtime
