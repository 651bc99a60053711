// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions of few outputs as convolutions of more, whose channels are shuffled into
// pixels:
//
//   y[2i + a] = sum over t of x[i - t] w[a + 2t]       a stride of 2, phases a = 0, 1
//
//   ConvTranspose2d x, w [1,4,4,I]  ->  Conv2d x, w' [4,2,2,I]       all phases of all outputs
//                                       StaticReshape, StaticTranspose, StaticReshape
//                                       StaticSlice                  without the padding
//
// XNNPACK computes each phase by itself in a tile of many columns, of which one output fills one.
#ifndef PETREL_BACKENDS_XNNPACK_AOT_SHUFFLED_CONVOLUTION_H_
#define PETREL_BACKENDS_XNNPACK_AOT_SHUFFLED_CONVOLUTION_H_

#include "absl/status/status.h"
#include "backends/xnnpack/aot/convolution_arguments.h"
#include "backends/xnnpack/aot/lowering.h"

namespace petrel::backends::xnnpack::aot {

// Whether that is possible and takes half of the columns at most. Precondition: input and weight
// have rank 3 or 4, channels are fixed.
bool is_better_shuffled(const exir::Node& node, const ConvolutionArguments& arguments);

// Precondition: is_better_shuffled().
absl::Status lower_shuffled(Lowering& lowering, const exir::Node& node,
                            const ConvolutionArguments& arguments);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_SHUFFLED_CONVOLUTION_H_
