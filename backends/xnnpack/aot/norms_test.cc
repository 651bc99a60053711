// SPDX-License-Identifier: Apache-2.0
//
// Layer norms and group norms, by structure, and whether the runtime finds them again in what
// they become; test/xnnpack runs them.
#include "backends/xnnpack/format/norms.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/test_partition.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "backends/xnnpack/format/graph_check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using ::testing::HasSubstr;

std::string layer_norm(const std::string& x, const std::string& shape,
                       const std::string& factors = "none, none") {
  return absl::StrCat("method @forward<n: 1..9, m: 1..9>(%x: ", x, ") {\n%w = constant @w : f32",
                      shape, "\n%y = aten.layer_norm.default(%x, ", shape, ", ", factors,
                      ")\nreturn %y\n}");
}

std::string group_norm(const std::string& x, int groups, const std::string& channels,
                       const std::string& factors = "none, none") {
  return absl::StrCat("method @forward<n: 1..9, m: 1..9>(%x: ", x, ") {\n%w = constant @w : f32[",
                      channels, "]\n%y = aten.group_norm.default(%x, ", groups, ", ", factors,
                      ")\nreturn %y\n}");
}

std::string reason(const std::string& text) {
  const auto partition = parse_partition(text);
  if (partition == nullptr) return "(does not parse)";
  return xnnpack_backend()->partitioner().supports(*partition->nodes().back()).reason;
}

// The graph as the runtime makes it, as text.
std::string joined_text(const std::string& text) {
  const auto partition = parse_partition(text);
  if (partition == nullptr) return "";
  LoweredPartition lowered = lower_partition(*partition);
  std::map<uint32_t, std::vector<float>> read;
  const ReadFloats constant = [&](uint32_t id) {
    std::vector<float>& floats = read[id];
    floats = lowered.constant(id);
    return floats.data();
  };
  join_norms(&lowered.graph, constant, true);
  EXPECT_TRUE(check_graph(lowered.graph).ok()) << check_graph(lowered.graph).text();
  return to_text(lowered.graph);
}

TEST(Norms, ALayerNormIsProductsWithPartsOfOne) {
  EXPECT_EQ(lowered_text(layer_norm("f32[2,5,8]", "[8]", "%w, %w")),
            "FullyConnected #0 constant[1,8] -> #2[2,5,1]\n"
            "Subtract #0 #2 -> #3[2,5,8]\n"
            "Square #3 -> #4[2,5,8]\n"
            "FullyConnected #4 constant[1,8] -> #5[2,5,1]\n"
            "Add #5 constant[1] -> #7[2,5,1]\n"
            "ReciprocalSquareRoot #7 -> #8[2,5,1]\n"
            "Multiply #3 #8 -> #9[2,5,8]\n"
            "Multiply #9 constant[8] -> #11[2,5,8]\n"
            "Add #11 constant[8] -> #12[2,5,8]\n");
}

TEST(Norms, AGroupNormIsMeansOfPixelsAndChannels) {
  EXPECT_EQ(lowered_text(group_norm("f32[2,12,3,5]", 4, "12", "%w")),
            "StaticTranspose #0 -> #1[2,3,5,12]\n"
            "GlobalAvgPooling2d #1 -> #2[2,1,1,12]\n"
            "StaticReshape #2 -> #3[2,1,4,3]\n"
            "FullyConnected #3 constant[1,3] -> #5[2,1,4,1]\n"
            "StaticReshape #1 -> #6[2,15,4,3]\n"
            "Subtract #6 #5 -> #7[2,15,4,3]\n"
            "Square #7 -> #8[2,15,4,3]\n"
            "StaticReshape #8 -> #9[2,3,5,12]\n"
            "GlobalAvgPooling2d #9 -> #10[2,1,1,12]\n"
            "StaticReshape #10 -> #11[2,1,4,3]\n"
            "FullyConnected #11 constant[1,3] -> #12[2,1,4,1]\n"
            "Add #12 constant[1] -> #14[2,1,4,1]\n"
            "ReciprocalSquareRoot #14 -> #15[2,1,4,1]\n"
            "Multiply #7 #15 -> #16[2,15,4,3]\n"
            "StaticReshape #16 -> #17[2,3,5,12]\n"
            "Multiply #17 constant[12] -> #19[2,3,5,12]\n"
            "StaticTranspose #19 -> #20[2,12,3,5]\n");
}

// Whatever is made of them.
TEST(Norms, AreOneNodeOfTheRuntime) {
  const auto norms = [](const std::string& text) {
    const std::string joined = joined_text(text);
    EXPECT_EQ(joined.find("Square"), std::string::npos) << joined;
    EXPECT_EQ(joined.find("GlobalAvg"), std::string::npos) << joined;
    return joined;
  };
  EXPECT_EQ(norms(layer_norm("f32[2,5,8]", "[8]", "%w, %w")),
            "Norm #0 constant[8] constant[8] -> #12[2,5,8]\n");
  EXPECT_EQ(norms(layer_norm("f32[2,5,8]", "[8]")), "Norm #0 -> #9[2,5,8]\n");
  EXPECT_EQ(norms(layer_norm("f32[n,m,8]", "[8]")), "Norm #0 -> #9[9,9,8]\n");
  EXPECT_THAT(norms(layer_norm("f32[2,5,8]", "[5,8]", "%w, %w")),
              HasSubstr("Norm #1 constant[40] constant[40] -> "));
  EXPECT_THAT(norms(layer_norm("f32[n,5,8]", "[5,8]")), HasSubstr("Norm #1 -> "));
  for (const int groups : {1, 3, 12}) {
    for (const char* x : {"f32[2,12,3,5]", "f32[n,12,3,5]", "f32[2,12,n,5]", "f32[2,12,5,n]",
                          "f32[2,12,7]", "f32[n,12,7]", "f32[2,12,n]", "f32[2,12,3,4,5]"}) {
      EXPECT_THAT(norms(group_norm(x, groups, "12", "%w, %w")),
                  HasSubstr(" constant[12] constant[12] -> "))
          << x;
    }
  }
  EXPECT_THAT(norms(group_norm("f32[n,12,m,5]", 1, "12", "%w, %w")), HasSubstr("Norm "));
}

// As ConvNeXt has them: no pixel is moved.
TEST(Norms, OfPixelsOfAConvolutionNeedNoTransposes) {
  const std::string text = joined_text(R"(method @forward(%x: f32[1,3,8,8]) {
  %f = constant @f : f32[8,3,3,3]
  %w = constant @w : f32[8]
  %c = aten.convolution.default(%x, %f, none, [1,1], [1,1], [1,1], false, [0,0], 1)
  %p = aten.permute.default(%c, [0,2,3,1])
  %y = aten.layer_norm.default(%p, [8], %w, %w)
  return %y
})");
  EXPECT_EQ(text,
            "StaticTranspose #0 -> #1[1,8,8,3]\n"
            "Conv2d #1 constant[8,3,3,3] -> #3[1,8,8,8]\n"
            "Copy #3 -> #4[1,8,8,8]\n"
            "Norm #4 constant[8] constant[8] -> #16[1,8,8,8]\n");
}

// As NAFNet has them.
TEST(Norms, ThatAModelWritesOutAreOneNode) {
  const std::string text = joined_text(R"(method @forward(%x: f32[1,3,8,8]) {
  %f = constant @f : f32[8,3,3,3]
  %w = constant @w : f32[1,8,1,1]
  %c = aten.convolution.default(%x, %f, none, [1,1], [1,1], [1,1], false, [0,0], 1)
  %m = aten.mean.dim(%c, [1], true)
  %d = aten.sub.Tensor(%c, %m)
  %s = aten.pow.Tensor_Scalar(%d, 2)
  %v = aten.mean.dim(%s, [1], true)
  %e = aten.add.Scalar(%v, 1e-06)
  %r = aten.sqrt.default(%e)
  %n = aten.div.Tensor(%d, %r)
  %k = aten.mul.Tensor(%w, %n)
  %y = aten.add.Tensor(%k, %w)
  return %y
})");
  EXPECT_THAT(text, HasSubstr("Conv2d #1 constant[8,3,3,3] -> #3[1,8,8,8]\n"
                              "Norm #3 constant[1,1,1,8] constant[1,1,1,8] -> "));
}

// ExecuTorch's runtime would give the bytes back when the product has packed them.
TEST(Norms, FactorsThatAreTheBiasOfAProductHaveAKeyOfTheirOwn) {
  const auto partition = parse_partition(R"(method @forward(%x: f32[2,8]) {
  %f = constant @f : f32[8,8]
  %b = constant @b : f32[8]
  %l = aten.linear.default(%x, %f, %b)
  %n = aten.layer_norm.default(%l, [8], %b, %b)
  %y = aten.add.Tensor(%n, %b)
  return %y
})");
  ASSERT_NE(partition, nullptr);
  const LoweredPartition lowered = lower_partition(*partition);
  const Graph& graph = lowered.graph;
  const auto key = [&graph](uint32_t id) { return graph.constants[graph.values[id].constant].key; };
  const std::string packed = key(graph.nodes[0].inputs[2]);
  size_t kept = 0;
  for (size_t i = 1; i < graph.nodes.size(); ++i) {
    for (const uint32_t id : graph.nodes[i].inputs) {
      if (id == kNoId || graph.values[id].dims != Dims{8}) continue;
      EXPECT_EQ(key(id), "kept_" + packed);
      EXPECT_EQ(lowered.constant(id), lowered.constant(graph.nodes[0].inputs[2]));
      ++kept;
    }
  }
  EXPECT_EQ(kept, 3u);
}

TEST(Norms, BetweenConvolutionsHaveChannelsLast) {
  const std::string conv = ", none, [1,1], [1,1], [1,1], false, [0,0], 1)\n";
  const std::string text = joined_text(
      "method @forward(%x: f32[1,8,8,8]) {\n%f = constant @f : f32[8,8,3,3]\n"
      "%w = constant @w : f32[8]\n%c = aten.convolution.default(%x, %f" +
      conv +
      "%y = aten.group_norm.default(%c, 2, %w, %w)\n%s = aten.silu.default(%y)\n"
      "%z = aten.convolution.default(%s, %f" +
      conv + "return %z\n}");
  size_t transposes = 0;
  for (size_t at = text.find("StaticTranspose"); at != std::string::npos;
       at = text.find("StaticTranspose", at + 1)) {
    ++transposes;
  }
  EXPECT_EQ(transposes, 2u) << text;
}

TEST(Norms, StayWhereXnnpackCannot) {
  EXPECT_EQ(reason(layer_norm("f32[2,8]", "[8]")), "");
  EXPECT_THAT(reason(layer_norm("f16[2,8]", "[8]")), HasSubstr("must be f32"));
  EXPECT_THAT(reason(layer_norm("f32[n,m,4,5]", "[4,5]")), HasSubstr("more than one"));
  EXPECT_EQ(reason(group_norm("f32[2,8,3]", 2, "8")), "");
  EXPECT_THAT(reason(group_norm("f32[2,8]", 2, "8")), HasSubstr("rank 2"));
  EXPECT_THAT(reason(group_norm("f32[n,8,m,5]", 2, "8")), HasSubstr("more than one"));
  EXPECT_THAT(reason(R"(method @forward(%x: f32[2,8,3], %w: f32[8]) {
  %y = aten.group_norm.default(%x, 2, %w)
  return %y
})"),
              HasSubstr("weight is not a constant"));
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
