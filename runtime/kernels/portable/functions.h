// SPDX-License-Identifier: Apache-2.0
//
// The functions behind the portable kernels, for kernel libraries that compute
// some calls of an operator in another way and leave the rest to these:
//
//   void exp_out(KernelRuntimeContext& context, Span<EValue*> args) {
//     if (...) return portable::exp_out(context, args);
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_FUNCTIONS_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_FUNCTIONS_H_

#include "runtime/kernel/kernel.h"

namespace petrel::runtime::portable {

#define PETREL_KERNEL(name, function, outputs) \
  void function(KernelRuntimeContext& context, Span<EValue*> args);
#include "runtime/kernels/portable/kernel_list.inc"
#undef PETREL_KERNEL

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_FUNCTIONS_H_
