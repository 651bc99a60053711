// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/trimmed_windows.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace petrel::backends::xnnpack {
namespace {

constexpr uint64_t kMostPadding = INT32_MAX;

// Rows or columns of a window.
struct Side {
  uint64_t kernel, stride, dilation;
  uint64_t before, after;  // padding
};

// Has a convolution of `size` inputs compute `count` outputs from `first` on. False where padding
// cannot do so: the first window would begin inside of the input, or the last one end there.
bool trim(uint64_t size, uint64_t first, uint64_t count, Side* side) {
  if (first * side->stride > side->before) return false;
  side->before -= first * side->stride;
  const uint64_t window = (side->kernel - 1) * side->dilation + 1;
  const uint64_t needed = (count - 1) * side->stride + window;
  const uint64_t there = size + side->before;
  side->after = needed > there ? needed - there : 0;
  return there + side->after - needed < side->stride;
}

// The same of a transposed one, which had `size` outputs.
bool trim_transposed(uint64_t size, uint64_t first, uint64_t count, Side* side) {
  side->before += first;
  side->after += size - first - count;
  return side->before + side->after <= kMostPadding;
}

bool is_convolution(const Node& node) {
  return node.kind == NodeKind::Conv2d || node.kind == NodeKind::DepthwiseConv2d ||
         node.kind == NodeKind::ConvTranspose2d;
}

bool is_plain_float(const Value& value) {
  return value.datatype == Datatype::FP32 && value.quantization == Quantization::kNone;
}

// Whether the slice takes whole images' channels, and something of their rows and columns.
bool cuts_pixels(const Graph& graph, const Node& slice) {
  const Dims& from = graph.values[slice.inputs[0]].dims;
  const Dims& to = graph.values[slice.outputs[0]].dims;
  return from.size() == 4 && from[0] == to[0] && from[3] == to[3] && to[1] != 0 && to[2] != 0;
}

bool trim_node(const Graph& graph, const Node& slice, Node* node) {
  const Dims& input = graph.values[node->inputs[0]].dims;
  const Dims& from = graph.values[slice.inputs[0]].dims;
  const Dims& to = graph.values[slice.outputs[0]].dims;
  Window& w = node->window;
  Side rows = {w.kernel_height, w.stride_height, w.dilation_height, w.padding_top,
               w.padding_bottom};
  Side columns = {w.kernel_width, w.stride_width, w.dilation_width, w.padding_left,
                  w.padding_right};
  const bool is_possible = node->kind == NodeKind::ConvTranspose2d
                               ? trim_transposed(from[1], slice.list[1], to[1], &rows) &&
                                     trim_transposed(from[2], slice.list[2], to[2], &columns)
                               : trim(input[1], slice.list[1], to[1], &rows) &&
                                     trim(input[2], slice.list[2], to[2], &columns);
  if (!is_possible) return false;
  w.padding_top = static_cast<uint32_t>(rows.before);
  w.padding_bottom = static_cast<uint32_t>(rows.after);
  w.padding_left = static_cast<uint32_t>(columns.before);
  w.padding_right = static_cast<uint32_t>(columns.after);
  return true;
}

// By value, how often it is read.
std::vector<uint32_t> count_readers(const Graph& graph) {
  std::vector<uint32_t> readers(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const uint32_t id : node.inputs) {
      if (id != kNoId) ++readers[id];
    }
  }
  return readers;
}

}  // namespace

bool trim_windows(Graph* graph) {
  const std::vector<uint32_t> readers = count_readers(*graph);
  const auto has_one_reader = [&](uint32_t id) {
    const Value& value = graph->values[id];
    return readers[id] == 1 && !value.is_output() && is_plain_float(value);
  };
  constexpr size_t kNone = SIZE_MAX;
  // By value, the convolution that makes it for one reader.
  std::vector<size_t> makers(graph->values.size(), kNone);
  std::vector<Node> left;
  for (Node& node : graph->nodes) {
    const size_t maker = node.kind == NodeKind::StaticSlice ? makers[node.inputs[0]] : kNone;
    if (maker != kNone && cuts_pixels(*graph, node) && trim_node(*graph, node, &left[maker])) {
      left[maker].outputs[0] = node.outputs[0];
      if (has_one_reader(node.outputs[0])) makers[node.outputs[0]] = maker;
      continue;
    }
    if (is_convolution(node) && has_one_reader(node.outputs[0])) {
      makers[node.outputs[0]] = left.size();
    }
    left.push_back(std::move(node));
  }
  const bool has_any = left.size() != graph->nodes.size();
  graph->nodes = std::move(left);
  return has_any;
}

}  // namespace petrel::backends::xnnpack
