// SPDX-License-Identifier: Apache-2.0
//
// Which calls the optimized kernels take. A kernel here reads its arguments,
// computes what it is fast at and leaves every other call (other element types,
// broken arguments) to the portable function of the operator, which checks
// and says what is wrong:
//
//   void relu_out(KernelRuntimeContext& context, Span<EValue*> raw) {
//     KernelArgs args(context, raw, 2);
//     const Tensor self = args.tensor(0);
//     const Tensor out = args.out(1);
//     if (!args.ok()) return;
//     if (!is_float(self) || !is_float(out) || ...) return portable::relu_out(context, raw);
//
// Vector code is chosen when it runs. Each file that has some is compiled once
// per instruction set (SSE4, AVX2, AVX-512; NEON) by hwy/foreach_target.h:
//
//   #include "runtime/kernels/optimized/instruction_sets.h"
//   #define HWY_TARGET_INCLUDE "this/file.cc"
//   #include "hwy/foreach_target.h"
//   #include "hwy/highway.h"
//   HWY_BEFORE_NAMESPACE();
//   namespace petrel::runtime::optimized { namespace HWY_NAMESPACE {
//   ...                    one copy per instruction set
//   } }
//   HWY_AFTER_NAMESPACE();
//   #if HWY_ONCE
//   ...                    one copy; PETREL_DISPATCH(Function) is the best
//   #endif
//
// Vector code gets pointers and counts only; tensors, arguments and threads are
// the business of the part that is compiled once.
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_FAST_PATH_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_FAST_PATH_H_

#include "runtime/core/tensor.h"
#include "runtime/kernel/kernel_args.h"
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/functions.h"

namespace petrel::runtime::optimized {

using portable::is_contiguous;

inline bool is_float(const Tensor& tensor) { return tensor.scalar_type() == ScalarType::Float; }

// Equal sizes and equal strides wherever there is more than one element, and no
// gaps: element i in memory of one belongs to element i of the other.
bool same_layout(const Tensor& a, const Tensor& b);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_FAST_PATH_H_
