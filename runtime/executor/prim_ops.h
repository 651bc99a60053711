// SPDX-License-Identifier: Apache-2.0
//
// Primitive operators: arithmetic on numbers that programs compute shapes and
// loop counters with, and the two operators on tensors that need to know how
// the runtime holds them (view, and one row of a stack). They are kernels like
// others, but every runtime has them.

#ifndef PETREL_RUNTIME_EXECUTOR_PRIM_OPS_H_
#define PETREL_RUNTIME_EXECUTOR_PRIM_OPS_H_

#include "runtime/core/span.h"
#include "runtime/kernel/kernel.h"

namespace petrel::runtime {

Span<const Kernel> prim_kernels();

// executorch_prim::et_view.default(Tensor self, int[] size, Tensor out): makes
// `out` the same memory as `self` under other sizes; one size may be -1.
void prim_view(KernelRuntimeContext& context, Span<EValue*> args);

// executorch_prim::et_copy_index.tensor(Tensor to, Tensor from, int index):
// copies `from` to row `index` of `to`, which gets as many rows as needed. Row
// 0 begins a new stack if the sizes of `to` are dynamic.
void prim_copy_index(KernelRuntimeContext& context, Span<EValue*> args);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_EXECUTOR_PRIM_OPS_H_
