// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/fold_constants.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/pass_case.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// The elements of output 0 after the pass, which must be a constant.
std::vector<double> folded(const std::string& text) {
  after_pass(fold_constants, text);
  auto graph = graph_of(text);
  if (graph == nullptr) return {};
  EXPECT_TRUE(fold_constants(*graph, {}).ok());
  const Value* output = graph->outputs()[0];
  EXPECT_TRUE(output->is_constant()) << plain_text(*graph);
  if (!output->is_constant()) return {};
  auto elements = decode_constant(*output->constant());
  return elements.ok() ? *elements : std::vector<double>();
}

TEST(FoldConstants, ComputesWhatDependsOnConstantsAlone) {
  EXPECT_THAT(folded(R"(method @m() {
                %a = aten.arange.start_step(0, 6, 1, dtype=f32)
                %b = aten.view.default(%a, [2, 3])
                %c = aten.mul.Scalar(%b, 2)
                %d = aten.sum.dim_IntList(%c, [0])
                return %d })"),
              ElementsAre(6, 10, 14));
}

TEST(FoldConstants, APermutedWeightIsReadInAnotherOrder) {
  constexpr char kText[] = R"(method @m() {
    %w = constant @w : f32[2,3,2]
    %p = aten.permute.default(%w, [2, 0, 1])
    return %p })";
  const std::vector<double> w = constant_elements(*graph_of(kText), "w");
  std::vector<double> wanted;
  for (size_t k = 0; k < 2; ++k) {
    for (size_t i = 0; i < 2; ++i) {
      for (size_t j = 0; j < 3; ++j) wanted.push_back(w[(i * 3 + j) * 2 + k]);
    }
  }
  EXPECT_EQ(folded(kText), wanted);
  EXPECT_THAT(after_pass(fold_constants, kText),
              HasSubstr("constant @w@permute_2_0_1 : f32[2,2,3]"));
}

TEST(FoldConstants, AViewOfAWeightIsTheSameBytes) {
  auto graph = graph_of(R"(method @m() {
    %w = constant @w : f32[2,3]
    %p = aten.view.default(%w, [3, 2])
    return %p, %w })");
  ASSERT_TRUE(fold_constants(*graph, {}).ok());
  EXPECT_EQ(graph->outputs()[0]->constant()->data.bytes().data(),
            graph->outputs()[1]->constant()->data.bytes().data());
}

TEST(FoldConstants, DimsMayCountFromTheEnd) {
  constexpr char kText[] = R"(method @m() {
    %w = constant @w : f32[2,3]
    %p = aten.permute.default(%w, [-1, -2])
    return %p })";
  const std::vector<double> w = constant_elements(*graph_of(kText), "w");
  EXPECT_THAT(folded(kText), ElementsAre(w[0], w[3], w[1], w[4], w[2], w[5]));
}

// Each is read through the one before it, and has a longer name. A round of four is as it was.
TEST(FoldConstants, AWeightIsMovedFewTimes) {
  constexpr int kRounds = 2500;
  std::string text = "method @m() {\n%w = constant @w : f32[2,3]\n";
  std::string last = "%w";
  for (int i = 0; i < kRounds; ++i) {
    absl::StrAppend(&text, "%a", i, " = aten.permute.default(", last, ", [1, 0])\n");
    absl::StrAppend(&text, "%b", i, " = aten.view.default(%a", i, ", [2, 3])\n");
    absl::StrAppend(&text, "%c", i, " = aten.view.default(%b", i, ", [3, 2])\n");
    absl::StrAppend(&text, "%d", i, " = aten.permute.default(%c", i, ", [1, 0])\n");
    last = absl::StrCat("%d", i);
  }
  const auto graph = graph_of(absl::StrCat(text, "return ", last, " }"));
  ASSERT_NE(graph, nullptr);
  const std::vector<double> w = constant_elements(*graph, "w");
  ASSERT_TRUE(fold_constants(*graph, {}).ok());
  ASSERT_TRUE(graph->outputs()[0]->is_constant());
  EXPECT_EQ(graph->outputs()[0]->constant()->type.sizes, (Sizes{2, 3}));
  EXPECT_EQ(decode_constant(*graph->outputs()[0]->constant()).value(), w);
  for (const Value* constant : graph->constants()) {
    EXPECT_LE(constant->constant()->fqn.size(), kMostNameBytes);
  }
}

// Orders of one weight that others need are weights each.
TEST(FoldConstants, MovedWeightsHaveFewBytesTogether) {
  std::string text = "method @m() {\n%w = constant @w : f32[2,2,2,2,2,2,2,2]\n";
  std::string returned;
  constexpr int kCalls = 8;
  for (int i = 1; i < kCalls; ++i) {
    std::string dims = "0";
    for (int d = 1; d < 8; ++d) {
      absl::StrAppend(&dims, ", ", d == i ? (i < 7 ? i + 1 : 1) : d == (i < 7 ? i + 1 : 1) ? i : d);
    }
    absl::StrAppend(&text, "%y", i, " = aten.permute.default(%w, [", dims, "])\n");
    absl::StrAppend(&returned, "%y", i, ", ");
  }
  const auto graph = graph_of(absl::StrCat(text, "return ", returned, "%w }"));
  ASSERT_NE(graph, nullptr);
  EXPECT_TRUE(fold_constants_within(*graph, kMostFoldingWork, 1 << 10).ok());
  int folded = 0;
  for (const Value* output : graph->outputs()) folded += output->is_constant();
  // The weight itself, one of its 1 KiB, and four more.
  EXPECT_EQ(folded, 6);
}

// fold(views(x)) where the views come after a computed value.
TEST(FoldConstants, ViewsOfFoldedValuesFold) {
  EXPECT_THAT(folded(R"(method @m() {
                %a = aten.full.default([2, 2], 3, dtype=f32)
                %b = aten.neg.default(%a)
                %c = aten.view.default(%b, [4])
                return %c })"),
              ElementsAre(-3, -3, -3, -3));
}

// A few bytes of an archive may name it: two products of 2^36 multiply-adds.
TEST(FoldConstants, WhatTakesTooLongIsLeftToTheProgram) {
  constexpr char kText[] = R"(method @m() {
    %a = aten.full.default([4096, 4096], 1, dtype=f32)
    %b = aten.mm.default(%a, %a)
    %c = aten.mm.default(%b, %a)
    %d = aten.sum.dim_IntList(%c, [0, 1])
    %e = aten.full.default([2], 3, dtype=f32)
    %f = aten.neg.default(%e)
    return %d, %f })";
  const std::string after = after_pass(fold_constants, kText);
  EXPECT_THAT(after, HasSubstr("aten.mm.default"));
  EXPECT_THAT(after, Not(HasSubstr("aten.neg.default")));
}

// By name others can take the place of a folded weight: the name tells what was
// done with which weights, and not what came out.
// A window over 256 elements takes twenty times what sizes of constants let expect.
TEST(FoldConstants, WhatTakesMoreThanItsEstimateIsCharged) {
  const std::string text = R"(method @m() {
    %x = constant @x : f32[1,1,64,64]
    %w = constant @w : f32[1,1,16,16]
    %y = aten.convolution.default(%x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1)
    return %y })";
  for (const auto& [most_work, is_folded] : {std::pair(4e5, false), std::pair(4e6, true)}) {
    const auto graph = graph_of(text);
    ASSERT_NE(graph, nullptr);
    EXPECT_TRUE(fold_constants_within(*graph, most_work).ok());
    EXPECT_EQ(graph->outputs()[0]->is_constant(), is_folded) << most_work;
  }
}

// Of one weight of 1 KB calls of a few bytes make as many others.
TEST(FoldConstants, WhatIsFoldedHasFewBytesTogether) {
  std::string text = "method @m() {\n%w = constant @w : f32[256]\n%v = constant @v : f32[256]\n";
  std::string returned;
  constexpr int kCalls = 100;
  for (int i = 0; i < kCalls; ++i) {
    absl::StrAppend(&text, "%y", i, " = aten.add.Scalar(%w, ", i, ")\n");
    absl::StrAppend(&returned, i > 0 ? ", " : "", "%y", i);
  }
  const auto graph = graph_of(absl::StrCat(text, "return ", returned, " }"));
  ASSERT_NE(graph, nullptr);
  EXPECT_TRUE(fold_constants_within(*graph, kMostFoldingWork, 10 << 10).ok());
  int folded = 0;
  for (const Value* output : graph->outputs()) folded += output->is_constant();
  // Ten, and four for each of them, of %w and of %v; but %y0 has the bytes of %w.
  EXPECT_EQ(folded, 10 + 4 * 11);
}

TEST(FoldConstants, WhatIsMadeOfWeightsIsCalledAfterThem) {
  const auto name = [](const char* text) {
    auto graph = graph_of(text);
    EXPECT_TRUE(fold_constants(*graph, {}).ok());
    const Constant& constant = *graph->outputs()[0]->constant();
    EXPECT_EQ(constant.kind, Constant::Kind::kParameter);
    EXPECT_THAT(constant.made_of, ElementsAre("a.v", "b.w"));
    return constant.fqn;
  };
  const std::string exp = name(R"(method @m() {
    %w = constant @b.w : f32[4]
    %v = constant @a.v : f32[4]
    %s = aten.add.Tensor(%w, %v)
    %e = aten.exp.default(%s)
    return %e })");
  EXPECT_EQ(exp.substr(0, 9), "a.v@fold_");
  // Whatever the values in between are called.
  EXPECT_EQ(name(R"(method @n() {
    %v = constant @a.v : f32[4]
    %w = constant @b.w : f32[4]
    %x = aten.add.Tensor(%w, %v)
    %y = aten.exp.default(%x)
    return %y })"),
            exp);
  EXPECT_NE(name(R"(method @m() {
    %w = constant @b.w : f32[4]
    %v = constant @a.v : f32[4]
    %s = aten.add.Tensor(%v, %w)
    %e = aten.exp.default(%s)
    return %e })"),
            exp);
}

TEST(FoldConstants, StateAndInputsAreNotConstant) {
  constexpr char kText[] = R"(method @m(%x: f32[2]) {
    %s = state @state : f32[2]
    %w = constant @w : f32[2]
    %a = aten.neg.default(%s)
    %b = aten.add.Tensor(%x, %w)
    return %a, %b })";
  EXPECT_EQ(after_pass(fold_constants, kText), expected(kText));
}

// 16 MiB out of nothing, and out of 4 KiB.
TEST(FoldConstants, ABroadcastThatBlowsUpTheFileStays) {
  constexpr char kText[] = R"(method @m(%x: f32[1024,4096]) {
    %w = constant @w : f32[1,1024]
    %f = aten.full.default([1024, 4096], 1, dtype=f32)
    %r = aten.repeat.default(%w, [1024, 4])
    %a = aten.add.Tensor(%x, %f)
    %b = aten.add.Tensor(%a, %r)
    return %b })";
  EXPECT_EQ(after_pass(fold_constants, kText), expected(kText));
}

TEST(FoldConstants, WhatFeedsABroadcastIsFolded) {
  const std::string after = after_pass(fold_constants, R"(method @m() {
    %w = constant @w : f32[1,1024]
    %n = aten.neg.default(%w)
    %e = aten.exp.default(%n)
    %r = aten.repeat.default(%e, [1024, 4])
    return %r })");
  EXPECT_THAT(after, Not(HasSubstr("aten.exp.default")));
  EXPECT_THAT(after, HasSubstr("constant @w@fold_"));
  EXPECT_THAT(after, HasSubstr("aten.repeat.default("));
}

// What backends want whole, and no kernel runs: the mean of ones is 1.
TEST(FoldConstants, AttentionToConstantsIsAConstant) {
  EXPECT_THAT(folded(R"(method @m() {
                %q = constant @q : f32[1,1,2,4]
                %k = constant @k : f32[1,1,3,4]
                %v = aten.full.default([1, 1, 3, 2], 3, dtype=f32)
                %y = aten.scaled_dot_product_attention.default(%q, %k, %v, none, 0.0, false, none,
                                                               false)
                return %y })"),
              AllOf(SizeIs(4), Each(DoubleNear(3, 1e-5))));
}

// A few bytes of an archive can ask for the scores of many queries and keys.
TEST(FoldConstants, AttentionOfTooManyScoresStays) {
  constexpr char kText[] = R"(method @m() {
    %x = aten.full.default([1, 1, 131072, 1], 1, dtype=f32)
    %y = aten.scaled_dot_product_attention.default(%x, %x, %x, none, 0.0, false, none, false)
    return %y })";
  EXPECT_THAT(after_pass(fold_constants, kText), HasSubstr("scaled_dot_product_attention"));
}

// Large values in between do not matter.
TEST(FoldConstants, OnlyWhatIsKeptCounts) {
  EXPECT_THAT(folded(R"(method @m() {
                %f = aten.full.default([1024, 1024], 1, dtype=f32)
                %s = aten.sum.dim_IntList(%f, [0, 1])
                return %s })"),
              ElementsAre(1024.0 * 1024.0));
}

TEST(FoldConstants, ASharedPieceIsFoldedForEachUser) {
  const std::string after = after_pass(fold_constants, R"(method @m(%x: f32[2]) {
    %w = constant @w : f32[2]
    %n = aten.neg.default(%w)
    %e = aten.exp.default(%n)
    %a = aten.add.Tensor(%x, %n)
    %b = aten.add.Tensor(%a, %e)
    return %b })");
  EXPECT_THAT(after, Not(HasSubstr("aten.neg.default")));
  EXPECT_THAT(after, Not(HasSubstr("aten.exp.default")));
}

TEST(FoldConstants, QuantisedWeightsStayInTheirBits) {
  constexpr char kText[] = R"(method @m() {
    %w = constant @w : i8[2,3]
    %d = quantized_decomposed.dequantize_per_tensor.default(%w, 0.5, 0, -128, 127, i8, none)
    %y = aten.mul.Scalar(%d, 2)
    return %y })";
  EXPECT_THAT(after_pass(fold_constants, kText), HasSubstr("dequantize_per_tensor"));
}

// Biases, as quantisers of integer machines store them: floats take no more bytes, and backends
// want a constant.
TEST(FoldConstants, DequantisedBiasesOfInt32BecomeFloats) {
  constexpr char kText[] = R"(method @m(%x: f32[1,4]) {
    %w = constant @w : i8[3,4]
    %b = constant @b : i32[3]
    %v = quantized_decomposed.dequantize_per_tensor.default(%w, 0.5, 0, -128, 127, i8, none)
    %d = quantized_decomposed.dequantize_per_tensor.default(%b, 0.25, 0, -2147483648,
                                                            2147483647, i32, none)
    %y = aten.linear.default(%x, %v, %d)
    return %y })";
  const std::string after = after_pass(fold_constants, kText);
  EXPECT_THAT(after, HasSubstr("constant @b@fold_"));
  EXPECT_THAT(after, HasSubstr("dequantize_per_tensor.default(%w, "));
  EXPECT_THAT(after, Not(HasSubstr("(%b, ")));
}

TEST(FoldConstants, RandomNumbersStay) {
  constexpr char kText[] = "method @m() { %a = aten.rand.default([2]) return %a }";
  EXPECT_EQ(after_pass(fold_constants, kText), expected(kText));
}

TEST(FoldConstants, AnErrorNamesTheNode) {
  EXPECT_THAT(pass_error(fold_constants, R"(method @m() {
                %w = constant @w : f32[2,3]
                %i = aten.full.default([1], 7, dtype=i64)
                %y = aten.index_select.default(%w, 0, %i)
                return %y })"),
              HasSubstr("node 'y' (aten.index_select.default): folding "
                        "constants: running: InvalidArgument"));
}

}  // namespace
}  // namespace petrel::exir
