// SPDX-License-Identifier: Apache-2.0
//
// Which kernels work with temporary memory, and how much one call needs: a
// function of shapes and numbers. The compiler asks here when it plans memory,
// kernels compute the same sizes with the same functions (windows.h), so they
// cannot disagree. One row per kernel:
//
//   kernel                                 temporary memory
//   aten::convolution.out                  a band of a padded plane, if depthwise
//   aten::max_pool2d_with_indices.out      a band of a padded plane
//   aten::avg_pool2d.out                   a band of a padded plane
//   petrel::attention.out                  a tile of scores
//
//   ScratchCall call;                      // arguments in schema order
//   call.sizes = {input, weight, ...};     // empty for what is not a tensor
//   call.ints = {{}, {}, {}, stride, ...}; // int lists; an int or bool is a list of one
//   const size_t bytes = scratch_bytes("aten::convolution.out", call);
#ifndef PETREL_RUNTIME_KERNELS_SCRATCH_TABLE_H_
#define PETREL_RUNTIME_KERNELS_SCRATCH_TABLE_H_

#include <cstddef>
#include <string_view>

#include "runtime/core/span.h"
#include "runtime/kernels/scratch/windows.h"

namespace petrel::runtime::scratch {

// A call on contiguous float tensors, but for masks. Both lists are as long as the schema.
struct ScratchCall {
  Span<const Sizes> sizes;
  Span<const Ints> ints;
};

// Of one thread; 0 for kernels that need none, or none for such shapes.
size_t scratch_bytes(std::string_view kernel, const ScratchCall& call);

}  // namespace petrel::runtime::scratch

#endif  // PETREL_RUNTIME_KERNELS_SCRATCH_TABLE_H_
