// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/graph_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "backends/xnnpack/format/shape_rules.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

using ::testing::HasSubstr;

struct Damage {
  const char* name;
  std::function<void(Graph&)> apply;
  const char* text;
};

class DamagedGraphs : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedGraphs, AreRefusedByName) {
  Graph graph = small_cnn();
  ASSERT_TRUE(check_graph(graph).ok());
  GetParam().apply(graph);
  const Problem problem = check_graph(graph);
  EXPECT_FALSE(problem.ok());
  EXPECT_THAT(problem.text(), HasSubstr(GetParam().text));
}

// small_cnn: values 0 x, 1 filter, 2 bias, 3 h, 4 y; nodes 0 Conv2d, 1 Clamp.
const Damage kDamages[] = {
    {"EmptyDim", [](Graph& g) { g.values[3].dims[1] = 0; }, "value 3: dim 1 is 0, must be in"},
    {"HugeDim", [](Graph& g) { g.values[0].dims[0] = 0x80000000; }, "value 0: dim 0 is 21474836"},
    {"HugeValue",
     [](Graph& g) {
       g.values[0].dims = {65536, 65536, 65536};
     },
     "need more than 2^34 bytes"},
    {"RankSeven", [](Graph& g) { g.values[0].dims = {1, 1, 1, 1, 1, 1, 1}; }, "rank is 7"},
    {"UnknownFlag", [](Graph& g) { g.values[3].flags = 4; }, "value 3: flags are 4"},
    {"PassThrough", [](Graph& g) { g.values[0].flags = 3; }, "value 0: flags are 3"},
    {"ExternalConstant", [](Graph& g) { g.values[0].constant = 1; }, "external and a constant"},
    {"ExternalIdOfInnerValue", [](Graph& g) { g.values[3].external_id = 0; },
     "neither input nor output"},
    {"ExternalIdTooLarge", [](Graph& g) { g.values[4].external_id = 2; },
     "external_id is 2, must be below 2"},
    {"ExternalIdTwice", [](Graph& g) { g.values[4].external_id = 0; }, "external_id 0 is taken"},
    {"ExternalMissing", [](Graph& g) { g.num_externs = 3; }, "no value has external id 2 of 3"},
    {"UseBeforeDefinition", [](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); },
     "node 0 (Clamp): input 0 is value 3, which nothing has computed yet"},
    {"ReadsItself", [](Graph& g) { g.nodes[1].inputs[0] = 4; }, "which nothing has computed yet"},
    {"ComputedTwice", [](Graph& g) { g.nodes[1].outputs[0] = 3; }, "computed before"},
    {"WritesInput", [](Graph& g) { g.nodes[1].outputs[0] = 0; }, "is an input, a constant"},
    {"WritesConstant", [](Graph& g) { g.nodes[1].outputs[0] = 1; }, "is an input, a constant"},
    {"OutputOfNobody", [](Graph& g) { g.nodes.pop_back(); }, "no node computes this output"},
    {"NoOutput",
     [](Graph& g) {
       g.values[4].flags = 0;
       g.values[4].external_id = kNoId;
       g.num_externs = 1;
     },
     "none of its values is an output"},
    {"ComputedFilter", [](Graph& g) { g.nodes[0].inputs[1] = 0; },
     "filter is value 0, which is not a constant"},
    {"ComputedBias", [](Graph& g) { g.nodes[0].inputs[2] = 0; }, "bias is value 0"},
    {"WrongOutputDims", [](Graph& g) { g.values[3].dims[3] = 4; },
     "output is value 3 of [1,4,4,4], must be [1,4,4,3]"},
    {"NodeFlag", [](Graph& g) { g.nodes[0].flags = 4; }, "flags are 4, may be 0"},
    {"RangeOfNan",
     [](Graph& g) { g.nodes[1].output_min = std::numeric_limits<float>::quiet_NaN(); },
     "output range"},
    {"EmptyRange", [](Graph& g) { g.nodes[1].output_max = -1; }, "output range"},
    {"KernelLargerThanFilter", [](Graph& g) { g.nodes[0].window.kernel_height = 4; },
     "filter is [3,3,3,2], must be [3,4,3,2]"},
    {"GroupsTimesChannelsOverflow",
     [](Graph& g) {
       g.nodes[0].channels.groups = 0x80000001;
       g.nodes[0].channels.group_input_channels = 2;
     },
     "do not fit input"},
    {"NoGroups", [](Graph& g) { g.nodes[0].channels.groups = 0; }, "do not fit input"},
    {"NoStride", [](Graph& g) { g.nodes[0].window.stride_width = 0; }, "must not be 0"},
    {"NoDilation", [](Graph& g) { g.nodes[0].window.dilation_width = 0; }, "must not be 0"},
    {"HugeDilation", [](Graph& g) { g.nodes[0].window.dilation_height = 0xFFFFFFFF; },
     "the kernel reaches over 8589934591 elements, the padded input has 6"},
    {"HugePadding", [](Graph& g) { g.nodes[0].window.padding_top = 0xFFFFFFFF; },
     "padding is 4294967296, must be below 2^31"},
    {"SmallBias", [](Graph& g) { g.values[2].dims = {2}; }, "bias is [2], must be [3]"},
    {"FilterOfRankThree",
     [](Graph& g) {
       g.values[1].dims = {3, 3, 6};
     },
     "filter is [3,3,6]"},
    {"InputOfRankThree",
     [](Graph& g) {
       g.values[0].dims = {1, 16, 2};
     },
     "must have rank 4"},
};

INSTANTIATE_TEST_SUITE_P(All, DamagedGraphs, ::testing::ValuesIn(kDamages),
                         [](const auto& info) { return info.param.name; });

// --- rules by kind ---

struct Rule {
  const char* name;
  NodeKind kind;
  std::vector<Dims> inputs;
  std::function<void(Node&)> apply;
  Dims output;  // empty: refused
};

class ShapeRules : public ::testing::TestWithParam<Rule> {};

TEST_P(ShapeRules, GiveTheOutput) {
  const Rule& rule = GetParam();
  Node node;
  node.kind = rule.kind;
  if (rule.apply) rule.apply(node);
  std::vector<const Dims*> inputs;
  for (const Dims& dims : rule.inputs) inputs.push_back(dims.empty() ? nullptr : &dims);
  Dims out;
  const Problem problem = infer_output_dims(node, inputs, &out);
  EXPECT_EQ(problem.ok(), !rule.output.empty()) << problem.text();
  if (problem.ok()) {
    EXPECT_EQ(out, rule.output);
  }
}

void square_window(Node& node, uint32_t kernel, uint32_t stride, uint32_t padding,
                   uint32_t dilation = 1) {
  node.window = {padding, padding, padding, padding,  kernel,
                 kernel,  stride,  stride,  dilation, dilation};
}
void channels(Node& node, uint32_t groups, uint32_t in, uint32_t out) {
  node.channels.groups = groups;
  node.channels.group_input_channels = in;
  node.channels.group_output_channels = out;
}

const Rule kRules[] = {
    {"ConvStrideTwo",
     NodeKind::Conv2d,
     {{1, 7, 7, 3}, {8, 3, 3, 3}, {8}},
     [](Node& n) { square_window(n, 3, 2, 1), channels(n, 1, 3, 8); },
     {1, 4, 4, 8}},
    {"ConvWithoutBias",
     NodeKind::Conv2d,
     {{1, 7, 7, 4}, {8, 3, 3, 2}, {}},
     [](Node& n) { square_window(n, 3, 1, 0, 2), channels(n, 2, 2, 4); },
     {1, 3, 3, 8}},
    {"Depthwise",
     NodeKind::DepthwiseConv2d,
     {{1, 5, 5, 4}, {1, 3, 3, 8}, {8}},
     [](Node& n) { square_window(n, 3, 1, 1), channels(n, 4, 1, 2); },
     {1, 5, 5, 8}},
    {"DepthwiseOfTwoChannels",
     NodeKind::DepthwiseConv2d,
     {{1, 5, 5, 4}, {1, 3, 3, 4}, {}},
     [](Node& n) { square_window(n, 3, 1, 1), channels(n, 2, 2, 2); },
     {}},
    {"Transposed",
     NodeKind::ConvTranspose2d,
     {{1, 5, 4, 4}, {3, 3, 3, 4}, {3}},
     [](Node& n) {
       square_window(n, 3, 2, 1), channels(n, 1, 4, 3);
       n.channels.adjustment_height = 1;
     },
     {1, 10, 7, 3}},
    {"TransposedAdjustmentOfAStride",
     NodeKind::ConvTranspose2d,
     {{1, 5, 4, 4}, {3, 3, 3, 4}, {}},
     [](Node& n) {
       square_window(n, 3, 2, 1), channels(n, 1, 4, 3);
       n.channels.adjustment_width = 2;
     },
     {}},
    // 2 * (2^31 - 1) rows are reached, of which all but the last few are cut off.
    {"TransposedWithPaddingOf32Bits",
     NodeKind::ConvTranspose2d,
     {{1, 1, 1, 4}, {3, 3, 3, 4}, {}},
     [](Node& n) {
       square_window(n, 3, 1, 0), channels(n, 1, 4, 3);
       n.window.dilation_height = 0x80000000;
       n.window.padding_top = n.window.padding_bottom = 0x7FFFFFFF;
     },
     {}},
    {"TransposedOfNothing",
     NodeKind::ConvTranspose2d,
     {{1, 1, 1, 4}, {3, 3, 3, 4}, {}},
     [](Node& n) { square_window(n, 3, 1, 3), channels(n, 1, 4, 3); },
     {}},
    {"FullyConnected", NodeKind::FullyConnected, {{2, 3, 5}, {4, 5}, {4}}, nullptr, {2, 3, 4}},
    {"FullyConnectedTransposed",
     NodeKind::FullyConnected,
     {{3, 5}, {5, 4}, {}},
     [](Node& n) { n.flags = kTransposeWeights; },
     {3, 4}},
    {"FullyConnectedMismatch", NodeKind::FullyConnected, {{3, 5}, {5, 4}, {}}, nullptr, {}},
    {"MaxPool",
     NodeKind::MaxPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 3, 2, 1); },
     {1, 4, 3, 3}},
    {"MaxPoolOfOne",
     NodeKind::MaxPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 1, 1, 0); },
     {}},
    {"MaxPoolLargeStride",
     NodeKind::MaxPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 2, 3, 0); },
     {}},
    {"PoolOfPadding",
     NodeKind::AvgPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 2, 1, 2); },
     {}},
    {"AvgPoolDilated",
     NodeKind::AvgPooling2d,
     {{1, 7, 6, 3}},
     [](Node& n) { square_window(n, 2, 1, 0, 2); },
     {}},
    {"PoolOfTooManyPointers",
     NodeKind::AvgPooling2d,
     {{1, 60000, 60000, 1}},
     [](Node& n) { square_window(n, 100, 1, 0); },
     {}},
    {"GlobalAverage",
     NodeKind::GlobalAvgPooling2d,
     {{2, 5, 6, 3}},
     [](Node& n) { n.flags = kKeepDims; },
     {2, 1, 1, 3}},
    {"GlobalAverageReduced", NodeKind::GlobalAvgPooling2d, {{2, 5, 6, 3}}, nullptr, {2, 3}},
    {"GlobalAverageOfAMatrix", NodeKind::GlobalAvgPooling2d, {{2, 5}}, nullptr, {}},
    {"Broadcast", NodeKind::Add, {{2, 1, 4}, {3, 1}}, nullptr, {2, 3, 4}},
    {"BroadcastMismatch", NodeKind::Add, {{2, 3}, {2}}, nullptr, {}},
    {"BroadcastTooLarge", NodeKind::Add, {{1 << 20, 1}, {1, 1 << 20}}, nullptr, {}},
    {"Product", NodeKind::BatchMatrixMultiply, {{2, 3, 5}, {1, 5, 4}}, nullptr, {2, 3, 4}},
    {"ProductTransposed",
     NodeKind::BatchMatrixMultiply,
     {{2, 3, 5}, {2, 4, 5}},
     [](Node& n) { n.flags = kTransposeWeights; },
     {2, 3, 4}},
    {"ProductMismatch", NodeKind::BatchMatrixMultiply, {{2, 3, 5}, {2, 4, 5}}, nullptr, {}},
    {"ProductOfMatrices", NodeKind::BatchMatrixMultiply, {{3, 5}, {5, 4}}, nullptr, {}},
    {"Transpose",
     NodeKind::StaticTranspose,
     {{2, 3, 4}},
     [](Node& n) {
       n.list = {2, 0, 1};
     },
     {4, 2, 3}},
    {"TransposeTwice",
     NodeKind::StaticTranspose,
     {{2, 3, 4}},
     [](Node& n) {
       n.list = {2, 0, 2};
     },
     {}},
    {"TransposeOut",
     NodeKind::StaticTranspose,
     {{2, 3, 4}},
     [](Node& n) {
       n.list = {0, 1, 3};
     },
     {}},
    {"TransposeShort",
     NodeKind::StaticTranspose,
     {{2, 3, 4}},
     [](Node& n) {
       n.list = {1, 0};
     },
     {}},
    {"Reshape",
     NodeKind::StaticReshape,
     {{2, 3, 4}},
     [](Node& n) {
       n.list = {6, 0};
     },
     {6, 4}},
    {"ReshapeTwoUnknown",
     NodeKind::StaticReshape,
     {{2, 3, 4}},
     [](Node& n) {
       n.list = {0, 0};
     },
     {}},
    {"ReshapeMismatch",
     NodeKind::StaticReshape,
     {{2, 3, 4}},
     [](Node& n) {
       n.list = {5, 0};
     },
     {}},
    {"ReshapeOverflow",
     NodeKind::StaticReshape,
     {{2, 3, 4}},
     [](Node& n) {
       n.list = {0x80000000, 0x80000000, 4, 6};
     },
     {}},
    {"Slice",
     NodeKind::StaticSlice,
     {{5, 6}},
     [](Node& n) {
       n.list = {1, 0};
       n.list2 = {4, 0};
     },
     {4, 6}},
    {"SliceOut",
     NodeKind::StaticSlice,
     {{5, 6}},
     [](Node& n) {
       n.list = {2, 0};
       n.list2 = {4, 6};
     },
     {}},
    {"SliceWraps",
     NodeKind::StaticSlice,
     {{5, 6}},
     [](Node& n) {
       n.list = {0xFFFFFFFF, 0};
       n.list2 = {2, 6};
     },
     {}},
    {"SliceOfRestFromTheMiddle",
     NodeKind::StaticSlice,
     {{5}},
     [](Node& n) {
       n.list = {1};
       n.list2 = {0};
     },
     {}},
    {"Pad",
     NodeKind::StaticConstantPad,
     {{5, 6}},
     [](Node& n) {
       n.list = {1, 0};
       n.list2 = {2, 3};
     },
     {8, 9}},
    {"PadOverflow",
     NodeKind::StaticConstantPad,
     {{5}},
     [](Node& n) {
       n.list = {0x7FFFFFFF};
       n.list2 = {0};
     },
     {}},
    {"Resize",
     NodeKind::StaticResizeBilinear2d,
     {{1, 5, 6, 2}},
     [](Node& n) {
       n.new_height = 7;
       n.new_width = 8;
     },
     {1, 7, 8, 2}},
    {"ResizeFromALongSide",
     NodeKind::StaticResizeBilinear2d,
     {{1, kMaxResizedSide + 1, 1, 1}},
     [](Node& n) {
       n.new_height = 2;
       n.new_width = 1;
     },
     {}},
    {"ResizeToALongSide",
     NodeKind::StaticResizeBilinear2d,
     {{1, 2, 1, 1}},
     [](Node& n) {
       n.new_height = 1;
       n.new_width = kMaxResizedSide + 1;
     },
     {}},
    {"ResizeToTheLongestSide",
     NodeKind::StaticResizeBilinear2d,
     {{1, 2, 1, 1}},
     [](Node& n) {
       n.new_height = 1;
       n.new_width = kMaxResizedSide;
     },
     {1, 1, kMaxResizedSide, 1}},
    {"ResizeToTooManyPixels",
     NodeKind::StaticResizeBilinear2d,
     {{1, 2, 1, 1}},
     [](Node& n) {
       n.new_height = 1 << 15;
       n.new_width = (1 << 14) + 1;
     },
     {}},
    {"ResizeToNothing", NodeKind::StaticResizeBilinear2d, {{1, 5, 6, 2}}, nullptr, {}},
    {"Concatenate",
     NodeKind::Concatenate3,
     {{2, 1}, {2, 2}, {2, 3}},
     [](Node& n) { n.axis = 1; },
     {2, 6}},
    {"ConcatenateMismatch",
     NodeKind::Concatenate2,
     {{2, 1}, {3, 1}},
     [](Node& n) { n.axis = 1; },
     {}},
    {"ConcatenateRanks", NodeKind::Concatenate2, {{2, 1}, {2}}, [](Node& n) { n.axis = 0; }, {}},
    {"ConcatenateAxis", NodeKind::Concatenate2, {{2, 1}, {2, 1}}, [](Node& n) { n.axis = 2; }, {}},
    {"EluOfInfinity",
     NodeKind::Elu,
     {{2}},
     [](Node& n) { n.scalar = std::numeric_limits<float>::infinity(); },
     {}},
};

INSTANTIATE_TEST_SUITE_P(All, ShapeRules, ::testing::ValuesIn(kRules),
                         [](const auto& info) { return info.param.name; });

TEST(Implemented, RefusesOtherTypes) {
  Graph graph = small_cnn();
  EXPECT_TRUE(check_implemented(graph).ok());
  graph.values[3].datatype = Datatype::FP16;
  EXPECT_EQ(check_implemented(graph).text(), "value 3: datatype FP16 is not supported");
  EXPECT_EQ(check_implemented(graph).kind(), Problem::Kind::kUnsupported);
  graph = small_cnn();
  graph.values[1].quantization = Quantization::kPerChannel;
  EXPECT_EQ(check_implemented(graph).text(),
            "value 1: datatype FP32 with its quantisation is not supported");
}

}  // namespace
}  // namespace petrel::backends::xnnpack
