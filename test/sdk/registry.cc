// SPDX-License-Identifier: Apache-2.0
//
// A registry by hand, for an app that is built without CMake and Bazel.
#include <petrel/runtime/executor/registry.h>

namespace petrel::runtime {
Span<const Kernel> optimized_kernels();
Span<const Kernel> portable_kernels();
}  // namespace petrel::runtime
namespace petrel::backends::xnnpack {
::petrel::runtime::Backend xnnpack_backend();
}

namespace petrel::runtime {
namespace {
constexpr KernelLibrary kKernels[] = {&optimized_kernels, &portable_kernels};
constexpr BackendLibrary kBackends[] = {&backends::xnnpack::xnnpack_backend};
constexpr Registry kRegistry(kKernels, kBackends);
}  // namespace
const Registry& default_registry() { return kRegistry; }
}  // namespace petrel::runtime
