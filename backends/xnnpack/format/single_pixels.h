// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions whose input has one row or one column, as the first layer of a generator
// that makes an image of a vector. No window meets another one there, so the stride says nothing,
// and the kernel's own size takes its place: each output is one tap by one pixel. With a smaller
// stride XNNPACK multiplies the other taps by zeros.
//
//   [1,1,1,100] by 4 x 4 to [1,4,4,512]     stride 1: 16 outputs of 16 taps     stride 4: of one
//
// Of floats; what is left out are products with zeros, which change no finite result.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_SINGLE_PIXELS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_SINGLE_PIXELS_H_

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Sizes of outputs stay. Precondition: check_graph, which the graph passes afterwards, too.
void widen_strides_of_single_pixels(Graph* graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_SINGLE_PIXELS_H_
