// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/test_graphs.h"

#include <utility>

#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {

uint32_t GraphBuilder::add(Dims dims, uint32_t flags) {
  Value value;
  value.dims = std::move(dims);
  value.flags = flags;
  if (flags != 0) value.external_id = graph.num_externs++;
  graph.values.push_back(std::move(value));
  return static_cast<uint32_t>(graph.values.size() - 1);
}

uint32_t GraphBuilder::input(Dims dims) { return add(std::move(dims), kExternalInput); }
uint32_t GraphBuilder::output(Dims dims) { return add(std::move(dims), kExternalOutput); }
uint32_t GraphBuilder::inner(Dims dims) { return add(std::move(dims), 0); }

uint32_t GraphBuilder::constant(Dims dims, const std::string& key) {
  const uint32_t id = add(std::move(dims), 0);
  ConstantData data;
  data.key = key;
  graph.constants.push_back(std::move(data));
  graph.values[id].constant = static_cast<uint32_t>(graph.constants.size() - 1);
  return id;
}

Node& GraphBuilder::node(NodeKind kind, std::vector<uint32_t> inputs,
                         std::vector<uint32_t> outputs) {
  Node node;
  node.kind = kind;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back();
}

Graph small_cnn() {
  GraphBuilder b;
  const uint32_t x = b.input({1, 4, 4, 2});
  const uint32_t filter = b.constant({3, 3, 3, 2}, "filter");
  const uint32_t bias = b.constant({3}, "bias");
  const uint32_t h = b.inner({1, 4, 4, 3});
  const uint32_t y = b.output({1, 4, 4, 3});
  Node& conv = b.node(NodeKind::Conv2d, {x, filter, bias}, {h});
  conv.window.padding_top = conv.window.padding_bottom = 1;
  conv.window.padding_left = conv.window.padding_right = 1;
  conv.window.kernel_height = conv.window.kernel_width = 3;
  conv.channels.group_input_channels = 2;
  conv.channels.group_output_channels = 3;
  b.node(NodeKind::Clamp, {h}, {y}).output_min = 0;
  return std::move(b.graph);
}

Graph graph_of_all_kinds() {
  GraphBuilder b;
  for (uint32_t i = 0; i < 6; ++i) b.input({i + 1, 2, 3});
  const uint32_t weight = b.constant({4, 5}, "weight");
  const uint32_t y = b.output({2});
  const uint32_t z = b.output({3});
  for (int number = 1; number <= static_cast<int>(NodeKind::MAX); ++number) {
    const NodeKindInfo& info = *find_node_kind(static_cast<NodeKind>(number));
    std::vector<uint32_t> inputs;
    for (uint32_t i = 0; i < info.num_inputs; ++i) inputs.push_back(i);
    if (info.has_bias) {
      inputs[1] = weight;
      inputs[2] = number % 2 == 0 ? kNoId : 3;
    }
    std::vector<uint32_t> outputs = {y, z};
    outputs.resize(info.num_outputs);
    Node& node = b.node(info.kind, inputs, outputs);
    const auto n = static_cast<uint32_t>(number * 20);
    node.flags = n + 1;
    node.debug_handle = n + 2;
    if (number % 3 == 0) node.output_min = static_cast<float>(-number);
    if (number % 4 == 0) node.output_max = static_cast<float>(number);
    switch (info.family) {
      case NodeFamily::kConvolution:
        node.channels = {n + 3, n + 4, n + 5, n + 6, n + 7};
        [[fallthrough]];
      case NodeFamily::kPooling:
        node.window = {n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9};
        break;
      case NodeFamily::kArgMaxPooling:
        node.window = {n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 4, n + 5, 1, 1};
        break;
      case NodeFamily::kSlice:
      case NodeFamily::kPad:
        node.list2 = {n + 2, n + 3};
        [[fallthrough]];
      case NodeFamily::kTranspose:
      case NodeFamily::kReshape:
        node.list = {n, n + 1};
        break;
      case NodeFamily::kResize:
        node.new_height = n;
        node.new_width = n + 1;
        break;
      case NodeFamily::kConcatenate:
        node.axis = n;
        break;
      default:
        break;
    }
    const bool has_scalar = info.family == NodeFamily::kPad ||
                            info.family == NodeFamily::kLeakyRelu ||
                            info.family == NodeFamily::kElu;
    if (has_scalar) node.scalar = static_cast<float>(number) + 0.5f;
  }
  // A payload has at least as many.
  while (b.graph.values.size() < b.graph.nodes.size()) b.inner({1});
  return std::move(b.graph);
}

}  // namespace petrel::backends::xnnpack
