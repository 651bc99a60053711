// SPDX-License-Identifier: Apache-2.0
//
// Which convolutions of a graph copy rows of an image of few channels and need no pointer for
// each pixel of a window (third_party/xnnpack/image), such as the first layers of networks.
//
//   one group, floats or levels of 8 bits,      possible
//   up to 4 channels in, windows 2 or more
//   wide, not dilated
//   8 channels or more out, 14 pixels or more   worth it: fewer channels take other kernels, and a
//   in a row of the output                      tile has pixels of one row
//
// Where only such convolutions read an image that was turned to channels last, they turn it
// themselves:
//
//   [n,c,h,w] --transpose--> [n,h,w,c] --convolution-->      [n,c,h,w] --convolution-->
//
// Results are the same bits. The choice depends on the graph and on the processor's kernels.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_IMAGES_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_IMAGES_H_

#include <cstddef>
#include <cstdint>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Whether kernels for so many channels out can do it.
using TakesImages = bool(size_t outputs, bool is_float);

// Sets `image_threads` of the chosen nodes to `threads`, and `reads_planes`; takes transposes out
// that nobody reads any more. Precondition: the graph passes check_graph, which it does afterwards,
// too; threads > 0.
void choose_images(Graph* graph, uint32_t threads, TakesImages* takes_images);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_IMAGES_H_
