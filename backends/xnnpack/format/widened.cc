// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/widened.h"

#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {

Widened widened(const Graph& graph, const Node& node) {
  const bool is_product = find_node_kind(node.kind)->has_bias;
  if (node.kind != NodeKind::Tanh && node.kind != NodeKind::Convert && !is_product) return {};
  const Datatype input = graph.values[node.inputs[0]].datatype;
  const Datatype output = graph.values[node.outputs[0]].datatype;
  if (node.kind == NodeKind::Tanh) return {input == Datatype::FP16, input == Datatype::FP16};
  if (is_product) return {false, input == Datatype::QDINT8 && output == Datatype::FP16};
  return {input == Datatype::FP16 && output == Datatype::QDINT8, false};
}

}  // namespace petrel::backends::xnnpack
