// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/kernels.h"

namespace petrel::runtime {
namespace optimized {

#define PETREL_KERNEL(name, function, outputs) \
  void function(KernelRuntimeContext& context, Span<EValue*> args);
#include "runtime/kernels/optimized/kernel_list.inc"
#undef PETREL_KERNEL

}  // namespace optimized

namespace {

constexpr Kernel kKernels[] = {
#define PETREL_KERNEL(name, function, outputs) {name, &optimized::function, outputs},
#include "runtime/kernels/optimized/kernel_list.inc"
#undef PETREL_KERNEL
};

}  // namespace

Span<const Kernel> optimized_kernels() { return kKernels; }

}  // namespace petrel::runtime
