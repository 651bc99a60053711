// SPDX-License-Identifier: Apache-2.0
//
// Seeds of the fuzz target payload: payload_seeds FOLDER. Graphs that are right, of
// one node of most kinds, and some that are known to have ended XNNPACK.

#include <filesystem>
#include <fstream>
#include <string>

#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/payload_writer.h"
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
  write(folder / "all_kinds", graph_of_all_kinds());
  write(folder / "dead_chain", dead_chain());
  write(folder / "product", product(false));
  write(folder / "batched_product", product(true));
  write(folder / "dynamic_8bit", linear(Datatype::QCINT8, true));
  write(folder / "dynamic_4bit", linear(Datatype::QCINT4, true));
  write(folder / "dynamic_groups", linear(Datatype::QBINT4, true));
  write(folder / "floats_by_8bit", linear(Datatype::QCINT8, false));
  write(folder / "integer_convolution", integer_convolution());
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
