// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/slice_run.h"

#include <cstddef>

#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {

std::optional<uint64_t> first_of_run(const Graph& graph, const Node& node) {
  if (find_node_kind(node.kind)->family != NodeFamily::kSlice || node.inputs[0] == kNoId) {
    return std::nullopt;
  }
  const Dims& in = graph.values[node.inputs[0]].dims;
  const Dims& out = graph.values[node.outputs[0]].dims;
  if (in.size() != out.size() || node.list.size() != in.size()) return std::nullopt;
  uint64_t first = 0;
  uint64_t stride = 1;
  bool is_cut = false;
  for (size_t i = in.size(); i-- > 0;) {
    if (is_cut && out[i] != 1) return std::nullopt;
    is_cut |= out[i] != in[i];
    first += node.list[i] * stride;
    stride *= in[i];
  }
  return first;
}

}  // namespace petrel::backends::xnnpack
