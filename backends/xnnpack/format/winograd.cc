// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/winograd.h"

#include <algorithm>
#include <vector>

#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr uint32_t kLeastChannels = 16;
// Of filters as they were, for those of chosen nodes: a tenth.
constexpr uint64_t kAllowedTenths = 1;
constexpr uint64_t kMostBytes = uint64_t{1} << 48;
// What a run may always take besides: a tenth of what a small process has.
constexpr uint64_t kFreeBytes = uint64_t{1} << 20;
// The most columns that a processor's kernel computes at once.
constexpr uint64_t kPanel = 32;

// Costs are multiply-adds that take as long (//third_party/xnnpack/winograd:winograd_bench).
// Filters of a graph that has few of them stay in a cache from run to run.
constexpr double kFloatRead = 6;
constexpr double kFloatReadNear = 2.5;
constexpr uint64_t kNearBytes = 512 << 10;
// Of a filter that is transformed in each run, as a whole or in parts that stay in a cache.
constexpr double kFloatMade = 12;
constexpr double kFloatMadeInParts = 4;
// What takes less than this part of the direct way is worth it.
constexpr double kWorthIt = 0.95;
// Groups have short products, whose estimate is less exact.
constexpr double kWorthItInGroups = 0.85;

struct Way {
  uint32_t tile;
  uint32_t stride;
  // Of a channel of a tile, before and after its products.
  double transform;

  // Of a weight of the filter, and of a tile of the input.
  uint64_t filter_planes() const { return uint64_t{tile + 2} * (tile + 2); }
  uint64_t planes() const {
    const uint64_t side = (tile - 1) * stride + 3;
    return side * side;
  }
};
constexpr Way kWays[] = {{2, 1, 200}, {4, 1, 415}, {2, 2, 400}, {4, 2, 1400}};

bool is_for(const Way& way, const Node& node) { return way.stride == node.window.stride_height; }

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

uint64_t count_pixels(const Graph& graph, const Node& node) {
  const Dims& out = graph.values[node.outputs[0]].dims;
  return uint64_t{out[0]} * out[1] * out[2];
}

// Of all groups.
double pairs_of_channels(const Node& node) {
  return static_cast<double>(node.channels.groups) * node.channels.group_input_channels *
         node.channels.group_output_channels;
}

// `read` is the cost of reading a weight, here and below.
double direct_cost(const Graph& graph, const Node& node, double read) {
  return pairs_of_channels(node) *
         (9.0 * static_cast<double>(count_pixels(graph, node)) + 9 * read);
}

// The transformed input is in memory as a whole, and the filter in parts: winograd.h there.
bool is_made_in_parts(const Graph& graph, const Node& node, const Way& way) {
  return static_cast<double>(count_winograd_tiles(graph, node, way.tile)) *
             static_cast<double>(way.planes()) <=
         static_cast<double>(way.filter_planes()) * node.channels.group_output_channels;
}

double made_cost(const Graph& graph, const Node& node, const Way& way, double read) {
  const auto floats = static_cast<double>(way.filter_planes());
  return is_made_in_parts(graph, node, way) ? floats * kFloatMadeInParts + 9 * read
                                            : floats * kFloatMade;
}

double cost(const Graph& graph, const Node& node, const Way& way, bool each_run, double read) {
  const double channels =
      node.channels.groups * (static_cast<double>(node.channels.group_input_channels) +
                              node.channels.group_output_channels);
  const double pairs = pairs_of_channels(node);
  const auto tiles = static_cast<double>(count_winograd_tiles(graph, node, way.tile));
  const auto floats = static_cast<double>(way.filter_planes());
  return tiles * (static_cast<double>(way.planes()) * pairs + way.transform * channels) +
         pairs * (floats * read + (each_run ? made_cost(graph, node, way, read) : 0));
}

uint64_t filter_bytes(const Graph& graph, const Node& node) {
  return count_bytes(graph.values[node.inputs[1]]);
}

// 16 or 36 floats in place of 9 weights, of outputs that are filled up to whole panels.
uint64_t further_bytes(const Graph& graph, const Node& node, const Way& way) {
  const uint64_t outputs = node.channels.group_output_channels;
  const uint64_t of_output = std::min(filter_bytes(graph, node), kMostBytes) / outputs;
  return of_output / 9 * (way.filter_planes() - 9) * ((outputs + kPanel - 1) / kPanel * kPanel);
}

// Of what it reads and writes but constants. A value counts as if it had no more than kMostBytes,
// so that sums hold.
uint64_t operand_bytes(const Graph& graph, const Node& node) {
  uint64_t sum = 0;
  for (const std::vector<uint32_t>* ids : {&node.inputs, &node.outputs}) {
    for (const uint32_t id : *ids) {
      if (id == kNoId || graph.values[id].is_constant()) continue;
      sum += std::min(count_bytes(graph.values[id]), kMostBytes);
    }
  }
  return sum;
}

uint64_t most_operand_bytes(const Graph& graph) {
  uint64_t most = 0;
  for (const Node& node : graph.nodes) most = std::max(most, operand_bytes(graph, node));
  return most;
}

// Of what is transformed and in memory as a whole: the input or the filter, whichever is smaller.
uint64_t transformed_bytes(const Graph& graph, const Node& node, const Way& way) {
  if (!is_made_in_parts(graph, node, way)) {
    return std::min(filter_bytes(graph, node), kMostBytes) / 9 * way.filter_planes();
  }
  // No more than the filter's, which a graph has. A thread has a group's.
  return std::min<uint64_t>(node.channels.groups, 2) * count_winograd_tiles(graph, node, way.tile) *
         way.planes() * node.channels.group_input_channels * sizeof(float);
}

// `most` is what the node of the graph with the most operands has of them.
bool may_transform_each_run(const Graph& graph, const Node& node, const Way& way, uint64_t most) {
  return operand_bytes(graph, node) + transformed_bytes(graph, node, way) <=
         most / 10 * 11 + kFreeBytes;
}

bool is_possible(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::Conv2d) return false;
  const Window& w = node.window;
  const Channels& c = node.channels;
  const bool has_window = w.kernel_height == 3 && w.kernel_width == 3 &&
                          w.stride_height == w.stride_width && w.stride_height >= 1 &&
                          w.stride_height <= 2 && w.dilation_height == w.dilation_width &&
                          (w.dilation_height == 1 || w.stride_height == 1);
  if (!has_window) return false;
  const Dims& out = graph.values[node.outputs[0]].dims;
  if (w.dilation_height > std::min(out[1], out[2])) return false;
  for (const uint32_t id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
    if (graph.values[id].datatype != Datatype::FP32) return false;
  }
  return graph.values[node.inputs[1]].is_constant() && c.group_input_channels >= kLeastChannels &&
         c.group_output_channels >= kLeastChannels;
}

uint64_t all_filter_bytes(const Graph& graph) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    if (!find_node_kind(node.kind)->has_bias) continue;
    if (graph.values[node.inputs[1]].is_constant()) sum += filter_bytes(graph, node);
  }
  return sum;
}

// The way of a node that takes no further bytes. Returns its cost.
double choose_without_bytes(const Graph& graph, Node* node, uint64_t most, double read,
                            uint32_t threads) {
  const double worth_it = node->channels.groups > 1 ? kWorthItInGroups : kWorthIt;
  double best = worth_it * direct_cost(graph, *node, read);
  for (const Way& way : kWays) {
    if (!is_for(way, *node) || !may_transform_each_run(graph, *node, way, most)) continue;
    const double of_way = cost(graph, *node, way, true, read);
    if (of_way >= best) continue;
    best = of_way;
    node->winograd = {threads, way.tile, true};
  }
  return best;
}

// To pack the filter of a node for tiles of a size, where it was not or for smaller ones.
struct Step {
  Node* node;
  uint32_t tile;
  uint64_t bytes;
  double gain;
  double gain_per_byte() const { return gain / static_cast<double>(bytes); }
};

// Those that save something, from a way that costs `before`. The second starts where the first one
// leads unless it saves more for a byte: then each starts at `before`, and one is taken.
void add_steps(const Graph& graph, Node* node, double before, double read,
               std::vector<Step>* steps) {
  std::vector<Step> own;
  for (const Way& way : kWays) {
    if (!is_for(way, *node)) continue;
    const uint64_t bytes = further_bytes(graph, *node, way);
    const double gain = before - cost(graph, *node, way, false, read);
    if (bytes > 0 && gain > 0) own.push_back({node, way.tile, bytes, gain});
  }
  if (own.size() == 2 && own[0].gain_per_byte() >= own[1].gain_per_byte()) {
    own[1].bytes -= own[0].bytes;
    own[1].gain -= own[0].gain;
    if (own[1].gain <= 0) own.pop_back();
  }
  steps->insert(steps->end(), own.begin(), own.end());
}

bool is_packed(const Node& node) {
  return node.winograd.threads != 0 && !node.winograd.transforms_each_run;
}

}  // namespace

uint64_t count_winograd_tiles(const Graph& graph, const Node& node, uint64_t tile) {
  const Dims& out = graph.values[node.outputs[0]].dims;
  const uint64_t apart = node.window.dilation_height;
  const uint64_t rows = divide_up(divide_up(out[1], apart), tile);
  const uint64_t columns = divide_up(divide_up(out[2], apart), tile);
  return uint64_t{out[0]} * apart * apart * rows * columns;
}

void choose_winograd(Graph* graph, uint32_t threads) {
  const uint64_t most = most_operand_bytes(*graph);
  const uint64_t filters = all_filter_bytes(*graph);
  const double read = filters <= kNearBytes ? kFloatReadNear : kFloatRead;
  std::vector<Step> steps;
  for (Node& node : graph->nodes) {
    node.winograd = {};
    if (!is_possible(*graph, node)) continue;
    add_steps(*graph, &node, choose_without_bytes(*graph, &node, most, read, threads), read,
              &steps);
  }
  if (steps.empty()) return;
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return a.gain_per_byte() > b.gain_per_byte();
  });
  uint64_t left = filters / 10 * kAllowedTenths;
  for (const Step& step : steps) {
    if (step.bytes > left || (is_packed(*step.node) && step.node->winograd.tile >= step.tile)) {
      continue;
    }
    left -= step.bytes;
    step.node->winograd = {threads, step.tile, false};
  }
}

uint64_t count_winograd_bytes(const Graph& graph) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    if (!is_packed(node)) continue;
    for (const Way& way : kWays) {
      if (is_for(way, node) && way.tile == node.winograd.tile) {
        sum += further_bytes(graph, node, way);
      }
    }
  }
  return sum;
}

}  // namespace petrel::backends::xnnpack
