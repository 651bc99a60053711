// SPDX-License-Identifier: Apache-2.0
#include "extension/export/linked_kernels.h"

#include "runtime/executor/prim_ops.h"
#include "runtime/executor/registry.h"

namespace petrel::extension {

bool is_kernel_linked(const std::string& kernel) {
  if (runtime::default_registry().find_kernel(kernel) != nullptr) return true;
  for (const runtime::Kernel& primitive : runtime::prim_kernels()) {
    if (kernel == primitive.name) return true;
  }
  return false;
}

}  // namespace petrel::extension
