// SPDX-License-Identifier: Apache-2.0
//
// What is linked in: the names of backends and kernels.

#include <cstddef>

#include "extension/c_api/guard.h"
#include "runtime/core/result.h"
#include "runtime/executor/prim_ops.h"
#include "runtime/executor/registry.h"

namespace petrel::extension::c_api {
namespace {

using runtime::Kernel;
using runtime::Span;

// Calls use(kernels) for each library until one says that it was the right one.
template <typename Use>
void each_library(Use use) {
  if (use(runtime::prim_kernels())) return;
  for (const auto& library : runtime::default_registry().kernels()) {
    if (use(library())) return;
  }
}

size_t num_kernels() {
  size_t count = 0;
  each_library([&](Span<const Kernel> kernels) {
    count += kernels.size();
    return false;
  });
  return count;
}

const char* kernel_name(size_t index) {
  const char* name = nullptr;
  each_library([&](Span<const Kernel> kernels) {
    if (index < kernels.size()) {
      name = kernels[index].name;
      return true;
    }
    index -= kernels.size();
    return false;
  });
  return name;
}

}  // namespace
}  // namespace petrel::extension::c_api

using namespace petrel::extension::c_api;  // NOLINT: the C names are global
using petrel::runtime::default_registry;
using petrel::runtime::Error;

extern "C" {

petrel_status petrel_num_backends(size_t* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    *out = default_registry().backends().size();
    return Error::Ok;
  });
}

petrel_status petrel_backend_name(size_t index, const char** out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    const auto backends = default_registry().backends();
    PETREL_RETURN_IF_ERROR(check_index("index", index, backends.size()));
    *out = backends[index]().name;
    return Error::Ok;
  });
}

petrel_status petrel_num_kernels(size_t* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    *out = num_kernels();
    return Error::Ok;
  });
}

petrel_status petrel_kernel_name(size_t index, const char** out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    PETREL_RETURN_IF_ERROR(check_index("index", index, num_kernels()));
    *out = kernel_name(index);
    return Error::Ok;
  });
}

}  // extern "C"
