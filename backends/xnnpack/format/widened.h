// SPDX-License-Identifier: Apache-2.0
//
// Nodes of halves that XNNPACK computes in floats here, with a value in between for each operand
// that is converted (runtime/subgraph.cc):
//
//   tanh of f16             Convert f16 -> f32, Tanh, Convert f32 -> f16
//   Convert f16 -> qd8      Convert f16 -> f32, Convert f32 -> qd8
//   qd8 by a filter -> f16  the product -> f32, Convert f32 -> f16
//
// XNNPACK has kernels of halves for these, but those of x86 are up to four steps off (tanh) or
// convert one number after the other (levels). The results are those of halves: a row has the
// same extremes, and products are sums of integers that are rounded once.
#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_WIDENED_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_WIDENED_H_

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

struct Widened {
  bool input = false;   // inputs[0]
  bool output = false;  // outputs[0]

  uint32_t count() const { return (input ? 1 : 0) + (output ? 1 : 0); }
};

// Precondition: `node` has as many inputs and outputs as its kind.
Widened widened(const Graph& graph, const Node& node);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_WIDENED_H_
