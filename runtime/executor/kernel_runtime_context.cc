// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/kernel_runtime_context.h"

#include "runtime/core/log.h"

namespace petrel::runtime {

Result<void*> KernelRuntimeContext::allocate_temp(size_t size, size_t alignment) {
  if (temp_allocator_ == nullptr) {
    PETREL_LOG(Error,
               "%s needs %zu bytes of temporary memory, but no temporary allocator was given",
               kernel_name_, size);
    return Error::NotSupported;
  }
  return temp_allocator_->allocate_bytes(size, alignment);
}

}  // namespace petrel::runtime
