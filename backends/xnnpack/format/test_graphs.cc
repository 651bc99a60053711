// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/test_graphs.h"

#include <limits>
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

Graph graph_of_families() {
  GraphBuilder b;
  const uint32_t x = b.input({1, 2, 6, 6});
  const uint32_t k = b.input({2});
  const uint32_t f1 = b.constant({4, 3, 3, 2}, "f1");
  const uint32_t b1 = b.constant({4}, "b1");
  const uint32_t f2 = b.constant({1, 3, 3, 4}, "f2");
  const uint32_t w = b.constant({3, 4}, "w");
  const uint32_t c = b.constant({4}, "b1");
  const uint32_t image = b.inner({1, 6, 6, 2});
  b.node(NodeKind::StaticTranspose, {x}, {image}).list = {0, 2, 3, 1};
  const uint32_t scaled = b.inner({1, 6, 6, 2});
  b.node(NodeKind::Multiply, {image, k}, {scaled});
  const auto window = [](Node& node, uint32_t kernel, uint32_t padding, uint32_t stride) {
    node.window = {padding, padding, padding, padding, kernel, kernel, stride, stride, 1, 1};
  };
  const uint32_t conv = b.inner({1, 6, 6, 4});
  {
    Node& node = b.node(NodeKind::Conv2d, {scaled, f1, b1}, {conv});
    window(node, 3, 1, 1);
    node.channels = {1, 2, 4, 0, 0};
    node.output_min = 0;
  }
  const uint32_t depthwise = b.inner({1, 6, 6, 4});
  {
    Node& node = b.node(NodeKind::DepthwiseConv2d, {conv, f2, kNoId}, {depthwise});
    window(node, 3, 1, 1);
    node.channels = {4, 1, 1, 0, 0};
  }
  const uint32_t sum = b.inner({1, 6, 6, 4});
  b.node(NodeKind::Add, {depthwise, c}, {sum});
  const uint32_t pool = b.inner({1, 3, 3, 4});
  window(b.node(NodeKind::MaxPooling2d, {sum}, {pool}), 2, 0, 2);
  const uint32_t average = b.inner({1, 3, 3, 4});
  window(b.node(NodeKind::AvgPooling2d, {sum}, {average}), 3, 1, 2);
  const uint32_t joined = b.inner({1, 3, 3, 8});
  b.node(NodeKind::Concatenate2, {pool, average}, {joined}).axis = 3;
  const uint32_t cut = b.inner({1, 3, 3, 4});
  {
    Node& node = b.node(NodeKind::StaticSlice, {joined}, {cut});
    node.list = {0, 0, 0, 2};
    node.list2 = {1, 3, 3, 4};
  }
  const uint32_t padded = b.inner({1, 4, 5, 4});
  {
    Node& node = b.node(NodeKind::StaticConstantPad, {cut}, {padded});
    node.list = {0, 1, 1, 0};
    node.list2 = {0, 0, 1, 0};
  }
  const uint32_t resized = b.inner({1, 5, 7, 4});
  {
    Node& node = b.node(NodeKind::StaticResizeBilinear2d, {padded}, {resized});
    node.new_height = 5;
    node.new_width = 7;
  }
  const uint32_t mean = b.inner({1, 1, 1, 4});
  b.node(NodeKind::GlobalAvgPooling2d, {resized}, {mean}).flags = kKeepDims;
  const uint32_t flat = b.inner({1, 4});
  b.node(NodeKind::StaticReshape, {mean}, {flat}).list = {1, 4};
  const uint32_t logits = b.inner({1, 3});
  b.node(NodeKind::FullyConnected, {flat, w, kNoId}, {logits});
  const uint32_t y = b.output({1, 3});
  b.node(NodeKind::Softmax, {logits}, {y});
  return std::move(b.graph);
}

Graph graph_of_norms() {
  GraphBuilder b;
  const Dims image = {2, 3, 5, 12}, groups = {2, 15, 4, 3}, means = {2, 1, 4, 3};
  const uint32_t x = b.input(image);
  const uint32_t w = b.constant({12}, "w"), bias = b.constant({12}, "b");
  const uint32_t epsilon = b.constant({1}, "epsilon");
  const uint32_t third = b.constant({1, 3}, "/3"), twelfth = b.constant({1, 12}, "/12");
  const auto add = [&b](NodeKind kind, std::vector<uint32_t> inputs, Dims dims) {
    const uint32_t out = b.inner(std::move(dims));
    b.node(kind, std::move(inputs), {out});
    return out;
  };
  const auto reshape = [&](uint32_t from, const Dims& dims) {
    const uint32_t out = add(NodeKind::StaticReshape, {from}, dims);
    b.graph.nodes.back().list = dims;
    return out;
  };
  // Divided by its spread, whose square is `variance`.
  const auto scale = [&](uint32_t rest, uint32_t variance) {
    const Dims dims = b.graph.values[variance].dims;
    const uint32_t sum = add(NodeKind::Add, {variance, epsilon}, dims);
    const uint32_t factor = add(NodeKind::ReciprocalSquareRoot, {sum}, dims);
    return add(NodeKind::Multiply, {rest, factor}, b.graph.values[rest].dims);
  };
  const auto mean_of_groups = [&](uint32_t from) {
    const uint32_t mean = add(NodeKind::GlobalAvgPooling2d, {from}, {2, 1, 1, 12});
    b.graph.nodes.back().flags = kKeepDims;
    return add(NodeKind::FullyConnected, {reshape(mean, means), third, kNoId}, {2, 1, 4, 1});
  };
  const uint32_t mean = mean_of_groups(x);
  uint32_t rest = add(NodeKind::Subtract, {reshape(x, groups), mean}, groups);
  const uint32_t squares = reshape(add(NodeKind::Square, {rest}, groups), image);
  const uint32_t grouped = reshape(scale(rest, mean_of_groups(squares)), image);
  const uint32_t y =
      add(NodeKind::Add, {add(NodeKind::Multiply, {grouped, w}, image), bias}, image);
  const auto mean_of_rows = [&](uint32_t from) {
    return add(NodeKind::FullyConnected, {from, twelfth, kNoId}, {2, 3, 5, 1});
  };
  rest = add(NodeKind::Subtract, {y, mean_of_rows(y)}, image);
  const uint32_t rows = scale(rest, mean_of_rows(add(NodeKind::Square, {rest}, image)));
  b.node(NodeKind::Multiply, {rows, w}, {b.output(image)});
  return std::move(b.graph);
}

Graph masked_attention() {
  GraphBuilder b;
  const uint32_t q = b.input({1, 2, 20, 8}), k = b.input({1, 2, 20, 8});
  const uint32_t v = b.input({1, 2, 20, 12});
  const uint32_t mask = b.input({20, 20}), seen = b.input({20, 20});
  const uint32_t scale = b.constant({1}, "scale");
  const uint32_t scaled = b.inner({1, 2, 20, 8});
  b.node(NodeKind::Multiply, {q, scale}, {scaled});
  uint32_t scores[4];
  for (uint32_t& id : scores) id = b.inner({1, 2, 20, 20});
  b.node(NodeKind::BatchMatrixMultiply, {scaled, k}, {scores[0]}).flags = kTransposeWeights;
  b.node(NodeKind::Add, {scores[0], mask}, {scores[1]}).output_min =
      std::numeric_limits<float>::lowest();
  b.node(NodeKind::Softmax, {scores[1]}, {scores[2]});
  b.node(NodeKind::Multiply, {scores[2], seen}, {scores[3]});
  b.node(NodeKind::BatchMatrixMultiply, {scores[3], v}, {b.output({1, 2, 20, 12})});
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
