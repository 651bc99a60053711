// SPDX-License-Identifier: Apache-2.0
//
// Payloads of int8 values that pass every check, and of which XNNPACK as it comes
// writes elsewhere or computes something else; what_xnnpack_assumes.md has the list.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using DelegatePtr = std::unique_ptr<Delegate>;

DelegatePtr create(const Graph& graph, const TestMap* map) {
  const std::vector<uint8_t> payload = write_payload(graph);
  runtime::Result<DelegatePtr> made = Delegate::create(payload.data(), payload.size(), map, {});
  EXPECT_TRUE(made.ok()) << runtime::to_string(made.error());
  return made.ok() ? *std::move(made) : nullptr;
}

// Bytes under a key of a map of floats.
std::vector<float> bytes(const std::vector<int8_t>& data) {
  std::vector<float> out((data.size() + sizeof(float) - 1) / sizeof(float));
  std::memcpy(out.data(), data.data(), data.size());
  return out;
}

uint32_t int8(GraphBuilder& b, uint32_t id, float scale, int32_t zero_point = 0) {
  Value& value = b.graph.values[id];
  value.datatype = Datatype::QINT8;
  value.quantization = Quantization::kPerTensor;
  value.quant.scale = scale;
  value.quant.zero_point = zero_point;
  return id;
}

std::vector<int32_t> sizes_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

// Runs a graph of one input on -3, -2.5, -2, ...
std::vector<std::vector<float>> run(const Graph& graph, const TestMap* map) {
  const DelegatePtr delegate = create(graph, map);
  if (delegate == nullptr) return {};
  Arguments args;
  std::vector<std::pair<const float*, size_t>> outputs;
  for (const Value& value : graph.values) {
    if (value.flags == 0) continue;
    const size_t count = count_elements(value.dims);
    float* data = args.add(sizes_of(value.dims));
    for (size_t i = 0; i < count && value.is_input(); ++i) {
      data[i] = -3 + 0.5f * static_cast<float>(i);
    }
    if (value.is_output()) outputs.emplace_back(data, count);
  }
  EXPECT_EQ(args.run(*delegate), Error::Ok);
  std::vector<std::vector<float>> out;
  for (const auto& [data, count] : outputs) out.emplace_back(data, data + count);
  return out;
}

// As the wheel writes an average over images that is quantised by itself.
TEST(QuantizedGraph, AveragesLevelsToOthers) {
  GraphBuilder b;
  const uint32_t x = b.input({1, 3, 3, 2});
  const uint32_t y = b.output({1, 1, 1, 2});
  const uint32_t levels = int8(b, b.inner({1, 3, 3, 2}), 0.5f, -20);
  const uint32_t mean = int8(b, b.inner({1, 1, 1, 2}), 0.25f, 3);
  b.node(NodeKind::Convert, {x}, {levels});
  b.node(NodeKind::GlobalAvgPooling2d, {levels}, {mean}).flags = kKeepDims;
  b.node(NodeKind::Convert, {mean}, {y});
  const TestMap map;
  EXPECT_EQ(run(b.graph, &map), (std::vector<std::vector<float>>{{1.0f, 1.5f}}));
}

// x --Convert--> int8, one scale for each image --`kind`, 3 x 3, padded--> y
Graph convolution_of_images(NodeKind kind) {
  static const float kScales[] = {0.5f, 0.25f, 0.125f, 1};
  GraphBuilder b;
  const uint32_t x = b.input({1, 5, 5, 2});
  const uint32_t y = b.output({1, 5, 5, 4});
  const uint32_t images = b.inner({1, 5, 5, 2});
  b.graph.values[images].datatype = Datatype::QDINT8;
  b.graph.values[images].quantization = Quantization::kPerTokenDynamic;
  b.graph.values[images].quant.nonbatch_dims = 3;
  const uint32_t filter = b.constant({4, 3, 3, 2}, "filter");
  Value& stored = b.graph.values[filter];
  stored.datatype = Datatype::QCINT8;
  stored.quantization = Quantization::kPerChannel;
  stored.quant.scales.inline_data = reinterpret_cast<const uint8_t*>(kScales);
  stored.quant.scales.count = 4;
  b.node(NodeKind::Convert, {x}, {images});
  Node& node = b.node(kind, {images, filter, kNoId}, {y});
  node.window.padding_top = node.window.padding_bottom = 1;
  node.window.padding_left = node.window.padding_right = 1;
  node.window.kernel_height = node.window.kernel_width = 3;
  node.channels.group_input_channels = 2;
  node.channels.group_output_channels = 4;
  return std::move(b.graph);
}

// As many images, the first ones of the same list, each with a zero point of its own.
std::vector<float> convolve(Delegate& delegate, int32_t images) {
  constexpr int32_t kIn = 5 * 5 * 2, kOut = 5 * 5 * 4;
  Arguments args;
  float* x = args.add({images, 5, 5, 2});
  for (int32_t i = 0; i < images * kIn; ++i) {
    x[i] = std::sin(static_cast<float>(i)) + 0.01f * static_cast<float>(i / kIn);
  }
  const float* y = args.add({images, 5, 5, 4});
  EXPECT_EQ(args.run(delegate), Error::Ok);
  return {y, y + images * kOut};
}

TEST(QuantizedGraph, OfAConvolutionTakesAnyNumberOfImages) {
  TestMap map;
  std::vector<int8_t> filter;
  for (int i = 0; i < 72; ++i) filter.push_back(static_cast<int8_t>(i * 37 % 101 - 50));
  map.data["filter"] = bytes(filter);
  for (const NodeKind kind : {NodeKind::Conv2d, NodeKind::ConvTranspose2d}) {
    const Graph graph = convolution_of_images(kind);
    const DelegatePtr fresh = create(graph, &map);
    ASSERT_NE(fresh, nullptr);
    const std::vector<float> expected = convolve(*fresh, 64);
    EXPECT_NE(expected.front(), expected[100]);
    const DelegatePtr delegate = create(graph, &map);
    ASSERT_NE(delegate, nullptr);
    for (const int32_t images : {1, 64, 2, 3, 64, 1}) {
      const std::vector<float> found = convolve(*delegate, images);
      ASSERT_LE(found.size(), expected.size());
      EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin())) << images;
    }
  }
}

// x --Convert--> f16 [--Convert--> f32] --Convert--> levels --product--> f16 --Convert--> y,
// with the widened values written down or not.
Graph product_of_halves(NodeKind kind, bool is_written) {
  static const float kScales[] = {0.5f, 0.25f, 0.125f, 1};
  Graph made = convolution_of_images(kind);
  GraphBuilder b;
  b.graph = std::move(made);
  if (kind == NodeKind::FullyConnected) {
    b = GraphBuilder();
    b.input({7, 18});
    b.output({7, 4});
    const uint32_t rows = b.inner({7, 18});
    b.graph.values[rows].datatype = Datatype::QDINT8;
    b.graph.values[rows].quantization = Quantization::kPerTokenDynamic;
    b.graph.values[rows].quant.nonbatch_dims = 1;
    const uint32_t filter = b.constant({4, 18}, "filter");
    Value& stored = b.graph.values[filter];
    stored.datatype = Datatype::QCINT8;
    stored.quantization = Quantization::kPerChannel;
    stored.quant.scales.inline_data = reinterpret_cast<const uint8_t*>(kScales);
    stored.quant.scales.count = 4;
    b.node(NodeKind::Convert, {0}, {rows});
    b.node(kind, {rows, filter, kNoId}, {1});
  }
  const auto half = [&b](uint32_t like) {
    const uint32_t id = b.inner(b.graph.values[like].dims);
    b.graph.values[id].datatype = Datatype::FP16;
    return id;
  };
  const uint32_t x = half(0);
  const uint32_t y = half(1);
  std::vector<Node> nodes = std::move(b.graph.nodes);
  b.graph.nodes.clear();
  b.node(NodeKind::Convert, {0}, {x});
  nodes[0].inputs[0] = x;
  nodes[1].outputs[0] = y;
  if (is_written) {
    nodes[0].inputs[0] = b.inner(b.graph.values[0].dims);
    nodes[1].outputs[0] = b.inner(b.graph.values[1].dims);
    b.node(NodeKind::Convert, {x}, {nodes[0].inputs[0]});
  }
  b.graph.nodes.insert(b.graph.nodes.end(), nodes.begin(), nodes.end());
  if (is_written) b.node(NodeKind::Convert, {nodes[1].outputs[0]}, {y});
  b.node(NodeKind::Convert, {y}, {1});
  return std::move(b.graph);
}

TEST(QuantizedGraph, OfHalvesIsComputedInFloatsAndRounded) {
  TestMap map;
  std::vector<int8_t> filter;
  for (int i = 0; i < 72; ++i) filter.push_back(static_cast<int8_t>(i * 37 % 101 - 50));
  map.data["filter"] = bytes(filter);
  for (const NodeKind kind :
       {NodeKind::FullyConnected, NodeKind::Conv2d, NodeKind::ConvTranspose2d}) {
    const auto expected = run(product_of_halves(kind, true), &map);
    ASSERT_EQ(expected.size(), 1u);
    EXPECT_NE(expected[0].front(), expected[0].back());
    EXPECT_EQ(run(product_of_halves(kind, false), &map), expected);
  }
}

// Where XNNPACK fuses them, the pool gives elements of its own scale.
TEST(QuantizedGraph, OfAClampToAnotherScaleBehindAPool) {
  for (const auto& [scale, zero_point] : {std::pair<float, int32_t>{0.125f, 0}, {0.5f, 7}}) {
    GraphBuilder b;
    const uint32_t x = b.input({1, 2, 6, 1});
    const uint32_t y = b.output({1, 1, 3, 1});
    const uint32_t in = int8(b, b.inner({1, 2, 6, 1}), 0.5f);
    const uint32_t pooled = int8(b, b.inner({1, 1, 3, 1}), 0.5f);
    const uint32_t clamped = int8(b, b.inner({1, 1, 3, 1}), scale, zero_point);
    b.node(NodeKind::Convert, {x}, {in});
    Window& window = b.node(NodeKind::MaxPooling2d, {in}, {pooled}).window;
    window.kernel_height = window.kernel_width = 2;
    window.stride_height = window.stride_width = 2;
    b.node(NodeKind::Clamp, {pooled}, {clamped}).output_max = 2;
    b.node(NodeKind::Convert, {clamped}, {y});
    EXPECT_EQ(run(b.graph, nullptr), (std::vector<std::vector<float>>{{0.5f, 1.5f, 2}}));
  }
}

// Of one level: asserted to be two.
TEST(QuantizedGraph, OfAPoolWithBoundsWithinALevelRuns) {
  for (const bool is_fused : {false, true}) {
    GraphBuilder b;
    const uint32_t x = b.input({1, 2, 6, 1});
    const uint32_t y = b.output({1, 1, 3, 1});
    const uint32_t in = int8(b, b.inner({1, 2, 6, 1}), 0.5f);
    const uint32_t pooled = int8(b, b.inner({1, 1, 3, 1}), 0.5f);
    const uint32_t clamped = int8(b, b.inner({1, 1, 3, 1}), 0.5f);
    b.node(NodeKind::Convert, {x}, {in});
    Node& pool = b.node(NodeKind::MaxPooling2d, {in}, {pooled});
    pool.window.kernel_height = pool.window.kernel_width = 2;
    pool.window.stride_height = pool.window.stride_width = 2;
    if (!is_fused) {
      pool.output_min = 1;
      pool.output_max = 1.125f;
    }
    Node& clamp = b.node(NodeKind::Clamp, {pooled}, {clamped});
    clamp.output_min = 1;
    clamp.output_max = 1.125f;
    b.node(NodeKind::Convert, {clamped}, {y});
    EXPECT_EQ(run(b.graph, nullptr), (std::vector<std::vector<float>>{{1, 1, 1}})) << is_fused;
  }
}

// Products of [-3, -2.5, -2, -1.5] with ones and minus ones: -9, 9.
struct Clamped {
  GraphBuilder b;
  uint32_t in;
  uint32_t filter;

  explicit Clamped(const std::vector<float>& scales) {
    const uint32_t x = b.input({1, 4});
    std::vector<uint32_t> outputs;
    for (size_t i = 0; i < scales.size(); ++i) outputs.push_back(b.output({1, 2}));
    in = int8(b, b.inner({1, 4}), 0.5f);
    filter = int8(b, b.constant({2, 4}, "filter"), 1);
    b.node(NodeKind::Convert, {x}, {in});
    for (size_t i = 0; i < scales.size(); ++i) {
      const uint32_t product = int8(b, b.inner({1, 2}), 0.5f);
      const uint32_t clamped = int8(b, b.inner({1, 2}), scales[i]);
      b.node(NodeKind::FullyConnected, {in, filter, kNoId}, {product});
      b.node(NodeKind::Clamp, {product}, {clamped});
      b.node(NodeKind::Convert, {clamped}, {outputs[i]});
    }
  }
};

// One filter is packed once for products of one scale, whatever comes behind them.
TEST(QuantizedGraph, OfClampsToOtherScalesBehindProducts) {
  TestMap map;
  map.data["filter"] = bytes({1, 1, 1, 1, -1, -1, -1, -1});
  EXPECT_EQ(run(Clamped({1, 0.25f}).b.graph, &map),
            (std::vector<std::vector<float>>{{-9, 9}, {-9, 9}}));
}

// Its scale is no concern of the product's, whose ratio of scales is bounded.
TEST(QuantizedGraph, OfAClampToAFarScaleBehindAProductLoads) {
  TestMap map;
  map.data["filter"] = bytes({1, 1, 1, 1, -1, -1, -1, -1});
  const auto found = run(Clamped({0x1p-20f, 0x1p40f}).b.graph, &map);
  EXPECT_EQ(found, (std::vector<std::vector<float>>{{-0x1p-13f, 127 * 0x1p-20f}, {0, 0}}));
}

// Files of ExecuTorch give levels of uint8 to payloads of int8. From 0 to 127 both are the same;
// others would be taken for negative ones.
TEST(QuantizedGraph, TakesLevelsOfUint8WhereInt8HasThem) {
  GraphBuilder b;
  const uint32_t x = int8(b, b.input({1, 4}), 0.5f);
  const uint32_t y = int8(b, b.output({1, 4}), 0.5f, 3);
  b.node(NodeKind::Negate, {x}, {y});
  const DelegatePtr delegate = create(b.graph, nullptr);
  ASSERT_NE(delegate, nullptr);
  Arguments args;
  std::vector<uint8_t> in = {0, 1, 3, 127};
  std::vector<uint8_t> out(in.size(), 9);
  for (std::vector<uint8_t>* levels : {&in, &out}) {
    args.add({1, 4});
    args.retype(runtime::ScalarType::Byte, levels->data());
  }
  ASSERT_EQ(args.run(*delegate), Error::Ok);
  EXPECT_EQ(out, (std::vector<uint8_t>{3, 2, 0, 0}));
  in[2] = 128;
  EXPECT_EQ(args.run(*delegate), Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
