// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/images.h"

#include <vector>

#include "backends/xnnpack/format/dead_nodes.h"
#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr uint32_t kMostChannels = 4;
constexpr uint32_t kLeastOutputs = 8;
constexpr uint32_t kLeastWidth = 14;

Datatype type_of(const Graph& graph, uint32_t id) { return graph.values[id].datatype; }

bool is_float(const Graph& graph, const Node& node) {
  return type_of(graph, node.inputs[0]) == Datatype::FP32;
}

// Floats all through, or levels of eight bits.
bool has_known_types(const Graph& graph, const Node& node) {
  const Datatype in = type_of(graph, node.inputs[0]), filter = type_of(graph, node.inputs[1]);
  const bool is_of_levels =
      in == Datatype::QINT8 && (filter == Datatype::QINT8 || filter == Datatype::QCINT8);
  return type_of(graph, node.outputs[0]) == in &&
         (is_of_levels || (in == Datatype::FP32 && filter == Datatype::FP32));
}

bool is_worth_it(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::Conv2d || node.winograd.threads != 0 || node.is_split) return false;
  if (!has_known_types(graph, node)) return false;
  const Window& w = node.window;
  const Channels& c = node.channels;
  return c.groups == 1 && c.group_input_channels <= kMostChannels && w.kernel_width > 1 &&
         w.dilation_height == 1 && w.dilation_width == 1 &&
         c.group_output_channels >= kLeastOutputs && graph.values[node.inputs[1]].is_constant() &&
         graph.values[node.outputs[0]].dims[2] >= kLeastWidth;
}

bool turns_channels_last(const Graph& graph, const Node& node) {
  static const std::vector<uint32_t> kOrder = {0, 2, 3, 1};
  return node.kind == NodeKind::StaticTranspose && node.list == kOrder &&
         !graph.values[node.outputs[0]].is_output();
}

}  // namespace

void choose_images(Graph* graph, uint32_t threads, TakesImages* takes_images) {
  // By value, whether anything but a chosen convolution reads it.
  std::vector<bool> has_others(graph->values.size(), false);
  bool has_any = false;
  for (Node& node : graph->nodes) {
    node.image_threads = 0;
    if (is_worth_it(*graph, node) &&
        takes_images(node.channels.group_output_channels, is_float(*graph, node))) {
      node.image_threads = threads;
      has_any = true;
    }
    for (size_t i = node.image_threads != 0 ? 1 : 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoId) has_others[node.inputs[i]] = true;
    }
  }
  if (!has_any) return;
  std::vector<uint32_t> planes(graph->values.size(), kNoId);
  for (Node& node : graph->nodes) {
    if (turns_channels_last(*graph, node) && !has_others[node.outputs[0]]) {
      planes[node.outputs[0]] = node.inputs[0];
    }
    if (node.image_threads == 0 || planes[node.inputs[0]] == kNoId) continue;
    node.inputs[0] = planes[node.inputs[0]];
    node.reads_planes = true;
  }
  remove_dead_nodes(graph);
}

}  // namespace petrel::backends::xnnpack
