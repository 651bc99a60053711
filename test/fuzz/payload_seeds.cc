// SPDX-License-Identifier: Apache-2.0
//
// Seeds of the fuzz target payload: payload_seeds FOLDER. Graphs that are right, of
// one node of most kinds, and some that are known to have ended XNNPACK.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/random_steps.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

void write(const std::filesystem::path& path, const Graph& graph) {
  const std::vector<uint8_t> bytes = write_payload(graph);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

Graph unary(NodeKind kind) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 3, 4});
  b.node(kind, {x}, {b.output({2, 3, 4})});
  return std::move(b.graph);
}

Graph binary(NodeKind kind) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 3, 4});
  const uint32_t y = b.input({3, 1});
  b.node(kind, {x, y}, {b.output({2, 3, 4})});
  return std::move(b.graph);
}

Graph product(bool is_batched) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 3, 4});
  if (is_batched) {
    const uint32_t y = b.input({2, 4, 5});
    b.node(NodeKind::BatchMatrixMultiply, {x, y}, {b.output({2, 3, 5})});
  } else {
    const uint32_t filter = b.constant({5, 4}, "w");
    const uint32_t bias = b.constant({5}, "-b");
    b.node(NodeKind::FullyConnected, {x, filter, bias}, {b.output({2, 3, 5})});
  }
  return std::move(b.graph);
}

void set_scales(GraphBuilder* b, uint32_t id, Quantization quantization, uint32_t count) {
  QuantParams& quant = b->graph.values[id].quant;
  b->graph.values[id].quantization = quantization;
  ConstantData data;
  data.key = "scales";
  b->graph.constants.push_back(std::move(data));
  quant.scales.constant = static_cast<uint32_t>(b->graph.constants.size() - 1);
  quant.scales.count = count;
}

// Rows that are quantised at run time by a filter of `datatype`; with floats as they are
// for others.
Graph linear(Datatype datatype, bool quantises) {
  GraphBuilder b;
  uint32_t x = b.input({3, 64});
  const uint32_t y = b.output({3, 5});
  if (quantises) {
    const uint32_t q = b.inner({3, 64});
    b.graph.values[q].datatype = Datatype::QDINT8;
    b.graph.values[q].quantization = Quantization::kPerTokenDynamic;
    b.graph.values[q].quant.nonbatch_dims = 1;
    b.node(NodeKind::Convert, {x}, {q});
    x = q;
  }
  const uint32_t filter = b.constant({5, 64}, "w");
  b.graph.values[filter].datatype = datatype;
  const bool has_groups = datatype == Datatype::QBINT4;
  set_scales(&b, filter, has_groups ? Quantization::kPerGroup : Quantization::kPerChannel,
             has_groups ? 10 : 5);
  if (has_groups) b.graph.values[filter].quant.group_size = 32;
  const uint32_t bias = b.constant({5}, "b");
  b.node(NodeKind::FullyConnected, {x, filter, bias}, {y});
  return std::move(b.graph);
}

// A convolution of integers between conversions.
Graph integer_convolution() {
  GraphBuilder b;
  const uint32_t x = b.input({1, 4, 4, 2});
  const uint32_t y = b.output({1, 4, 4, 3});
  const uint32_t from = b.inner({1, 4, 4, 2});
  const uint32_t to = b.inner({1, 4, 4, 3});
  for (const uint32_t id : {from, to}) {
    b.graph.values[id].datatype = Datatype::QINT8;
    b.graph.values[id].quantization = Quantization::kPerTensor;
    b.graph.values[id].quant.scale = 0.25f;
    b.graph.values[id].quant.zero_point = 3;
  }
  const uint32_t filter = b.constant({3, 3, 3, 2}, "w");
  b.graph.values[filter].datatype = Datatype::QCINT8;
  set_scales(&b, filter, Quantization::kPerChannel, 3);
  b.node(NodeKind::Convert, {x}, {from});
  Node& conv = b.node(NodeKind::Conv2d, {from, filter, kNoId}, {to});
  conv.window = {1, 1, 1, 1, 3, 3, 1, 1, 1, 1};
  conv.channels.group_input_channels = 2;
  conv.channels.group_output_channels = 3;
  b.node(NodeKind::Convert, {to}, {y});
  return std::move(b.graph);
}

// A window over an image; the kinds that have a filter get one.
Graph windowed(NodeKind kind, const Window& window) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 7, 6, 3});
  std::vector<uint32_t> inputs = {x};
  Node node;
  node.kind = kind;
  node.window = window;
  if (find_node_kind(kind)->has_bias) {
    const bool is_depthwise = kind == NodeKind::DepthwiseConv2d;
    node.channels = {is_depthwise ? 3u : 1u, is_depthwise ? 1u : 3u, is_depthwise ? 1u : 5u, 0, 0};
    const uint32_t height = window.kernel_height, width = window.kernel_width;
    inputs.push_back(
        b.constant(is_depthwise ? Dims{1, height, width, 3} : Dims{5, height, width, 3}, "w"));
    inputs.push_back(kNoId);
  }
  std::vector<const Dims*> dims;
  for (const uint32_t id : inputs) dims.push_back(id == kNoId ? nullptr : &b.graph.values[id].dims);
  Dims out;
  if (!infer_output_dims(node, dims, &out).ok()) std::abort();
  Node& added = b.node(kind, inputs, {b.output(out)});
  added.window = node.window;
  added.channels = node.channels;
  return std::move(b.graph);
}

void write_windows(const std::filesystem::path& folder) {
  // Padding, kernel, stride, dilation.
  const Window wide = {2, 2, 2, 2, 5, 5, 2, 1, 1, 1};
  const Window dilated = {1, 1, 1, 1, 3, 3, 1, 1, 2, 2};
  const Window odd = {0, 1, 1, 0, 2, 4, 2, 2, 1, 1};
  for (const auto& [name, window] :
       {std::pair("wide", wide), std::pair("dilated", dilated), std::pair("odd", odd)}) {
    const std::string end = std::string("_") + name;
    write(folder / ("max_pool" + end), windowed(NodeKind::MaxPooling2d, window));
    write(folder / ("convolution" + end), windowed(NodeKind::Conv2d, window));
    write(folder / ("depthwise" + end), windowed(NodeKind::DepthwiseConv2d, window));
    write(folder / ("transposed" + end), windowed(NodeKind::ConvTranspose2d, window));
  }
  write(folder / "average_pool_wide", windowed(NodeKind::AvgPooling2d, wide));
}

// Levels of one scale and zero point.
Graph integer(NodeKind kind) {
  GraphBuilder b;
  const size_t num_inputs = find_node_kind(kind)->num_inputs;
  std::vector<uint32_t> inputs;
  for (size_t i = 0; i < num_inputs; ++i) inputs.push_back(b.input({2, 3, 4}));
  Node& node = b.node(kind, inputs, {b.output({2, 3, 4})});
  node.scalar = 0.5f;
  for (Value& value : b.graph.values) {
    value.datatype = Datatype::QINT8;
    value.quantization = Quantization::kPerTensor;
    value.quant.scale = 0.5f;
    value.quant.zero_point = -3;
  }
  return std::move(b.graph);
}

// Parts of an image cut out and joined again, with channels first between two turns.
Graph moved_channels() {
  GraphBuilder b;
  const uint32_t x = b.input({1, 4, 5, 6});
  const uint32_t turned = b.inner({1, 6, 4, 5});
  const uint32_t halves[] = {b.inner({1, 3, 4, 5}), b.inner({1, 3, 4, 5})};
  const uint32_t joined = b.inner({1, 6, 4, 5});
  b.node(NodeKind::StaticTranspose, {x}, {turned}).list = {0, 3, 1, 2};
  for (uint32_t i = 0; i < 2; ++i) {
    Node& slice = b.node(NodeKind::StaticSlice, {turned}, {halves[i]});
    slice.list = {0, 3 * i, 0, 0};
    slice.list2 = {1, 3, 4, 5};
  }
  b.node(NodeKind::Concatenate2, {halves[1], halves[0]}, {joined}).axis = 1;
  b.node(NodeKind::StaticTranspose, {joined}, {b.output({1, 4, 5, 6})}).list = {0, 2, 3, 1};
  return std::move(b.graph);
}

// Nobody reads what it ends with: xnn_create_runtime removed such nodes one by one.
Graph dead_chain() {
  GraphBuilder b;
  const uint32_t x = b.input({2, 6});
  const uint32_t h = b.inner({2, 6});
  b.node(NodeKind::Abs, {x}, {h});
  b.node(NodeKind::Negate, {h}, {b.inner({2, 6})});
  b.node(NodeKind::Square, {x}, {b.output({2, 6})});
  return std::move(b.graph);
}

void write_all(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write(folder / "small_cnn", small_cnn());
  write(folder / "families", graph_of_families());
  write(folder / "norms", graph_of_norms());
  write(folder / "all_kinds", graph_of_all_kinds());
  write(folder / "dead_chain", dead_chain());
  write(folder / "product", product(false));
  write(folder / "batched_product", product(true));
  write(folder / "dynamic_8bit", linear(Datatype::QCINT8, true));
  write(folder / "dynamic_4bit", linear(Datatype::QCINT4, true));
  write(folder / "dynamic_groups", linear(Datatype::QBINT4, true));
  write(folder / "floats_by_8bit", linear(Datatype::QCINT8, false));
  write(folder / "integer_convolution", integer_convolution());
  write_windows(folder);
  write(folder / "moved_channels", moved_channels());
  write(folder / "attention", masked_attention());
  for (uint32_t seed = 0; seed < 12; ++seed) {
    write(folder / ("steps_" + std::to_string(seed)), RandomSteps(seed).graph());
  }
  for (const NodeKind kind : {NodeKind::Add, NodeKind::Subtract, NodeKind::Multiply,
                              NodeKind::LeakyRelu, NodeKind::Convert, NodeKind::Sigmoid}) {
    write(folder / (std::string("integer_") + find_node_kind(kind)->name), integer(kind));
  }
  for (int number = 1; number <= static_cast<int>(NodeKind::MAX); ++number) {
    const auto kind = static_cast<NodeKind>(number);
    const NodeKindInfo* const info = find_node_kind(kind);
    if (info == nullptr || info->num_outputs != 1 || info->has_bias) continue;
    if (info->num_inputs == 1) write(folder / info->name, unary(kind));
    if (info->num_inputs == 2) write(folder / info->name, binary(kind));
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  petrel::backends::xnnpack::write_all(argv[1]);
  return 0;
}
