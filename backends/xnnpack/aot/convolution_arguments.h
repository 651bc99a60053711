// SPDX-License-Identifier: Apache-2.0
//
// The literal arguments of a convolution, for each dim of space.
//
//   ConvolutionArguments a;
//   Support support = read_convolution(node, &a);     stride [2] of an image: a.stride is {2, 2}
//
// A convolution of rows has a height of one in front.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_CONVOLUTION_ARGUMENTS_H_
#define PETREL_BACKENDS_XNNPACK_AOT_CONVOLUTION_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "backends/xnnpack/format/graph.h"
#include "exir/backend/backend.h"

namespace petrel::backends::xnnpack::aot {

struct ConvolutionArguments {
  std::vector<int64_t> stride;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  std::vector<int64_t> output_padding;
  int64_t groups = 1;
  bool transposed = false;

  bool is_depthwise(int64_t input_channels) const {
    return !transposed && groups > 1 && input_channels == groups;
  }
  // Of the last two dims.
  Window window(int64_t kernel_height, int64_t kernel_width) const;
};

exir::Support read_convolution(const exir::Node& node, ConvolutionArguments* out);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_CONVOLUTION_ARGUMENTS_H_
