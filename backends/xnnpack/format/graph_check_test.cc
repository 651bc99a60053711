// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/graph_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

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
    {"ElementsOf64Bits",
     [](Graph& g) {
       g.values[0].dims = {65536, 65536, 65536, 65536};
     },
     "need more than 2^34 bytes"},
    {"RankSeven", [](Graph& g) { g.values[0].dims = {1, 1, 1, 1, 1, 1, 1}; }, "rank is 7"},
    {"StoredScalesWithoutBytes",
     [](Graph& g) {
       ConstantData& scales = g.constants.emplace_back();
       scales.size = 8;
       g.values[0].quant.scales = {static_cast<uint32_t>(g.constants.size() - 1), nullptr, 3};
     },
     "value 0: the constant of its scales has 8 bytes, 3 scales need 12"},
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
    {"RangeUpToNan",
     [](Graph& g) { g.nodes[1].output_max = std::numeric_limits<float>::quiet_NaN(); },
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

TEST(Implemented, RefusesOtherTypes) {
  Graph graph = small_cnn();
  EXPECT_TRUE(check_implemented(graph).ok());
  graph.values[3].datatype = Datatype::BF16;
  EXPECT_EQ(check_implemented(graph).text(), "value 3: datatype BF16 is not supported");
  EXPECT_EQ(check_implemented(graph).kind(), Problem::Kind::kUnsupported);
  graph.values[3].datatype = Datatype::FP16;
  EXPECT_EQ(check_implemented(graph).text(),
            "node 0 (Conv2d): takes FP32 by FP32 and FP32 to FP16");
  graph = small_cnn();
  graph.values[1].quantization = Quantization::kPerChannel;
  EXPECT_EQ(check_implemented(graph).text(),
            "value 1: datatype FP32 with its quantisation is not supported");
}

TEST(Implemented, RefusesOtherNodes) {
  Graph graph = small_cnn();
  graph.nodes[1].kind = NodeKind::ScaledDotProductAttention;
  EXPECT_EQ(check_implemented(graph).text(), "node 1 (ScaledDotProductAttention) is not supported");
}

}  // namespace
}  // namespace petrel::backends::xnnpack
