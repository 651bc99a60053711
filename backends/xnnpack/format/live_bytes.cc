// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/live_bytes.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/operator_bytes.h"
#include "backends/xnnpack/format/structure_bytes.h"

namespace petrel::backends::xnnpack {

namespace {

bool moves_channels(const Graph& graph, const Node& node, NodeFamily family) {
  return find_node_kind(node.kind)->family == family &&
         graph.values[node.outputs[0]].dims.size() == 4;
}

// When values are there: from the node `begin` to behind the node `end - 1`; `end` is 0 for values
// of nobody. What is joined or cut may lie in the joint value or in that which is cut, which is
// then there as long.
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
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    size_t& end = lives.end[node.outputs[0]];
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
  std::vector<std::vector<uint32_t>> born(graph.nodes.size());
  std::vector<std::vector<uint32_t>> dying(graph.nodes.size() + 1);
  for (uint32_t id = 0; id < end.size(); ++id) {
    if (begin[id] != SIZE_MAX) born[begin[id]].push_back(id);
    dying[end[id]].push_back(id);
  }

  const auto weight = [&](uint32_t id) -> uint64_t {
    const Value& value = graph.values[id];
    const bool is_inner = value.flags == 0 && !value.is_constant();
    return is_inner ? weight_of(value) : 0;
  };
  // Sums stay below 2^64: a value has at most 2^34 bytes.
  std::vector<bool> is_live(graph.values.size(), false);
  uint64_t live = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const uint32_t id : born[i]) {
      if (!is_live[id]) live += weight(id);
      is_live[id] = true;
    }
    visit(graph.nodes[i], live);
    for (const uint32_t id : dying[i + 1]) {
      if (is_live[id]) live -= weight(id);
      is_live[id] = false;
    }
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
  // Those in use at the same time are sorted.
  constexpr uint64_t kSorting = 16;
  return ranges * ranges / 2 + kSorting * pairs;
}

}  // namespace petrel::backends::xnnpack
