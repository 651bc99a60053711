// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const float kScales[] = {0.5f, 0.25f, 0.125f};

Value quantized(Datatype datatype, Quantization quantization, Dims dims) {
  Value value;
  value.datatype = datatype;
  value.quantization = quantization;
  value.dims = std::move(dims);
  value.quant.scale = 0.5f;
  value.quant.scales.inline_data = reinterpret_cast<const uint8_t*>(kScales);
  value.quant.scales.count = 3;
  value.quant.group_size = 32;
  value.quant.nonbatch_dims = 1;
  value.constant = datatype == Datatype::QINT8 || datatype == Datatype::QDINT8 ? 0 : 1;
  return value;
}

Value per_tensor() { return quantized(Datatype::QINT8, Quantization::kPerTensor, {2, 3}); }
Value per_channel() { return quantized(Datatype::QCINT8, Quantization::kPerChannel, {3, 4}); }
Value per_group() { return quantized(Datatype::QBINT4, Quantization::kPerGroup, {3, 32}); }
Value per_token() { return quantized(Datatype::QDINT8, Quantization::kPerTokenDynamic, {2, 3}); }

struct ValueCase {
  const char* name;
  std::function<void(Value&)> change;
  const char* problem;  // of what; "" for none
  Value (*made)();
};

class QuantizedValue : public ::testing::TestWithParam<ValueCase> {};

TEST_P(QuantizedValue, IsChecked) {
  Value value = GetParam().made();
  EXPECT_TRUE(check_quantization(value).ok()) << check_quantization(value).text();
  GetParam().change(value);
  const std::string text = check_quantization(value).text();
  if (GetParam().problem[0] == '\0') {
    EXPECT_EQ(text, "");
  } else {
    EXPECT_THAT(text, HasSubstr(GetParam().problem));
  }
}

const ValueCase kValues[] = {
    {"LeastZeroPoint", [](Value& v) { v.quant.zero_point = -128; }, "", &per_tensor},
    {"ZeroPointBelow", [](Value& v) { v.quant.zero_point = -129; }, "zero_point is -129",
     &per_tensor},
    {"ZeroPointAbove", [](Value& v) { v.quant.zero_point = 128; }, "zero_point is 128",
     &per_tensor},
    {"ScaleZero", [](Value& v) { v.quant.scale = 0; }, "scale is 0", &per_tensor},
    {"ScaleNegative", [](Value& v) { v.quant.scale = -1; }, "scale is -1", &per_tensor},
    {"ScaleNaN", [](Value& v) { v.quant.scale = NAN; }, "scale is", &per_tensor},
    {"ScaleInfinite", [](Value& v) { v.quant.scale = INFINITY; }, "scale is inf", &per_tensor},
    {"ScaleDenormal", [](Value& v) { v.quant.scale = 1e-40f; }, "scale is", &per_tensor},
    {"OtherDatatype", [](Value& v) { v.datatype = Datatype::QUINT8; },
     "datatype QUINT8 with its quantisation is not supported", &per_tensor},
    {"BiasWithZeroPoint",
     [](Value& v) {
       v.datatype = Datatype::QINT32;
       v.constant = 1;
       v.quant.zero_point = 1;
     },
     "zero_point is 1", &per_tensor},
    {"BiasAtRunTime", [](Value& v) { v.datatype = Datatype::QINT32; }, "is for constants",
     &per_tensor},
    {"AxisOutside", [](Value& v) { v.quant.axis = 2; }, "channel_dim is 2", &per_channel},
    {"ScalesOfOtherAxis", [](Value& v) { v.quant.axis = 1; }, "has 3 scales, must have 4",
     &per_channel},
    {"TooFewScales", [](Value& v) { v.quant.scales.count = 2; }, "has 2 scales, must have 3",
     &per_channel},
    {"ChannelsAtRunTime", [](Value& v) { v.constant = 0; }, "is for constants", &per_channel},
    {"GroupOfZero", [](Value& v) { v.quant.group_size = 0; }, "group_size is 0", &per_group},
    {"GroupOfSixteen", [](Value& v) { v.quant.group_size = 16; }, "group_size is 16", &per_group},
    {"GroupThatDoesNotDivide", [](Value& v) { v.dims[1] = 48; }, "divides 48", &per_group},
    {"GroupsAlongChannels", [](Value& v) { v.quant.axis = 1; }, "channel_dim 1", &per_group},
    {"GroupsOfVector", [](Value& v) { v.dims = {32}; }, "of [32]", &per_group},
    {"TokensOfNoDims", [](Value& v) { v.quant.nonbatch_dims = 0; }, "num_nonbatch_dims is 0",
     &per_token},
    {"TokensOfMoreDims", [](Value& v) { v.quant.nonbatch_dims = 3; }, "num_nonbatch_dims is 3",
     &per_token},
    {"TokensOutside", [](Value& v) { v.flags = kExternalInput; }, "is external", &per_token},
    {"TokensOfConstant", [](Value& v) { v.constant = 1; }, "a constant", &per_token},
};

INSTANTIATE_TEST_SUITE_P(All, QuantizedValue, ::testing::ValuesIn(kValues),
                         [](const auto& info) { return info.param.name; });

TEST(Quantization, OfAScaleInTheListIsChecked) {
  const float scales[] = {0.5f, 0.0f, 0.5f};
  Value value = per_channel();
  value.quant.scales.inline_data = reinterpret_cast<const uint8_t*>(scales);
  EXPECT_THAT(check_quantization(value).text(), HasSubstr("scale 1: scale is 0"));
}

// x --> FullyConnected --> y, all of half but what the caller changes.
Graph half_product() {
  GraphBuilder b;
  const uint32_t x = b.input({2, 4});
  const uint32_t y = b.output({2, 3});
  const uint32_t filter = b.constant({3, 4}, "filter");
  const uint32_t bias = b.constant({3}, "bias");
  for (Value& value : b.graph.values) value.datatype = Datatype::FP16;
  b.node(NodeKind::FullyConnected, {x, filter, bias}, {y});
  return b.graph;
}

TEST(HalfProduct, TakesFiltersOfHalfOrOfFloats) {
  Graph graph = half_product();
  EXPECT_EQ(check_implemented(graph).text(), "");
  graph.values[graph.nodes[0].inputs[1]].datatype = Datatype::FP32;
  EXPECT_THAT(check_implemented(graph).text(), HasSubstr("takes FP16 by FP32 and FP16 to FP16"));
  graph.values[graph.nodes[0].inputs[2]].datatype = Datatype::FP32;
  EXPECT_EQ(check_implemented(graph).text(), "");
  graph.values[graph.nodes[0].outputs[0]].datatype = Datatype::FP32;
  EXPECT_THAT(check_implemented(graph).text(), HasSubstr("takes FP16 by FP32 and FP32 to FP32"));
}

TEST(HalfProduct, OfAConvolutionHasFiltersOfFloats) {
  Graph graph = small_cnn();
  const Node& conv = graph.nodes[0];
  graph.values[conv.inputs[0]].datatype = Datatype::FP16;
  graph.values[conv.outputs[0]].datatype = Datatype::FP16;
  EXPECT_THAT(check_implemented(graph).text(), Not(HasSubstr("node 0")));
  graph.values[conv.inputs[1]].datatype = Datatype::FP16;
  EXPECT_THAT(check_implemented(graph).text(), HasSubstr("node 0 (Conv2d): takes FP16 by FP16"));
}

// [2,64] of halves --Convert--> QDINT8 --`kind` by [3,64] and "bias"--> [2,3] of halves
Graph levels_of_halves(Datatype filter_type) {
  static const float kScales[] = {0.5f, 0.25f, 0.125f, 1, 2, 3};
  GraphBuilder b;
  const uint32_t x = b.input({2, 64});
  const uint32_t y = b.output({2, 3});
  const uint32_t levels = b.inner({2, 64});
  const uint32_t filter = b.constant({3, 64}, "filter");
  const uint32_t bias = b.constant({3}, "bias");
  for (const uint32_t id : {x, y}) b.graph.values[id].datatype = Datatype::FP16;
  Value& value = b.graph.values[levels];
  value.datatype = Datatype::QDINT8;
  value.quantization = Quantization::kPerTokenDynamic;
  value.quant.nonbatch_dims = 1;
  Value& stored = b.graph.values[filter];
  const bool has_groups = filter_type == Datatype::QBINT4;
  stored.datatype = filter_type;
  stored.quantization = has_groups ? Quantization::kPerGroup : Quantization::kPerChannel;
  stored.quant.group_size = has_groups ? 32 : 0;
  stored.quant.scales.inline_data = reinterpret_cast<const uint8_t*>(kScales);
  stored.quant.scales.count = has_groups ? 6 : 3;
  b.node(NodeKind::Convert, {x}, {levels});
  b.node(NodeKind::FullyConnected, {levels, filter, bias}, {y});
  return std::move(b.graph);
}

TEST(HalfProduct, OfLevelsThatAreChosenAtRunTime) {
  for (const Datatype filter : {Datatype::QCINT8, Datatype::QCINT4, Datatype::QBINT4}) {
    const Problem problem = check_implemented(levels_of_halves(filter));
    EXPECT_TRUE(problem.ok()) << problem.text();
  }
  Graph graph = levels_of_halves(Datatype::QCINT8);
  graph.values[graph.nodes[1].inputs[2]].datatype = Datatype::FP16;
  EXPECT_THAT(check_implemented(graph).text(),
              HasSubstr("takes QDINT8 by QCINT8 and FP16 to FP16"));
  graph = levels_of_halves(Datatype::QCINT8);
  Value& levels = graph.values[graph.nodes[0].outputs[0]];
  levels.datatype = Datatype::QINT8;
  levels.quantization = Quantization::kPerTensor;
  levels.quant.scale = 1;
  EXPECT_THAT(check_implemented(graph).text(), HasSubstr("converts FP16 to QINT8"));
}

TEST(HalfProduct, MixesWithFloatsInConversionsOnly) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 4});
  const uint32_t y = b.output({2, 4});
  b.graph.values[y].datatype = Datatype::FP16;
  b.node(NodeKind::Convert, {x}, {y});
  EXPECT_EQ(check_implemented(b.graph).text(), "");
  b.graph.nodes[0].kind = NodeKind::Sigmoid;
  EXPECT_THAT(check_implemented(b.graph).text(), HasSubstr("takes value 0 of FP32 and makes FP16"));
}

// x --Convert--> int8 --FullyConnected--> int8 --Convert--> y
Graph integer_product() {
  GraphBuilder b;
  const uint32_t x = b.input({2, 4});
  const uint32_t y = b.output({2, 3});
  const uint32_t in = b.inner({2, 4});
  const uint32_t filter = b.constant({3, 4}, "filter");
  const uint32_t bias = b.constant({3}, "bias");
  const uint32_t out = b.inner({2, 3});
  for (const uint32_t id : {in, out}) {
    b.graph.values[id].datatype = Datatype::QINT8;
    b.graph.values[id].quantization = Quantization::kPerTensor;
    b.graph.values[id].quant.scale = 0.5f;
    b.graph.values[id].quant.zero_point = -3;
  }
  Value& stored = b.graph.values[filter];
  stored.datatype = Datatype::QCINT8;
  stored.quantization = Quantization::kPerChannel;
  stored.quant = per_channel().quant;
  Value& sum = b.graph.values[bias];
  sum.datatype = Datatype::QCINT32;
  sum.quantization = Quantization::kPerChannel;
  sum.quant = per_channel().quant;
  b.node(NodeKind::Convert, {x}, {in});
  b.node(NodeKind::FullyConnected, {in, filter, bias}, {out});
  b.node(NodeKind::Convert, {out}, {y});
  return b.graph;
}

// One filter of many nodes costs each of them time for its channels.
TEST(Quantization, HasSoManyChannelsInAllNodes) {
  constexpr uint32_t kChannels = 1 << 20;
  Graph graph = integer_product();
  const Node product = graph.nodes[1];
  Value& filter = graph.values[product.inputs[1]];
  ConstantData scales;
  scales.key = "scales";
  graph.constants.push_back(scales);
  filter.dims = {kChannels, 4};
  filter.quant.scales = {static_cast<uint32_t>(graph.constants.size() - 1), nullptr, kChannels};
  graph.nodes.insert(graph.nodes.end(), 127, product);
  EXPECT_EQ(check_implemented(graph).text(), "");
  graph.nodes.push_back(product);
  EXPECT_EQ(
      check_implemented(graph).text(),
      "the nodes have 135266304 output channels with scales together, the limit is 134217728");
  EXPECT_EQ(check_implemented(graph).kind(), Problem::Kind::kUnsupported);
}

TEST(Quantization, IsReadAsItWasWritten) {
  const Graph graph = integer_product();
  EXPECT_EQ(check_implemented(graph).text(), "");
  EXPECT_EQ(check_graph(graph).text(), "");
  const std::vector<uint8_t> payload = write_payload(graph);
  Graph read;
  ASSERT_EQ(read_payload(payload.data(), payload.size(), &read).text(), "");
  ASSERT_EQ(read.values.size(), graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& a = graph.values[i];
    const Value& b = read.values[i];
    EXPECT_EQ(a.datatype, b.datatype) << i;
    EXPECT_EQ(a.quantization, b.quantization) << i;
    EXPECT_EQ(a.quant.scale * (a.quantization == Quantization::kPerTensor), b.quant.scale) << i;
    EXPECT_EQ(a.quant.zero_point, b.quant.zero_point) << i;
    if (a.quantization != Quantization::kPerChannel) continue;
    ASSERT_EQ(b.quant.scales.count, 3u) << i;
    EXPECT_EQ(std::memcmp(b.quant.scales.inline_data, kScales, sizeof(kScales)), 0) << i;
  }
}

struct NodeCase {
  const char* name;
  std::function<void(Graph&)> change;
  const char* problem;
};

class QuantizedNode : public ::testing::TestWithParam<NodeCase> {};

TEST_P(QuantizedNode, IsChecked) {
  Graph graph = integer_product();
  GetParam().change(graph);
  EXPECT_THAT(check_implemented(graph).text(), HasSubstr(GetParam().problem));
}

const NodeCase kNodes[] = {
    {"ChannelsOfTheInput",
     [](Graph& g) {
       g.nodes[1].flags = kTransposeWeights;
       g.values[3].dims = {4, 3};
       g.values[3].quant.axis = 1;
       g.nodes[1].flags = 0;
     },
     "channel_dim of its filter is 1, must be 0"},
    {"BiasOfFloats",
     [](Graph& g) {
       g.values[4].datatype = Datatype::FP32;
       g.values[4].quantization = Quantization::kNone;
     },
     "takes QINT8 by QCINT8 and FP32 to QINT8"},
    {"FilterWithZeroPoint",
     [](Graph& g) {
       g.values[3] = per_tensor();
       g.values[3].dims = {3, 4};
       g.values[3].constant = 1;
       g.values[3].quant.zero_point = 1;
       g.nodes[1].inputs[2] = kNoId;
     },
     "the zero point of its filter is 1, must be 0"},
    {"RatioOfScales",
     [](Graph& g) {
       g.values[3] = per_tensor();
       g.values[3].dims = {3, 4};
       g.values[3].constant = 1;
       g.values[3].quant.scale = 256;
       g.nodes[1].inputs[2] = kNoId;
     },
     "have the ratio 256"},
    {"SoftmaxOfIntegers",
     [](Graph& g) {
       g.nodes[1].kind = NodeKind::Softmax;
       g.nodes[1].inputs = {g.nodes[1].inputs[0]};
     },
     "takes value 2 of QINT8"},
    {"MoveToAnotherScale",
     [](Graph& g) {
       g.nodes[1].kind = NodeKind::Copy;
       g.nodes[1].inputs = {g.nodes[1].inputs[0]};
       g.values[5].quant.scale = 1;
     },
     "of another scale or zero point"},
    {"SlopeBelow",
     [](Graph& g) {
       g.nodes[1].kind = NodeKind::LeakyRelu;
       g.nodes[1].inputs = {g.nodes[1].inputs[0]};
       g.nodes[1].scalar = -128;
     },
     "have the ratio 128"},
    {"FilterOf4BitsTransposed",
     [](Graph& g) {
       g.nodes[1].flags = kTransposeWeights;
       g.nodes[1].inputs = {0, 3, kNoId};
       g.nodes[1].outputs = {1};
       g.values[3].datatype = Datatype::QCINT4;
       g.values[3].dims = {4, 3};
       g.values[3].quant.axis = 1;
     },
     "its filter has 4 bits and is transposed"},
    {"TokensOfTwoDims",
     [](Graph& g) {
       g.values[2] = per_token();
       g.values[2].quant.nonbatch_dims = 2;
       g.nodes[1].inputs[2] = kNoId;
       g.nodes[1].outputs = {1};
     },
     "num_nonbatch_dims of its input is 2, must be 1"},
    {"IntegersToFloats",
     [](Graph& g) {
       g.nodes[1].kind = NodeKind::Abs;
       g.nodes[1].inputs = {2};
       g.nodes[1].outputs = {1};
     },
     "takes value 2 of QINT8 and makes FP32"},
    {"ConversionOfFloats", [](Graph& g) { g.nodes[0].outputs[0] = 1; }, "converts FP32 to FP32"},
};

TEST(Quantization, OfSlopesEndsWhereMultipliersDo) {
  Graph graph = integer_product();
  Node& node = graph.nodes[1];
  node.kind = NodeKind::LeakyRelu;
  node.inputs = {node.inputs[0]};
  for (const float slope : {-0x1.FFFCp6f, -0x1p-8f, 0x1p-8f, 0x1p7f}) {
    node.scalar = slope;
    EXPECT_EQ(check_implemented(graph).text(), "") << slope;
  }
  for (const float slope : {-0x1.FFFC02p6f, -0x1p7f, -0x1.FFFFFEp-9f, 0.0f, 0x1.000002p7f}) {
    node.scalar = slope;
    EXPECT_THAT(check_implemented(graph).text(), HasSubstr("have the ratio")) << slope;
  }
}

INSTANTIATE_TEST_SUITE_P(All, QuantizedNode, ::testing::ValuesIn(kNodes),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace petrel::backends::xnnpack
