// SPDX-License-Identifier: Apache-2.0
//
// The promises of a graph that is safe to hand to XNNPACK:
//
//   - there is an output;
//   - every external id below num_externs is used by exactly one value, which
//     is an input or an output, not both, and not a constant;
//   - every value is a constant, an input, or the output of exactly one node,
//     which comes before all nodes that read it;
//   - filters and biases are constants; flags are those a kind may have;
//   - the dims of every node's output are what shape_rules.h makes of its
//     inputs; no more than kMaxValueBytes of them are needed at one time, and
//     no more than kMaxPlanningSteps to find places for them.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_GRAPH_CHECK_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_GRAPH_CHECK_H_

#include "backends/xnnpack/format/graph.h"
#include "backends/xnnpack/format/problem.h"

namespace petrel::backends::xnnpack {

// Precondition: what read_payload promises.
Problem check_graph(const Graph& graph);

// kUnsupported, naming the value or node, when the graph uses what the runtime
// does not implement: a type other than fp32, quantisation, a kind, or more channels
// with scales than take part of a second to prepare.
Problem check_implemented(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_GRAPH_CHECK_H_
