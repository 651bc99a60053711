// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/partitioner.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/test_partition.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "backends/xnnpack/format/graph.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/partition/partition.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using ::testing::HasSubstr;

// The reason for the last node of a method with some constants to use.
std::string reason_for(const std::string& inputs, const std::string& call) {
  const auto partition = parse_partition("method @forward(" + inputs + ") {\n" +
                                         "  %w3 = constant @w3 : f32[4,3,3,3]\n"
                                         "  %w2 = constant @w2 : f32[4,3]\n"
                                         "  %m = constant @m : f32[2,4]\n"
                                         "  %b = constant @b : f32[4]\n"
                                         "  %y = " +
                                         call + "\n  return %y\n}");
  if (partition == nullptr) return "(does not parse)";
  const exir::Support support =
      xnnpack_backend()->partitioner().supports(*partition->nodes().back());
  return support.supported ? "" : support.reason;
}

TEST(Numbers, AreTakenOfRank0WhereTheyAreConstantOrDequantised) {
  const auto partition = parse_partition(R"(method @forward(%x: f32[2,5]) {
  %s = constant @s : i8[]
  %n = quantized_decomposed.dequantize_per_tensor.default(%s, 0.5, 3, -128, 127, i8)
  %y = aten.mul.Tensor(%x, %n)
  return %y
})");
  ASSERT_NE(partition, nullptr);
  for (const auto& node : partition->nodes()) {
    EXPECT_TRUE(xnnpack_backend()->partitioner().supports(*node).supported);
  }
}

// What callers may choose to be 0, they are told of; what data decide is left to kernels.
TEST(Sizes, ThatDataDecideMayNotBeZero) {
  const auto partition = parse_partition(
      "method @forward<b: 0..6, u0: 0..6, u1: 1..6>(%x: f32[6], %m: bool[6], %z: f32[b]) {\n"
      "  %s = aten.masked_select.default(%x, %m) : f32[u0]\n"
      "  %t = aten.masked_select.default(%x, %m) : f32[u1]\n"
      "  %a = aten.relu.default(%s) : f32[u0]\n"
      "  %c = aten.relu.default(%t) : f32[u1]\n"
      "  %d = aten.relu.default(%z) : f32[b]\n"
      "  return %a, %c, %d\n}");
  ASSERT_NE(partition, nullptr);
  std::vector<std::string> reasons;
  for (const auto& node : partition->nodes()) {
    if (!node->is(exir::aten::relu)) continue;
    reasons.push_back(xnnpack_backend()->partitioner().supports(*node).reason);
  }
  EXPECT_THAT(reasons, ::testing::ElementsAre(
                           HasSubstr("the size 'u0', which data decide, may be 0"), "", ""));
}

// Parts that no element is left of for some sizes, where others stay with what they are joined to.
TEST(Sizes, OfPartsThatAreJoinedMayNotBeZero) {
  const auto partition = parse_partition(
      "method @forward<s: 1..6, t: 2..6>(%x: f32[s,8], %y: f32[t,8], %z: f32[1,8]) {\n"
      "  %a = aten.slice.Tensor(%x, 0, 1, 6) : f32[s - 1,8]\n"
      "  %b = aten.relu.default(%a) : f32[s - 1,8]\n"
      "  %c = aten.cat.default([%z, %b]) : f32[s,8]\n"
      "  %d = aten.constant_pad_nd.default(%a, [0, 0, 1, 0]) : f32[s,8]\n"
      "  %e = aten.slice.Tensor(%y, 0, 1, 6) : f32[t - 1,8]\n"
      "  %f = aten.cat.default([%z, %e]) : f32[t,8]\n"
      "  %g = aten.slice.Tensor(%x, 0, 1, 6) : f32[s - 1,8]\n"
      "  %h = aten.relu.default(%g) : f32[s - 1,8]\n"
      "  return %c, %d, %f, %h\n}");
  ASSERT_NE(partition, nullptr);
  std::string taken, left;
  for (const auto& node : partition->nodes()) {
    if (node->is(exir::aten::slice_Tensor)) continue;  // kernels cut what varies
    const exir::Support support = xnnpack_backend()->partitioner().supports(*node);
    (support.supported ? taken : left) += node->result()->name();
    if (support.supported) continue;
    EXPECT_THAT(support.reason, HasSubstr("no elements for some sizes"));
  }
  EXPECT_EQ(left, "bcd");
  EXPECT_EQ(taken, "fh");
}

struct Refusal {
  const char* name;
  const char* inputs;
  const char* call;
  const char* reason;
};

class Refusals : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refusals, SayWhatIsWrongAndWhatWouldBeRight) {
  EXPECT_THAT(reason_for(GetParam().inputs, GetParam().call), HasSubstr(GetParam().reason));
}

const Refusal kRefusals[] = {
    {"UnknownOperator", "%x: f32[4]", "aten.cumsum.default(%x, 0, none)", "no such operator"},
    {"IntegerResult", "%x: i64[4]", "aten.add.Tensor(%x, %x)", "result 'y' is i64[4], must be f32"},
    {"IntegerOperand", "%x: f32[4], %i: i64[4]", "aten.add.Tensor(%x, %i)",
     "operand 'i' is i64[4], must be f32"},
    {"Bfloat16", "%x: bf16[4]", "aten.relu.default(%x)", "bf16[4], must be f32"},
    {"HalfAndFloat", "%x: f16[4], %f: f32[4]", "aten.add.Tensor(%x, %f)", "f16[4], must be f32"},
    {"OtherCast", "%i: i64[4]", "aten._to_copy.default(%i, f16)", "i64[4], must be f32"},
    {"RankZero", "%x: f32[]", "aten.relu.default(%x)", "has rank 0, must be in [1, 6]"},
    {"RankSeven", "%x: f32[1,1,1,1,1,1,2]", "aten.relu.default(%x)", "has rank 7"},
    {"Empty", "%x: f32[0,3]", "aten.relu.default(%x)", "has no elements"},
    {"TooLarge", "%x: f32[65536,65537]", "aten.relu.default(%x)", "must be at most 17179869184"},
    {"NothingToCompute", "%x: f32[4]", "aten.relu.default(%b)", "all operands are constants"},
    {"FourthPower", "%x: f32[4]", "aten.pow.Tensor_Scalar(%x, 4)",
     "exponent is 4, must be 2, 3, 0.5"},
    {"CrossedBounds", "%x: f32[4]", "aten.clamp.default(%x, 2, 1)", "the lower one not above"},
    {"EluOfMinusOne", "%x: f32[4]", "aten.elu.default(%x, -1)", "alpha must be a positive"},
    {"EluBeyondFloats", "%x: f32[4]", "aten.elu.default(%x, 1e300)", "alpha must be a positive"},
    {"LeakyReluBeyondFloats", "%x: f32[4]", "aten.leaky_relu.default(%x, 1e300)",
     "negative_slope must be a finite f32"},
    {"ComputedSlopes", "%x: f32[2,3,4], %v: f32[3]", "aten.prelu.default(%x, %v)",
     "weight is computed at run time"},
    {"EluScaled", "%x: f32[4]", "aten.elu.default(%x, 1, 2)", "scale must be 1"},
    {"ComputedWeight", "%x: f32[2,3], %v: f32[4,3]", "aten.linear.default(%x, %v)",
     "weight is computed at run time"},
    {"ComputedBias", "%x: f32[2,3], %v: f32[4]", "aten.linear.default(%x, %w2, %v)",
     "bias is computed at run time"},
    {"BiasOfAMatrix", "%x: f32[2,3], %k: f32[3,4]", "aten.addmm.default(%m, %x, %k)",
     "mat2 is computed at run time"},
    {"ComputedFilterOfVolumes", "%x: f32[1,3,4,4,4], %v: f32[4,3,3,3,3]",
     "aten.convolution.default(%x, %v, none, [1,1,1], [0,0,0], [1,1,1], false, [0,0,0], 1)",
     "weight is computed at run time"},
    {"ComputedFilter", "%x: f32[1,3,4,4], %v: f32[4,3,3,3]",
     "aten.convolution.default(%x, %v, none, [1,1], [0,0], [1,1], false, [0,0], 1)",
     "weight is computed at run time"},
    {"OutputPaddingOfAStride", "%x: f32[1,4,4,4]",
     "aten.convolution.default(%x, %w3, none, [1,1], [0,0], [2,2], true, [1,0], 1)",
     "output_padding is 1, must be below the stride 1"},
    {"MaxPoolOfOne", "%x: f32[1,3,4,4]", "aten.max_pool2d.default(%x, [1])", "kernel_size is 1x1"},
    {"MaxPoolLargeStride", "%x: f32[1,3,9,9]", "aten.max_pool2d.default(%x, [2,2], [3,3])",
     "stride is 3, must be at most the kernel size 2"},
    {"MaxPoolDilatedSmall", "%x: f32[1,3,2,2]",
     "aten.max_pool2d.default(%x, [2,2], [1,1], [1,1], [3,3])",
     "dilation is 3 with padding 1, must be at most the number of rows"},
    {"MaxPoolDilatedCeil", "%x: f32[1,3,8,3]",
     "aten.max_pool2d.default(%x, [2,3], [1,3], [0,1], [2,1], true)",
     "ceil_mode adds columns to dilated windows"},
    {"MaxPoolUnbatched", "%x: f32[3,4,4]", "aten.max_pool2d.default(%x, [2])",
     "input has rank 3, must be 4"},
    {"AvgPoolBeyondTheImage", "%x: f32[1,3,5,5]",
     "aten.avg_pool2d.default(%x, [2,2], [2,2], [0,0], true)", "ceil_mode makes windows"},
    {"AvgPoolOtherDivisor", "%x: f32[1,3,4,4]",
     "aten.avg_pool2d.default(%x, [2,2], [2,2], [0,0], false, true, 3)",
     "divisor_override must be the kernel's area 4"},
    {"MeanOfChannelsThatAreGone", "%x: f32[1,3,4,4]", "aten.mean.dim(%x, [1], false)",
     "the mean must be over all dims but the first two, or over the channels of images"},
    {"MeanOfOneAxis", "%x: f32[1,3,4,4]", "aten.mean.dim(%x, [3], true)", "the mean must be over"},
    {"MeanOfAll", "%x: f32[1,3,4,4]", "aten.mean.dim(%x, none, true)", "the mean must be over"},
    {"SoftmaxOfTheFirst", "%x: f32[2,3,4]", "aten._softmax.default(%x, 0, false)",
     "dim is 0, must be the last"},
    {"UnevenScale", "%x: f32[1,3,5,5]", "aten.upsample_bilinear2d.vec(%x, none, false, [1.5, 2.0])",
     "scale factor 1.5 does not give a whole number of pixels"},
    {"StridedSlice", "%x: f32[8]", "aten.slice.Tensor(%x, 0, 0, 8, 2)", "step must be 1"},
    {"NegativePadding", "%x: f32[8]", "aten.constant_pad_nd.default(%x, [-1, 2])",
     "pad has -1, must be in [0, 2^31)"},
};

INSTANTIATE_TEST_SUITE_P(All, Refusals, ::testing::ValuesIn(kRefusals),
                         [](const auto& info) { return info.param.name; });

// What XNNPACK says to a slice of rows whose number is `rows`.
std::string reason_for_slice(const std::string& rows, const std::string& bounds) {
  const auto partition =
      parse_partition("method @forward<n: 2..1000>(%x: f32[" + rows + ",4]) {\n" +
                      "  %y = aten.slice.Tensor(%x, 0, " + bounds + ")\n" + "  return %y\n}");
  if (partition == nullptr) return "(does not parse)";
  const exir::Support support =
      xnnpack_backend()->partitioner().supports(*partition->nodes().back());
  return support.supported ? "" : support.reason;
}

// min(n, 3) is 3 at all points but the smallest, where the last but one row is the
// first.
TEST(Partitioner, TakesNoSliceWhosePlaceDependsOnSizesThatVary) {
  EXPECT_THAT(reason_for_slice("min(n, 3)", "-2, -1"), HasSubstr("its start depends on sizes"));
  EXPECT_THAT(reason_for_slice("n", "-1, 1000"), HasSubstr("its start depends on sizes"));
  EXPECT_EQ(reason_for_slice("n", "1, 2"), "");
  EXPECT_EQ(reason_for_slice("max(n, 3)", "2, 3"), "");
  EXPECT_THAT(reason_for_slice("n", "2, 3"), HasSubstr("its extent depends on sizes"));
}

// 3 + (n%500)//499 is 3 but at 499 and 999, which no sample is.
TEST(Partitioner, TellsSizesThatVaryFromFixedOnes) {
  const auto partition = parse_partition(R"(
method @forward<n: 2..1000>(%x: f32[3 + (n - 500*(n//500))//499,4]) {
  %y = aten.view.default(%x, [-1])
  return %y
})");
  ASSERT_NE(partition, nullptr);
  EXPECT_EQ(xnnpack_backend()->partitioner().supports(*partition->nodes().back()).reason, "");
}

TEST(Partitioner, KeepsWholeWhatItTakes) {
  const exir::Partitioner& partitioner = xnnpack_backend()->partitioner();
  for (const char* name :
       {"aten.silu.default", "aten.hardsigmoid.default", "aten.linear.default", "aten.gelu.default",
        "aten.prelu.default", "aten.upsample_bilinear2d.vec"}) {
    EXPECT_TRUE(partitioner.keeps(exir::op(name))) << name;
  }
  EXPECT_FALSE(partitioner.keeps(exir::op("aten.cumsum.default")));
}

TEST(Partitioner, LeavesAloneWhatOnlyMovesElements) {
  const auto partition = parse_partition(R"(method @forward(%x: f32[2,6]) {
  %v = aten.view.default(%x, [3,4])
  %p = aten.permute.default(%v, [1,0])
  %c = aten.cat.default([%p, %p])
  %y = aten.relu.default(%c)
  return %y
})");
  ASSERT_NE(partition, nullptr);
  std::vector<const exir::Node*> nodes;
  for (const auto& node : partition->nodes()) nodes.push_back(node.get());
  const exir::Partitioner& partitioner = xnnpack_backend()->partitioner();
  EXPECT_TRUE(partitioner.worthwhile(nodes));
  nodes.pop_back();
  EXPECT_FALSE(partitioner.worthwhile(nodes));
  EXPECT_FALSE(partitioner.worthwhile({}));
}

// What one payload has too many external values for becomes two, which are read as the runtime
// reads them.
TEST(XnnpackBackend, WritesNoPayloadThatTheRuntimeRefuses) {
  std::string text = "method @forward(%x: f32[2]) {\n";
  std::string outputs;
  for (uint32_t i = 0; i < kMaxExternals; ++i) {
    absl::StrAppend(&text, "  %y", i, " = aten.relu.default(%x)\n");
    absl::StrAppend(&outputs, i == 0 ? "" : ", ", "%y", i);
  }
  exir::Program program;
  program.methods["forward"].graph =
      parse_partition(absl::StrCat(text, "  return ", outputs, "\n}"));
  ASSERT_NE(program.methods["forward"].graph, nullptr);
  exir::RoutedBlobStore store;
  const auto report = exir::lower_to_backend(program, *xnnpack_backend(), {}, store);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->taken.size(), 1u);
  EXPECT_EQ(report->taken[0].partitions, 2u);
  EXPECT_EQ(report->taken[0].nodes, size_t{kMaxExternals});
}

TEST(XnnpackBackend, KnowsNoCompileSpecs) {
  EXPECT_EQ(xnnpack_backend()->id(), "XnnpackBackend");
  EXPECT_TRUE(xnnpack_backend()->check_compile_specs({}).ok());
  EXPECT_FALSE(xnnpack_backend()->check_compile_specs({{"precision", "fp16"}}).ok());
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
