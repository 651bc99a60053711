// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions of contiguous float tensors in one and two dims.
//
// Each output row is a sum of input rows times weights. With a stride of s, taps
// whose places differ by no multiple of s write different columns; columns that
// are alike modulo s lie together while the row is summed, so that every tap adds
// one row to another without gaps:
//
//   stride 2, window 4     taps 0 2 -> columns 0 2 4 ...  | 0 2 4 ... 1 3 5 ... |
//                          taps 1 3 -> columns 1 3 5 ...    the buffer of a row
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_TRANSPOSED_CONVOLUTION_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_TRANSPOSED_CONVOLUTION_H_

#include "runtime/kernel/kernel_args.h"

namespace petrel::runtime::optimized {

// aten::convolution.out; false, with nothing done but that `out` may have its
// size, for calls that it is not made for.
bool transposed_convolution(KernelRuntimeContext& context, Span<EValue*> raw);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_TRANSPOSED_CONVOLUTION_H_
