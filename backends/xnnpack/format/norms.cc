// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/norms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/dead_nodes.h"
#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr size_t kNobody = SIZE_MAX;

// A mean over the last dim of `source`, or over two dims and a group of the last.
struct Mean {
  uint32_t source = kNoId;
  bool is_of_pixels = false;
  uint32_t group_channels = 0;
  const Node* cut = nullptr;  // the reshape that makes groups of channels, if there is one
};

struct Norm {
  uint32_t x = kNoId, weight = kNoId, bias = kNoId, y = kNoId;
  float epsilon = 0;
  Mean mean;
  std::vector<uint32_t> sizes;  // those that x must have; empty for any
  size_t last = 0;              // the node that makes y
};

class Finder {
 public:
  Finder(Graph* graph, const ReadFloats& read, bool sizes_are_fixed)
      : graph_(*graph),
        read_(read),
        sizes_are_fixed_(sizes_are_fixed),
        producers_(graph->values.size(), kNobody),
        readers_(graph->values.size(), kNobody),
        counts_(graph->values.size(), 0) {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const uint32_t id : graph_.nodes[i].outputs) producers_[id] = i;
      for (const uint32_t id : graph_.nodes[i].inputs) {
        if (id == kNoId) continue;
        readers_[id] = i;
        ++counts_[id];
      }
    }
  }

  bool run() {
    bool has_any = false;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const NodeKind kind = graph_.nodes[i].kind;
      if (kind != NodeKind::ReciprocalSquareRoot && kind != NodeKind::SquareRoot) continue;
      const std::optional<Norm> norm = find(graph_.nodes[i]);
      if (!norm) continue;
      graph_.nodes[norm->last] = node_of(*norm);
      has_any = true;
    }
    return has_any;
  }

 private:
  const Value& value(uint32_t id) const { return graph_.values[id]; }
  const Dims& dims(uint32_t id) const { return value(id).dims; }

  bool is_float(uint32_t id) const {
    return value(id).datatype == Datatype::FP32 && value(id).quantization == Quantization::kNone;
  }

  // Made by a node of `kind` without a range, and read so often by other nodes, but not outside.
  const Node* inner(uint32_t id, NodeKind kind, uint32_t reads) const {
    if (id == kNoId || producers_[id] == kNobody || counts_[id] != reads) return nullptr;
    return value(id).is_output() ? nullptr : made_by(producers_[id], kind);
  }

  const Node* made_by(size_t index, NodeKind kind) const {
    const Node& node = graph_.nodes[index];
    const bool fits = node.kind == kind && node.is_unbounded() && is_float(node.outputs[0]) &&
                      is_float(node.inputs[0]);
    return fits ? &node : nullptr;
  }

  // The only node that reads `id`.
  const Node* reader(uint32_t id, NodeKind kind) const {
    if (value(id).is_output() || counts_[id] != 1) return nullptr;
    return made_by(readers_[id], kind);
  }

  const float* floats(uint32_t id) const {
    return value(id).is_constant() && is_float(id) ? read_(id) : nullptr;
  }

  // Whether `id` is [1,...,1,k] of 1/k.
  bool is_part_of_each(uint32_t id) {
    if (dims(id).empty() || count_elements(dims(id)) != dims(id).back()) return false;
    const auto [found, is_new] = parts_.try_emplace(id, false);
    if (!is_new) return found->second;
    const float* parts = floats(id);
    const uint32_t count = dims(id).back();
    const float part = 1.0f / static_cast<float>(count);
    found->second = parts != nullptr && std::all_of(parts, parts + count,
                                                    [part](float given) { return given == part; });
    return found->second;
  }

  bool keeps_dims(const Node& pool) const { return (pool.flags & kKeepDims) != 0; }

  // The product that `id`, which one node reads, is the result of: of rows, or of pixels.
  const Node* product_of(uint32_t id) const {
    const Node* rows = inner(id, NodeKind::FullyConnected, 1);
    if (rows != nullptr) return rows->flags == 0 ? rows : nullptr;
    const Node* pixels = inner(id, NodeKind::Conv2d, 1);
    const bool is_product = pixels != nullptr && pixels->window == Window() &&
                            pixels->channels.groups == 1 &&
                            pixels->channels.group_output_channels == 1;
    return is_product ? pixels : nullptr;
  }

  // What `id`, which one node reads, is the mean of.
  std::optional<Mean> mean_of(uint32_t id) {
    const Node* pool = inner(id, NodeKind::GlobalAvgPooling2d, 1);
    if (pool != nullptr && keeps_dims(*pool)) return Mean{pool->inputs[0], true, 1, nullptr};
    const Node* product = product_of(id);
    if (product == nullptr || product->inputs[2] != kNoId || !is_part_of_each(product->inputs[1])) {
      return std::nullopt;
    }
    Mean mean = {product->inputs[0], false, dims(product->inputs[1]).back(), nullptr};
    const Node* cut = inner(mean.source, NodeKind::StaticReshape, 1);
    pool = inner(cut == nullptr ? mean.source : cut->inputs[0], NodeKind::GlobalAvgPooling2d, 1);
    if (pool == nullptr || !keeps_dims(*pool)) return mean;
    mean.source = pool->inputs[0];
    mean.is_of_pixels = true;
    mean.cut = cut;
    return mean;
  }

  // The constant of one element and the other operand of a sum.
  std::optional<std::pair<float, uint32_t>> number_and_other(const Node& sum) const {
    for (const size_t i : {0, 1}) {
      const uint32_t id = sum.inputs[i];
      if (!value(id).is_constant() || count_elements(dims(id)) != 1) continue;
      const float* number = floats(id);
      if (number != nullptr) return std::make_pair(*number, sum.inputs[1 - i]);
    }
    return std::nullopt;
  }

  std::optional<Norm> find(const Node& root) {
    Norm norm;
    const uint32_t factor = root.outputs[0];
    if (inner(factor, root.kind, 1) == nullptr) return std::nullopt;
    const Node* sum = inner(root.inputs[0], NodeKind::Add, 1);
    const auto of_sum = sum == nullptr ? std::nullopt : number_and_other(*sum);
    if (!of_sum || !std::isfinite(of_sum->first) || of_sum->first < 0) return std::nullopt;
    norm.epsilon = of_sum->first;
    const std::optional<Mean> variance = mean_of(of_sum->second);
    if (!variance) return std::nullopt;
    const bool is_cut = variance->cut != nullptr;
    const Node* image = is_cut ? inner(variance->source, NodeKind::StaticReshape, 1) : nullptr;
    if (is_cut && image == nullptr) return std::nullopt;
    const Node* square = inner(is_cut ? image->inputs[0] : variance->source, NodeKind::Square, 1);
    const Node* rest =
        square == nullptr ? nullptr : inner(square->inputs[0], NodeKind::Subtract, 2);
    if (rest == nullptr) return std::nullopt;
    const std::optional<Mean> mean = mean_of(rest->inputs[1]);
    if (!mean || mean->is_of_pixels != variance->is_of_pixels ||
        mean->group_channels != variance->group_channels || (mean->cut != nullptr) != is_cut) {
      return std::nullopt;
    }
    norm.mean = *mean;
    norm.x = mean->source;
    const Node* product = scaled(*rest, root);
    if (product == nullptr) return std::nullopt;
    norm.y = product->outputs[0];
    norm.last = producers_[norm.y];
    const bool fits = is_cut ? join_groups(*rest, *image, *variance, &norm)
                             : rest->inputs[0] == norm.x && has_one_group(norm);
    if (!fits || !is_float(norm.x)) return std::nullopt;
    join_factors(&norm);
    // Means of pixels alone are of any number of channels.
    const bool is_of_each = norm.mean.is_of_pixels && norm.mean.group_channels == 1;
    if (is_of_each && !has_fixed_channels(norm)) return std::nullopt;
    return norm;
  }

  // Whether x has as many channels in all runs: by its factors, or by what makes it.
  bool has_fixed_channels(const Norm& norm) const {
    if (sizes_are_fixed_ || norm.weight != kNoId || norm.bias != kNoId) return true;
    size_t maker = producers_[norm.x];
    while (maker != kNobody && keeps_channels(graph_.nodes[maker])) {
      maker = producers_[graph_.nodes[maker].inputs[0]];
    }
    return maker != kNobody && find_node_kind(graph_.nodes[maker].kind)->has_bias;
  }

  static bool keeps_channels(const Node& node) {
    const NodeFamily family = find_node_kind(node.kind)->family;
    return family == NodeFamily::kUnary || family == NodeFamily::kPooling ||
           family == NodeFamily::kLeakyRelu || family == NodeFamily::kElu;
  }

  // What `rest` is multiplied by the inverse root in, or divided by the root.
  const Node* scaled(const Node& rest, const Node& root) const {
    const bool divides = root.kind == NodeKind::SquareRoot;
    const Node* node = reader(root.outputs[0], divides ? NodeKind::Div : NodeKind::Multiply);
    if (node == nullptr) return nullptr;
    const bool is_left = node->inputs[0] == rest.outputs[0];
    const bool is_right = node->inputs[1] == rest.outputs[0];
    return is_left || (is_right && !divides) ? node : nullptr;
  }

  // All channels, or each for itself.
  bool has_one_group(const Norm& norm) const {
    const uint32_t channels = dims(norm.x).back();
    return norm.mean.group_channels == channels ||
           (norm.mean.is_of_pixels && norm.mean.group_channels == 1);
  }

  // Whether the reshapes are those of norms.h for all sizes that the last of them takes.
  bool join_groups(const Node& rest, const Node& image, const Mean& variance, Norm* norm) {
    const Node* to_groups = inner(rest.inputs[0], NodeKind::StaticReshape, 1);
    const Node* back = reader(norm->y, NodeKind::StaticReshape);
    if (to_groups == nullptr || back == nullptr || to_groups->inputs[0] != norm->x) return false;
    const Dims& x = dims(norm->x);
    if (x.size() != 4) return false;
    const uint32_t c = norm->mean.group_channels, g = x[3] / c;
    const Dims groups = {x[0], x[1] * x[2], g, c};
    const Dims means = {x[0], 1, g, c};
    if (uint64_t{g} * c != x[3] || dims(rest.inputs[0]) != groups || dims(image.outputs[0]) != x ||
        dims(back->outputs[0]) != x || dims(norm->mean.cut->outputs[0]) != means ||
        dims(variance.cut->outputs[0]) != means) {
      return false;
    }
    const size_t free = free_dim(*back);
    if (free == 3) return false;
    if (free < 4) {
      const bool is_batch = free == 0;
      if (free_dim(image) != free || free_dim(*to_groups) != (is_batch ? 0 : 1)) return false;
      for (const Node* cut : {norm->mean.cut, variance.cut}) {
        const size_t of_cut = free_dim(*cut);
        if (is_batch ? of_cut != 0 : of_cut != 0 && of_cut != 4) return false;
      }
    }
    norm->sizes = back->list;
    norm->y = back->outputs[0];
    norm->last = producers_[norm->y];
    return true;
  }

  // The dim that a reshape works out; 4 for none.
  static size_t free_dim(const Node& reshape) {
    const auto found = std::find(reshape.list.begin(), reshape.list.end(), 0u);
    return found == reshape.list.end() ? 4 : static_cast<size_t>(found - reshape.list.begin());
  }

  // A constant with an element for each channel.
  bool is_by_channel(uint32_t id, const Norm& norm) const {
    const Dims& x = dims(norm.x);
    return value(id).is_constant() && is_float(id) && !dims(id).empty() &&
           dims(id).back() == x.back() && count_elements(dims(id)) == x.back() &&
           dims(id).size() <= x.size();
  }

  void join_factors(Norm* norm) const {
    for (const bool is_bias : {false, true}) {
      const Node* node = reader(norm->y, is_bias ? NodeKind::Add : NodeKind::Multiply);
      if (node == nullptr) continue;
      const uint32_t other = node->inputs[node->inputs[0] == norm->y ? 1 : 0];
      if (!is_by_channel(other, *norm)) continue;
      (is_bias ? norm->bias : norm->weight) = other;
      norm->y = node->outputs[0];
      norm->last = producers_[norm->y];
    }
  }

  Node node_of(const Norm& norm) const {
    Node node;
    node.kind = kNorm;
    node.inputs = {norm.x, norm.weight, norm.bias};
    node.outputs = {norm.y};
    node.debug_handle = graph_.nodes[norm.last].debug_handle;
    const Dims& x = dims(norm.x);
    node.axis = static_cast<uint32_t>(x.size()) - (norm.mean.is_of_pixels ? 3 : 1);
    node.channels.groups = x.back() / norm.mean.group_channels;
    node.channels.group_input_channels = norm.mean.group_channels;
    node.channels.group_output_channels = norm.mean.group_channels;
    node.scalar = norm.epsilon;
    node.list2 = norm.sizes;
    return node;
  }

  Graph& graph_;
  const ReadFloats& read_;
  const bool sizes_are_fixed_;
  std::vector<size_t> producers_;  // by value, the node
  std::vector<size_t> readers_;    // by value, one of the nodes
  std::vector<uint32_t> counts_;   // by value, how many inputs of nodes it is
  std::map<uint32_t, bool> parts_;
};

}  // namespace

void join_norms(Graph* graph, const ReadFloats& read, bool sizes_are_fixed) {
  if (Finder(graph, read, sizes_are_fixed).run()) remove_dead_nodes(graph);
}

}  // namespace petrel::backends::xnnpack
