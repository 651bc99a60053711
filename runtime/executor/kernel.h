// SPDX-License-Identifier: Apache-2.0
//
// Kernel: a name and the function that computes it. A kernel library is one
// function that returns its kernels:
//
//   // my_kernels.cc
//   constexpr Kernel kKernels[] = {{"my_ops::twice.out", &twice_out}};
//   Span<const Kernel> my_kernels() { return kKernels; }
//
// The name is that of the operator in the program, namespace and overload
// included ("aten::add.out"; no dot when the overload is empty). The function
// gets every argument of the operator in schema order, the outputs, and the
// returned values once more. The number and types of arguments come from a
// file: read them with KernelArgs (kernel_args.h), which checks.

#ifndef PETREL_RUNTIME_EXECUTOR_KERNEL_H_
#define PETREL_RUNTIME_EXECUTOR_KERNEL_H_

#include "runtime/core/evalue.h"
#include "runtime/core/span.h"
#include "runtime/executor/kernel_runtime_context.h"

namespace petrel::runtime {

using OpFunction = void (*)(KernelRuntimeContext& context, Span<EValue*> args);

struct Kernel {
  const char* name;
  OpFunction fn;
};

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_KERNEL_H_
