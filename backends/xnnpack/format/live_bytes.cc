// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/live_bytes.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/operator_bytes.h"
#include "backends/xnnpack/format/slice_run.h"
#include "backends/xnnpack/format/structure_bytes.h"

namespace petrel::backends::xnnpack {

namespace {

bool moves_channels(const Graph& graph, const Node& node, NodeFamily family) {
  return find_node_kind(node.kind)->family == family &&
         graph.values[node.outputs[0]].dims.size() == 4;
}

// A slice that is one run of its input's bytes lies there (third_party/xnnpack/runs.patch), unless
// that kept a larger value than this in memory for longer.
constexpr uint64_t kMaxKeptBytes = 65536;

// When values are there: from the node `begin` to behind the node `end - 1`; `end` is 0 for values
// of nobody. What is joined or cut may lie in the joint value or in that which is cut, which is
// then there as long, and as long as what was copied from a run that lies in it.
struct Lives {
  std::vector<size_t> begin;
  std::vector<size_t> end;
};

Lives find_lives(const Graph& graph) {
  Lives lives = {std::vector<size_t>(graph.values.size(), SIZE_MAX),
                 std::vector<size_t>(graph.values.size(), 0)};
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    size_t begin = i;
    for (const uint32_t id : node.inputs) {
      if (id == kNoId) continue;
      lives.end[id] = i + 1;
      if (moves_channels(graph, node, NodeFamily::kConcatenate)) {
        begin = std::min(begin, lives.begin[id]);
      }
    }
    for (const uint32_t id : node.outputs) {
      lives.begin[id] = begin;
      lives.end[id] = std::max(lives.end[id], i + 1);
    }
  }
  const std::vector<size_t> read = lives.end;
  std::vector<size_t> kept = lives.end;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    const uint32_t first = node.inputs.empty() ? kNoId : node.inputs[0];
    size_t& end = lives.end[node.outputs[0]];
    if (first != kNoId) {
      const size_t kept_end = kept[node.outputs[0]];
      const bool is_run =
          first_of_run(graph, node).has_value() &&
          (count_bytes(graph.values[first]) <= kMaxKeptBytes || kept_end <= read[first]);
      if (is_run || node.kind == NodeKind::Copy || node.kind == NodeKind::StaticReshape) {
        kept[first] = std::max(kept[first], kept_end);
      }
      if (is_run) lives.end[first] = std::max(lives.end[first], kept_end);
    }
    for (const uint32_t id : node.inputs) {
      if (moves_channels(graph, node, NodeFamily::kSlice)) {
        lives.end[id] = std::max(lives.end[id], end);
      } else if (moves_channels(graph, node, NodeFamily::kConcatenate)) {
        end = std::max(end, lives.end[id]);
      }
    }
  }
  return lives;
}

// Calls `visit(node, live)` for each node while it runs, with the sum of `weight_of(id)`
// over the values that lie between nodes then.
template <typename WeightOf, typename Visit>
void walk(const Graph& graph, const WeightOf& weight_of, const Visit& visit) {
  const auto [begin, end] = find_lives(graph);
  // By node. Sums stay below 2^64: a value has at most 2^34 bytes.
  std::vector<uint64_t> born(graph.nodes.size(), 0);
  std::vector<uint64_t> dying(graph.nodes.size() + 1, 0);
  for (uint32_t id = 0; id < end.size(); ++id) {
    const Value& value = graph.values[id];
    const bool is_inner = value.flags == 0 && !value.is_constant();
    if (!is_inner || begin[id] == SIZE_MAX) continue;
    const uint64_t weight = weight_of(value);
    born[begin[id]] += weight;
    // What is read only before it is made never goes.
    if (end[id] > begin[id]) dying[end[id]] += weight;
  }
  uint64_t live = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    live += born[i];
    visit(graph.nodes[i], live);
    live -= dying[i + 1];
  }
}

// `scratch_of(node)` comes on top while a node runs.
template <typename ScratchOf>
uint64_t peak_bytes(const Graph& graph, const ScratchOf& scratch_of) {
  uint64_t peak = 0;
  walk(graph, &count_bytes, [&](const Node& node, uint64_t live) {
    uint64_t now = 0;
    if (__builtin_add_overflow(live, scratch_of(node), &now)) now = UINT64_MAX;
    peak = std::max(peak, now);
  });
  return peak;
}

}  // namespace

uint64_t peak_live_bytes(const Graph& graph) {
  return peak_bytes(graph, [](const Node&) -> uint64_t { return 0; });
}

uint64_t peak_workspace_bytes(const Graph& graph) {
  return peak_bytes(graph, [&graph](const Node& node) { return scratch_bytes(graph, node); });
}

uint64_t count_planning_steps(const Graph& graph) {
  // A node may have scratch beside its output. A graph has fewer than 2^30 nodes.
  uint64_t nodes = graph.nodes.size();
  for (const Node& node : graph.nodes) nodes += count_added_nodes(graph, node);
  const uint64_t ranges = 2 * nodes;
  uint64_t pairs = 0;
  walk(
      graph, [](const Value&) { return 1; },
      [&](const Node&, uint64_t live) { pairs += 2 * live; });
  constexpr uint64_t kStepsOfLevel = 24;
  // What lives at the same time lies in few blocks. XNNPACK stops where it does not.
  constexpr uint64_t kPairsInStep = 16;
  uint64_t levels = 1;
  while ((uint64_t{1} << levels) < ranges) ++levels;
  return kStepsOfLevel * levels * ranges + pairs / kPairsInStep;
}

}  // namespace petrel::backends::xnnpack
