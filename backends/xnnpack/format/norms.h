// SPDX-License-Identifier: Apache-2.0
//
// Layer norms and group norms, which files write as many nodes, as one of XNNPACK
// (third_party/xnnpack/norm). A transformer has two in each block, and reads and writes its values
// seven times for each.
//
//   x --FullyConnected 1/K-- m --Subtract from x-- d --Square, FullyConnected 1/K-- v
//   v --Add epsilon, ReciprocalSquareRoot-- r --Multiply with d-- [Multiply weight, Add bias]-- y
//
//   x --Norm weight, bias-- y
//
// The mean of the channels of pixels may be a Conv2d, and r a SquareRoot that d is divided by, as
// in norms that a model writes out. Of images of groups of channels each mean is taken in two
// steps, of all pixels and of the channels of a group, with reshapes between, where there are
// several groups:
//
//   x [n,h,w,g*c] --GlobalAvgPooling2d-- [n,1,1,g*c] --reshape-- [n,1,g,c] --product-- m
//   x --reshape-- [n,h*w,g,c] --Subtract m-- d --Square, reshape-- [n,h,w,g*c] --as before-- v
//   v --Add epsilon, ReciprocalSquareRoot-- r --Multiply with d, reshape-- [n,h,w,g*c] ...-- y
//
// Groups of one channel are means of pixels alone. They become one node where sizes are fixed, or
// where what makes x, or the factors, say how many channels there are in all runs. Only where
// nobody else reads what is between, and all is of floats. Results differ by rounding: sums are
// those of lanes, and in double.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_NORMS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_NORMS_H_

#include <cstdint>
#include <functional>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// The floats of a value that is a constant, aligned; null where they cannot be had.
using ReadFloats = std::function<const float*(uint32_t id)>;

// Puts nodes of kind kNorm in the place of what they compute. Precondition: the graph passes
// check_graph, which it does afterwards, too.
void join_norms(Graph* graph, const ReadFloats& read, bool sizes_are_fixed);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_NORMS_H_
