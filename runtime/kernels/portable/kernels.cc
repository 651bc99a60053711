// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/kernels.h"

#include "runtime/kernels/portable/functions.h"

namespace petrel::runtime {
namespace {

constexpr Kernel kKernels[] = {
#define PETREL_KERNEL(name, function, outputs) {name, &portable::function, outputs},
#include "runtime/kernels/portable/kernel_list.inc"
#undef PETREL_KERNEL
};

}  // namespace

Span<const Kernel> portable_kernels() { return kKernels; }

}  // namespace petrel::runtime
