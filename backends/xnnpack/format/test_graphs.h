// SPDX-License-Identifier: Apache-2.0
//
// Graphs for tests, made by hand.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_TEST_GRAPHS_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_TEST_GRAPHS_H_

#include <string>
#include <vector>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Adds values and nodes in a line each.
class GraphBuilder {
 public:
  // Inputs must come before outputs.
  uint32_t input(Dims dims);
  uint32_t output(Dims dims);
  uint32_t inner(Dims dims);
  uint32_t constant(Dims dims, const std::string& key);
  Node& node(NodeKind kind, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs);

  Graph graph;

 private:
  uint32_t add(Dims dims, uint32_t flags);
};

// [1,4,4,2] --Conv2d 3x3, "filter" [3,3,3,2], "bias"--> Clamp --> [1,4,4,3];
// passes check_graph.
Graph small_cnn();

// Nodes of most families around two convolutions, with 1.3 kB of payload; passes
// check_graph. [1,2,6,6] and [2] --> [1,3]; constants "f1" (72 floats), "b1" (4),
// "f2" (36) and "w" (12).
Graph graph_of_families();

// A group norm of four groups and, of its pixels, a layer norm, with factors "w" and "b" of 12
// floats, "epsilon", and "/3" and "/12", floats of 1/3 and 1/12; passes check_graph.
// [2,3,5,12] --> [2,3,5,12].
Graph graph_of_norms();

// Two heads of 20 rows by a scale, with a mask and what is seen, as export writes them; passes
// check_graph, and becomes one node. [1,2,20,8] twice, [1,2,20,12] and [20,20] twice -->
// [1,2,20,12]; the constant "scale" has one float.
Graph masked_attention();

// One node of every kind with parameters that differ from all defaults. Its
// shapes make no sense: check_graph does not pass it.
Graph graph_of_all_kinds();

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_TEST_GRAPHS_H_
