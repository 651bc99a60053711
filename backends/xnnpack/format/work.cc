// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/work.h"

#include <algorithm>

#include "backends/xnnpack/format/attention.h"
#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// Multiply-adds, or elements of a window, for each element of the output.
uint64_t depth(const Graph& graph, const Node& node) {
  switch (node.kind) {
    case NodeKind::Conv2d:
    case NodeKind::DepthwiseConv2d:
    case NodeKind::ConvTranspose2d:
      return saturating_multiply(
          saturating_multiply(node.window.kernel_height, node.window.kernel_width),
          node.channels.group_input_channels);
    case NodeKind::AvgPooling2d:
    case NodeKind::MaxPooling2d:
    case NodeKind::ArgMaxPooling2d:
      return saturating_multiply(node.window.kernel_height, node.window.kernel_width);
    case NodeKind::FullyConnected:
    case NodeKind::BatchMatrixMultiply: {
      const Dims& dims = graph.values[node.inputs[0]].dims;
      return dims.empty() ? 1 : dims.back();
    }
    default:
      return 1;
  }
}

// Elements that are read. A slice reads those that it writes.
uint64_t inputs_of(const Graph& graph, const Node& node) {
  if (find_node_kind(node.kind)->family == NodeFamily::kSlice) return 0;
  uint64_t sum = 0;
  for (const uint32_t id : node.inputs) {
    if (id == kNoId) continue;
    if (__builtin_add_overflow(sum, count_elements(graph.values[id].dims), &sum)) {
      return UINT64_MAX;
    }
  }
  return sum;
}

uint64_t outputs_of(const Graph& graph, const Node& node) {
  if (node.kind == NodeKind::ScaledDotProductAttention) return attention_multiply_adds(graph, node);
  uint64_t sum = 0;
  for (const uint32_t id : node.outputs) {
    const uint64_t elements = count_elements(graph.values[id].dims);
    if (__builtin_add_overflow(sum, saturating_multiply(elements, depth(graph, node)), &sum)) {
      return UINT64_MAX;
    }
  }
  return sum;
}

constexpr uint64_t kNodeWork = 16;

// Below it a node runs on the calling thread: about three microseconds of one core.
constexpr uint64_t kLargeNode = 200'000;
// What takes as long as a node without elements.
constexpr uint64_t kLeastNode = 10'000;
// What takes as long as an element that is not multiplied.
constexpr uint64_t kElement = 8;

bool is_product(const Node& node) {
  switch (node.kind) {
    case NodeKind::Conv2d:
    case NodeKind::DepthwiseConv2d:
    case NodeKind::ConvTranspose2d:
    case NodeKind::FullyConnected:
    case NodeKind::BatchMatrixMultiply:
    case NodeKind::ScaledDotProductAttention:
      return true;
    default:
      return false;
  }
}

}  // namespace

uint64_t count_call_work(const Graph& graph) {
  return graph.nodes.size() * kNodeWork + graph.values.size();
}

bool gains_by_threads(const Graph& graph) {
  uint64_t large = 0;
  uint64_t small = 0;
  for (const Node& node : graph.nodes) {
    const uint64_t most = std::max(inputs_of(graph, node), outputs_of(graph, node));
    const uint64_t work =
        is_product(node) ? outputs_of(graph, node) : saturating_multiply(most, kElement);
    uint64_t* const sum = work >= kLargeNode ? &large : &small;
    if (__builtin_add_overflow(*sum, std::max(work, kLeastNode), sum)) return true;
  }
  return large >= small / 2;
}

uint64_t count_multiply_adds(const Graph& graph) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    const uint64_t work = std::max(inputs_of(graph, node), outputs_of(graph, node));
    if (__builtin_add_overflow(sum, work, &sum)) return UINT64_MAX;
  }
  return sum;
}

}  // namespace petrel::backends::xnnpack
