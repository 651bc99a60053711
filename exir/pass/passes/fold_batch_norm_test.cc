// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/fold_batch_norm.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/framework/table_limit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNorm[] = R"(
    %bn.weight = constant @bn.weight : f32[4]
    %bn.bias = constant @bn.bias : f32[4]
    %mean = constant @bn.running_mean : f32[4]
    %var = constant @bn.running_var : f32[4]
)";

std::string norm_of(const std::string& value) {
  return absl::StrCat("%y = aten.batch_norm.default(", value,
                      ", %bn.weight, %bn.bias, %mean, %var, false, 0.1, "
                      "0.25, true) ");
}

// What each channel is scaled by, from the definition.
std::vector<double> scale(const Graph& graph) {
  const auto weight = constant_elements(graph, "bn.weight");
  const auto var = constant_elements(graph, "bn.running_var");
  std::vector<double> scale;
  for (size_t c = 0; c < weight.size(); ++c) {
    scale.push_back(weight[c] / std::sqrt(var[c] + 0.25));
  }
  return scale;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    // Half a unit in the last place of a float.
    EXPECT_NEAR(found[i], wanted[i], std::fabs(wanted[i]) * 6e-8) << i;
  }
}

TEST(FoldBatchNorm, GoesIntoAConvolution) {
  const std::string head =
      "method @m(%x: f32[1,2,5,5]) { %w = constant @conv.weight : "
      "f32[4,2,3,3] ";
  const std::string conv = ", [1, 1], [0, 0], [1, 1], false, [0, 0], 1) ";
  const std::string before = absl::StrCat(head, kNorm, "%c = aten.convolution.default(%x, %w, none",
                                          conv, norm_of("%c"), "return %y }");
  const std::string after = after_pass(fold_batch_norm, before);
  EXPECT_THAT(after, HasSubstr("%conv.weight@bn = constant @conv.weight@bn : "
                               "f32[4,2,3,3]\n"));
  EXPECT_THAT(after,
              HasSubstr("  %1 = aten.convolution.default(%0, %conv.weight@bn, %conv.bias@bn, "
                        "[1, 1], [0, 0], [1, 1], false, [0, 0], 1) : f32[1,4,3,3]\n"
                        "  return %1\n"));

  auto graph = graph_of(before);
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  const std::vector<double> s = scale(*graph);
  std::vector<double> weight = constant_elements(*graph, "conv.weight");
  for (size_t i = 0; i < weight.size(); ++i) weight[i] *= s[i / 18];
  expect_near(constant_elements(*graph, "conv.weight@bn"), weight);
  std::vector<double> bias = constant_elements(*graph, "bn.bias");
  const auto mean = constant_elements(*graph, "bn.running_mean");
  for (size_t c = 0; c < 4; ++c) bias[c] -= mean[c] * s[c];
  expect_near(constant_elements(*graph, "conv.bias@bn"), bias);
}

// Two convolutions, of three channels and of one, whose results `join` makes one value of.
std::string joined(const std::string& join) {
  return absl::StrCat(
      "method @m(%x: f32[1,2,5,5]) { %v = constant @one.weight : f32[3,2,1,1] "
      "%w = constant @two.weight : f32[1,2,1,1] %b = constant @two.bias : f32[1] ",
      kNorm,
      "%c = aten.convolution.default(%x, %v, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1) "
      "%d = aten.convolution.default(%x, %w, %b, [1, 1], [0, 0], [1, 1], false, [0, 0], 1) ",
      join, norm_of("%j"), "return %y }");
}

TEST(FoldBatchNorm, GoesIntoAllThatIsJoined) {
  auto graph = graph_of(joined("%j = aten.cat.default([%c, %d], 1) "));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  const std::vector<double> s = scale(*graph);
  std::vector<double> one = constant_elements(*graph, "one.weight");
  std::vector<double> two = constant_elements(*graph, "two.weight");
  for (size_t i = 0; i < one.size(); ++i) one[i] *= s[i / 2];
  for (double& weight : two) weight *= s[3];
  expect_near(constant_elements(*graph, "one.weight@bn"), one);
  expect_near(constant_elements(*graph, "two.weight@bn"), two);
  const auto mean = constant_elements(*graph, "bn.running_mean");
  const auto beta = constant_elements(*graph, "bn.bias");
  const auto first = constant_elements(*graph, "one.bias@bn");
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(first[c], beta[c] - mean[c] * s[c], 1e-6);
  const double bias = constant_elements(*graph, "two.bias")[0];
  const auto second = constant_elements(*graph, "two.bias@bn");
  EXPECT_NEAR(second[0], (bias - mean[3]) * s[3] + beta[3], 1e-6);
}

TEST(FoldBatchNorm, StaysBehindWhatIsJoinedOtherwise) {
  // Once more in what is joined, beside what takes no scale, and read by others.
  for (const char* join :
       {"%e = aten.relu.default(%d) %j = aten.cat.default([%c, %e], 1) ",
        "%e = aten.slice.Tensor(%x, 1, 0, 1, 1) %j = aten.cat.default([%c, %e], 1) ",
        "%e = aten.add.Tensor(%d, %d) %f = aten.slice.Tensor(%c, 1, 0, 2, 1) "
        "%j = aten.cat.default([%d, %e, %f], 1) "}) {
    const std::string after = after_pass(fold_batch_norm, joined(join));
    EXPECT_THAT(after, HasSubstr("aten.mul")) << join;
    EXPECT_THAT(after, Not(HasSubstr("weight@bn"))) << join;
  }
  const std::string twice = absl::StrCat(
      "method @m(%x: f32[1,2,5,5]) { %w = constant @conv.weight : f32[2,2,1,1] ", kNorm,
      "%c = aten.convolution.default(%x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1) "
      "%j = aten.cat.default([%c, %c], 1) ",
      norm_of("%j"), "return %y }");
  EXPECT_THAT(after_pass(fold_batch_norm, twice), Not(HasSubstr("weight@bn")));
}

TEST(FoldBatchNorm, GoesIntoAConvolutionOfVaryingSizes) {
  const std::string after = after_pass(
      fold_batch_norm, absl::StrCat("method @m<n: 1..9>(%x: f32[n,2,5,5]) { "
                                    "%w = constant @conv.weight : f32[4,2,3,3] ",
                                    kNorm,
                                    "%c = aten.convolution.default(%x, %w, none, [1, 1], [0, 0], "
                                    "[1, 1], false, [0, 0], 1) ",
                                    norm_of("%c"), "return %y }"));
  EXPECT_THAT(after, HasSubstr("aten.convolution.default(%0, %conv.weight@bn, "
                               "%conv.bias@bn, [1, 1]"));
  EXPECT_THAT(after, Not(HasSubstr("aten.mul")));
}

TEST(FoldBatchNorm, TakesTheOldBiasAlong) {
  auto graph = graph_of(
      absl::StrCat("method @m(%x: f32[3,2]) { %w = constant @fc.weight : f32[4,2] "
                   "%b = constant @fc.bias : f32[4] ",
                   kNorm, "%c = aten.linear.default(%x, %w, %b) ", norm_of("%c"), "return %y }"));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  const std::vector<double> s = scale(*graph);
  std::vector<double> weight = constant_elements(*graph, "fc.weight");
  for (size_t i = 0; i < weight.size(); ++i) weight[i] *= s[i / 2];
  expect_near(constant_elements(*graph, "fc.weight@bn"), weight);
  std::vector<double> bias = constant_elements(*graph, "fc.bias");
  const auto mean = constant_elements(*graph, "bn.running_mean");
  const auto beta = constant_elements(*graph, "bn.bias");
  for (size_t c = 0; c < 4; ++c) {
    bias[c] = (bias[c] - mean[c]) * s[c] + beta[c];
  }
  const auto found = constant_elements(*graph, "fc.bias@bn");
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(found[c], bias[c], 1e-6);
}

TEST(FoldBatchNorm, KnowsTheChannelsOfGroupedTransposedConvolutions) {
  // [in, out / groups, k, k]: 6 inputs, 2 groups, 4 outputs.
  auto graph = graph_of(
      absl::StrCat("method @m(%x: f32[1,6,5,5]) { %w = constant @up.weight : f32[6,2,2,2] ", kNorm,
                   "%c = aten.convolution.default(%x, %w, none, [2, 2], [0, 0], [1, 1], "
                   "true, [0, 0], 2) ",
                   norm_of("%c"), "return %y }"));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  const std::vector<double> s = scale(*graph);
  std::vector<double> weight = constant_elements(*graph, "up.weight");
  for (size_t in = 0; in < 6; ++in) {
    for (size_t out = 0; out < 2; ++out) {
      for (size_t k = 0; k < 4; ++k) {
        weight[(in * 2 + out) * 4 + k] *= s[in / 3 * 2 + out];
      }
    }
  }
  expect_near(constant_elements(*graph, "up.weight@bn"), weight);
}

TEST(FoldBatchNorm, GoesIntoTheColumnsOfAddmm) {
  auto graph = graph_of(
      absl::StrCat("method @m(%x: f32[3,2]) { %w = constant @w : f32[2,4] "
                   "%b = constant @b : f32[4] ",
                   kNorm, "%c = aten.addmm.default(%b, %x, %w) ", norm_of("%c"), "return %y }"));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  const std::vector<double> s = scale(*graph);
  std::vector<double> weight = constant_elements(*graph, "w");
  for (size_t i = 0; i < weight.size(); ++i) weight[i] *= s[i % 4];
  expect_near(constant_elements(*graph, "w@bn"), weight);
}

TEST(FoldBatchNorm, GoesThroughMovesOfTheChannels) {
  const std::string linear =
      absl::StrCat("method @m<n: 1..9>(%x: f32[n,3,2]) { %w = constant @w : f32[4,2] ", kNorm,
                   "%c = aten.linear.default(%x, %w) ");
  for (const char* const moves : {
           "%n = aten.sym_size.int(%x, 0) %m = executorch_prim.mul.Scalar(%n, 3) "
           "%v = aten.view.default(%c, [%m, 4]) ",
           "%v = aten.permute.default(%c, [0, 2, 1]) ",
           "%n = aten.sym_size.int(%x, 0) %p = aten.permute.default(%c, [0, 2, 1]) "
           "%v = aten.view.default(%p, [%n, 4, 1, 3]) ",
       }) {
    auto graph = graph_of(absl::StrCat(linear, moves, norm_of("%v"), "return %y }"));
    ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
    const std::vector<double> s = scale(*graph);
    std::vector<double> weight = constant_elements(*graph, "w");
    for (size_t i = 0; i < weight.size(); ++i) weight[i] *= s[i / 2];
    expect_near(constant_elements(*graph, "w@bn"), weight);
    EXPECT_FALSE(graph->any_operator([](const OpInfo& op) { return op.is(aten::mul_Tensor); }))
        << moves;
  }
}

// Channels that a view splits or joins, columns that are another dim's, moves that others see.
TEST(FoldBatchNorm, OtherMovesKeepTheProducer) {
  const std::string head = absl::StrCat("method @m(%x: f32[4,6,2]) { %w = constant @w : f32[8,2] ",
                                        kNorm, "%c = aten.linear.default(%x, %w) ");
  for (const char* const tail : {
           "%v = aten.view.default(%c, [4, 6, 2, 4]) %p = aten.permute.default(%v, [0, 3, 1, 2]) ",
           "%p = aten.view.default(%c, [48, 4]) ",
           "%p = aten.permute.default(%c, [1, 0, 2]) ",
       }) {
    EXPECT_THAT(after_pass(fold_batch_norm, absl::StrCat(head, tail, norm_of("%p"), "return %y }")),
                HasSubstr("aten.mul.Tensor"))
        << tail;
  }
  EXPECT_THAT(
      after_pass(fold_batch_norm,
                 absl::StrCat("method @m(%x: f32[3,5,2]) { %w = constant @w : f32[4,2] ", kNorm,
                              "%c = aten.linear.default(%x, %w) "
                              "%v = aten.view.default(%c, [15, 4]) ",
                              norm_of("%v"), "return %y, %v }")),
      HasSubstr("aten.mul.Tensor"));
}

TEST(FoldBatchNorm, AProducerWithAnotherUserIsLeftAlone) {
  const std::string after = after_pass(
      fold_batch_norm,
      absl::StrCat("method @m(%x: f32[3,2]) { %w = constant @w : f32[4,2] ", kNorm,
                   "%c = aten.linear.default(%x, %w) ", norm_of("%c"), "return %y, %c }"));
  EXPECT_THAT(after, HasSubstr("  %1 = aten.linear.default(%0, %w, none) : "
                               "f32[3,4]\n"
                               "  %2 = aten.mul.Tensor(%1, %bn.scale) : "
                               "f32[3,4]\n"
                               "  %3 = aten.add.Tensor(%2, %bn.shift, 1) : "
                               "f32[3,4]\n"
                               "  return %3, %1\n"));
}

TEST(FoldBatchNorm, WithoutAProducerItIsAScaleAndAShiftPerChannel) {
  auto graph =
      graph_of(absl::StrCat("method @m(%x: f32[1,4,5,5]) {", kNorm, norm_of("%x"), "return %y }"));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  EXPECT_THAT(plain_text(*graph), HasSubstr("@bn.scale : f32[1,4,1,1]"));
  expect_near(constant_elements(*graph, "bn.scale"), scale(*graph));
}

TEST(FoldBatchNorm, NoWeightAndNoBiasAreOneAndZero) {
  auto graph =
      graph_of(absl::StrCat("method @m(%x: f32[1,4,5,5]) {", kNorm,
                            "%y, %a, %b = aten._native_batch_norm_legit_no_training.default(%x, "
                            "none, none, %mean, %var, 0.1, 0.25) return %y }"));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  const auto var = constant_elements(*graph, "bn.running_var");
  const auto found = constant_elements(*graph, "bn.scale");
  for (size_t c = 0; c < 4; ++c) {
    EXPECT_NEAR(found[c], 1 / std::sqrt(var[c] + 0.25), 1e-6);
  }
}

TEST(FoldBatchNorm, OneWeightUnderTwoNormsGivesTwo) {
  auto graph =
      graph_of(absl::StrCat("method @m(%x: f32[3,2]) { %w = constant @w : f32[4,2] ", kNorm,
                            "%mean2 = constant @bn2.running_mean : f32[4] "
                            "%var2 = constant @bn2.running_var : f32[4] "
                            "%c = aten.linear.default(%x, %w) %d = aten.linear.default(%x, %w) ",
                            norm_of("%c"),
                            "%z = aten.batch_norm.default(%d, none, none, %mean2, %var2, false, "
                            "0.1, 0.25, true) return %y, %z }"));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  EXPECT_NE(constant_elements(*graph, "w@bn"), constant_elements(*graph, "w@bn2"));
}

TEST(FoldBatchNorm, StatisticsThatAreStateStayOperators) {
  const std::string after =
      after_pass(fold_batch_norm,
                 "method @m(%x: f32[1,4,5,5]) { %mean = state @state.mean : f32[4] "
                 "%var = state @state.var : f32[4] "
                 "%y = aten.batch_norm.default(%x, none, none, %mean, %var, false, 0.1, "
                 "0.25, true) return %y }");
  EXPECT_THAT(after, HasSubstr("aten.rsqrt.default"));
  EXPECT_THAT(after, HasSubstr("aten.view.default(%state.mean, [1, 4, 1, 1])"));
}

// Vectors and images without a batch: dim 1 of the result, which the norm goes by, is none of
// the weight's.
TEST(FoldBatchNorm, AProducerWithOtherChannelsIsLeftAlone) {
  const std::string norm =
      "%mean = constant @bn.running_mean : f32[3] %var = constant @bn.running_var : f32[3] "
      "%y = aten.batch_norm.default(%c, none, none, %mean, %var, false, 0.1, 0.25, true) ";
  EXPECT_THAT(after_pass(fold_batch_norm,
                         absl::StrCat("method @m(%x: f32[2,3,8]) { %w = constant @w : f32[8] "
                                      "%c = aten.linear.default(%x, %w) ",
                                      norm, "return %y }")),
              HasSubstr("aten.mul.Tensor"));
  EXPECT_THAT(after_pass(fold_batch_norm,
                         absl::StrCat("method @m(%x: f32[2,3,5]) { %w = constant @w : f32[9,2,1,1] "
                                      "%c = aten.convolution.default(%x, %w, none, [1, 1], [0, 0], "
                                      "[1, 1], false, [0, 0], 1) ",
                                      norm, "return %y }")),
              HasSubstr("aten.mul.Tensor"));
}

int count_of(const Graph& graph, OpHandle handle) {
  int count = 0;
  for (const auto& node : graph.nodes()) count += node->is(handle) ? 1 : 0;
  return count;
}

// Of 23 MB, which are all in memory when the last weight is read.
TEST(FoldBatchNorm, ALargeWeightTakesFewer) {
  std::string text = absl::StrCat(
      "method @m(%x: f32[1,4,600,600]) { %w = constant @w : f32[4,4,600,600] ", kNorm,
      "%y0 = aten.convolution.default(%x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1) ");
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&text, "%y", i + 1, " = aten.batch_norm.default(%y", i,
                    ", %bn.weight, %bn.bias, %mean, %var, false, 0.1, 0.25, true) ");
  }
  auto graph = graph_of(absl::StrCat(text, "return %y20 }"));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  EXPECT_EQ(count_of(*graph, aten::mul_Tensor), 20 - 11);
}

// One weight of 4 MiB becomes as many as there are calls of 300 bytes.
TEST(FoldBatchNorm, WeightsThatAreMadeHaveFewBytesTogether) {
  std::string text =
      "method @m(%x: f32[1,256,4,4]) { %w = constant @w : f32[256,256,4,4] "
      "%mean = constant @bn.running_mean : f32[256] %var = constant @bn.running_var : f32[256] ";
  std::string returned;
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&text, "%c", i,
                    " = aten.convolution.default(%x, %w, none, [1, 1], [0, 0], [1, 1], false, "
                    "[0, 0], 1) %y",
                    i, " = aten.batch_norm.default(%c", i,
                    ", none, none, %mean, %var, false, 0.1, 0.", 100 + i, ", true) ");
    absl::StrAppend(&returned, i > 0 ? ", " : "", "%y", i);
  }
  auto graph = graph_of(absl::StrCat(text, "return ", returned, " }"));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  // 256 MiB, and four times the weight.
  EXPECT_EQ(count_of(*graph, aten::mul_Tensor), 100 - 67);
}

// Norms that share statistics have each a scale and a shift of its own.
TEST(FoldBatchNorm, ScalesAreTablesOfTheGraph) {
  const TableScope scope;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(check_table({kMostTableElements}).ok());
  ASSERT_TRUE(check_table({kMostTableElements - 8}).ok());
  auto graph = graph_of(
      absl::StrCat("method @m(%x: f32[1,4,5,5]) {", kNorm, norm_of("%x"),
                   "%z = aten.batch_norm.default(%y, none, none, %mean, %var, false, 0.1, 0.5, "
                   "true) return %z }"));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  const std::string text = plain_text(*graph);
  EXPECT_THAT(text, HasSubstr("%bn.scale)"));
  EXPECT_THAT(text, HasSubstr("aten.rsqrt.default"));
}

TEST(FoldBatchNorm, FactorsAndGroupsThatAreComputedKeepTheProducer) {
  for (const char* producer :
       {"aten.addmm.default(%bn.bias, %m, %w, beta=%n)",
        "aten.addmm.default(%bn.bias, %m, %w, alpha=%n)",
        "aten.convolution.default(%i, %k, none, [1], [0], [1], false, [0], %n)"}) {
    const std::string text =
        absl::StrCat("method @m<s: 1..2>(%q: f32[s], %m: f32[2,3]) {", kNorm,
                     "%w = constant @w : f32[3,4] %k = constant @k : f32[4,2,1] "
                     "%n = aten.sym_size.int(%q, 0) %t = executorch_prim.mul.Scalar(%n, 2) "
                     "%i = aten.full.default([1, %t, 5], 1, dtype=f32) %p = ",
                     producer, " ", norm_of("%p"), " return %y }");
    const auto graph = graph_of(text);
    ASSERT_NE(graph, nullptr) << producer;
    ASSERT_TRUE(fold_batch_norm(*graph, {}).ok()) << producer;
    EXPECT_THAT(plain_text(*graph), Not(HasSubstr("@bn : f32["))) << producer;
  }
}

TEST(FoldBatchNorm, InTrainingItStays) {
  EXPECT_THAT(after_pass(fold_batch_norm,
                         "method @m(%x: f32[2,4,5,5]) { "
                         "%y = aten.batch_norm.default(%x, none, none, none, "
                         "none, true, 0.1, 0.25, true) return %y }"),
              HasSubstr("aten.batch_norm.default"));
}

}  // namespace
}  // namespace petrel::exir
