// SPDX-License-Identifier: Apache-2.0
//
// Shapes of nodes: what a node makes of the dims of its inputs, and whether its
// parameters, filter and bias fit them. XNNPACK trusts what it is given, so
// these rules are what stands between a damaged payload and memory: a graph
// that passes them makes XNNPACK neither read nor write out of bounds.
//
//   Conv2d  x [1,224,224,3]  filter [32,3,3,3]  stride 2  padding 1
//           -> [1,112,112,32]
//
// They serve twice: on load with the dims that the payload states, and when a
// caller runs a method with other sizes.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_SHAPE_RULES_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_SHAPE_RULES_H_

#include <vector>

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/problem.h"

namespace petrel::backends::xnnpack {

// Dims are in [1, kMaxDim].
inline constexpr uint32_t kMaxDim = 0x7FFFFFFF;
// Bytes of one value, and of all values that a graph needs at the same time. A
// small file must not be able to ask for more.
inline constexpr uint64_t kMaxValueBytes = uint64_t{1} << 34;
// Pointers that a convolution or pooling may put into its indirection buffer.
inline constexpr uint64_t kMaxIndirections = uint64_t{1} << 31;
// Height or width of an image that is resized: XNNPACK computes places in floats,
// whose rounding leads past the end of longer sides.
inline constexpr uint32_t kMaxResizedSide = 1 << 22;

// Every dim in range and the whole within kMaxValueBytes.
Problem check_dims(const Dims& dims);

// The dims of output 0 (all outputs of a node have the same). `inputs` has one
// entry per input, null for a missing bias; node.inputs is not looked at.
// Precondition: as many inputs as the kind has.
Problem infer_output_dims(const Node& node, const std::vector<const Dims*>& inputs, Dims* out);

// The same for values that may be empty, and without the limits of check_dims.
Problem infer_any_dims(const Node& node, const std::vector<const Dims*>& inputs, Dims* out);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_SHAPE_RULES_H_
