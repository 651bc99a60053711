// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/kernels.h"

namespace petrel::runtime {
namespace portable {

#define PETREL_KERNEL(name, function) \
  void function(KernelRuntimeContext& context, Span<EValue*> args);
#include "runtime/kernels/portable/kernel_list.inc"
#undef PETREL_KERNEL

}  // namespace portable

namespace {

constexpr Kernel kKernels[] = {
#define PETREL_KERNEL(name, function) {name, &portable::function},
#include "runtime/kernels/portable/kernel_list.inc"
#undef PETREL_KERNEL
};

}  // namespace

Span<const Kernel> portable_kernels() { return kKernels; }

}  // namespace petrel::runtime
