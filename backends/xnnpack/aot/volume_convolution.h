// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of volumes [N,C,D,H,W] as ones of images: depth is batch, and channels come last.
// A filter of one plane is a convolution of N*D images. One of several reads, for each plane of
// the result, as many of the input, of which those that padding adds are zeros:
//
//   joined   [N*D,H,W,C] --slice, pad, concatenate--> [N*D',H,W,k*C] --Conv2d--> [N*D',H',W',O]
//   summed   [N*D,H,W,C] --slice, Conv2d, pad, for each plane of the filter--> --Add-->
//
// Where the window is one pixel high and wide, H*W is the width of an image whose height is D.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_VOLUME_CONVOLUTION_H_
#define PETREL_BACKENDS_XNNPACK_AOT_VOLUME_CONVOLUTION_H_

#include "absl/status/status.h"
#include "backends/xnnpack/aot/convolution_arguments.h"
#include "backends/xnnpack/aot/lowering.h"

namespace petrel::backends::xnnpack::aot {

// Precondition: input and weight have rank 5, weight and bias are constants, channels are fixed.
exir::Support check_volume(const exir::Node& node, const ConvolutionArguments& arguments);

// Of what was accepted.
absl::Status lower_volume(Lowering& lowering, const exir::Node& node,
                          const ConvolutionArguments& arguments);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_VOLUME_CONVOLUTION_H_
