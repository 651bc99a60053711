// SPDX-License-Identifier: Apache-2.0
//
// Rewrites products, and what is connected to them, so that they compute in half:
//
//   before  %y = aten.linear.default(%x : f32[2,64], constant @w : f32[8,64], %b)
//           %n = aten.exp.default(%y)
//   after   %h = aten._to_copy.default(%x, f16)
//           %y = aten.linear.default(%h, constant @w@half : f16[8,64], constant @b@half)
//           %f = aten._to_copy.default(%y, f32)
//           %n = aten.exp.default(%f)
//
// Inputs and outputs of the method stay f32, and so do operators whose results leave the
// range of half soon: exponentials, powers, sums and norms.
#ifndef PETREL_EXIR_QUANTIZE_HALF_GRAPH_H_
#define PETREL_EXIR_QUANTIZE_HALF_GRAPH_H_

#include <vector>

#include "absl/status/status.h"
#include "exir/ir/graph.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/record.h"
#include "exir/quantize/stored_weights.h"

namespace petrel::exir {

struct HalfAnnotation {
  std::vector<Node*> nodes;     // in the order of the graph
  std::vector<LeftFloat> left;  // all others that make f32
};

HalfAnnotation annotate_half(const Graph& graph, const KeptFloat& keep_float);

// Precondition: `nodes` are those of the graph's annotation.
absl::Status store_in_half(Graph& graph, const std::vector<Node*>& nodes, StoredWeights* weights);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_HALF_GRAPH_H_
