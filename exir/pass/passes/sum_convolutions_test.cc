// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/sum_convolutions.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/passes/fold_batch_norm.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

constexpr char kThree[] = ", [1, 1], [1, 1], [1, 1], false, [0, 0], ";
constexpr char kOne[] = ", [1, 1], [0, 0], [1, 1], false, [0, 0], ";

std::string method(const std::string& body) {
  return absl::StrCat(
      "method @m(%x: f32[1,4,5,5], %z: f32[1,4,5,5]) { "
      "%u = constant @u.weight : f32[4,4,3,3] %c = constant @u.bias : f32[4] "
      "%v = constant @v.weight : f32[4,4,1,1] %d = constant @v.bias : f32[4] "
      "%s = state @state.weight : f32[4,4,1,1] "
      "%n.weight = constant @n.weight : f32[4] %n.bias = constant @n.bias : f32[4] "
      "%mean = constant @n.running_mean : f32[4] %var = constant @n.running_var : f32[4] ",
      body, "}");
}

std::string wide(const std::string& name, const std::string& x = "%x") {
  return absl::StrCat(name, " = aten.convolution.default(", x, ", %u, %c", kThree, "1) ");
}

std::string narrow(const std::string& name, const std::string& x = "%x") {
  return absl::StrCat(name, " = aten.convolution.default(", x, ", %v, %d", kOne, "1) ");
}

constexpr char kNorm[] =
    "%n = aten.batch_norm.default(%x, %n.weight, %n.bias, %mean, %var, false, 0.1, 0.25, true) ";

int count_of(const Graph& graph, OpHandle handle) {
  int count = 0;
  for (const auto& node : graph.nodes()) {
    count += node->is(handle) && node->result()->is_used() ? 1 : 0;
  }
  return count;
}

TEST(SumConvolutions, BranchesBecomeOne) {
  auto graph = graph_of(
      method(absl::StrCat(narrow("%b"), wide("%a"), "%p = aten.add.Tensor(%b, %a) ", kNorm,
                          "%q = aten.add.Tensor(%n, %p) %y = aten.add.Tensor(%q, %x) return %y")));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  EXPECT_EQ(count_of(*graph, aten::convolution), 1);
  EXPECT_EQ(count_of(*graph, aten::add_Tensor), 0);

  std::vector<double> weight = constant_elements(*graph, "u.weight");
  std::vector<double> bias = constant_elements(*graph, "u.bias");
  const auto one = constant_elements(*graph, "v.weight");
  const auto shift = constant_elements(*graph, "v.bias");
  const auto gamma = constant_elements(*graph, "n.weight");
  const auto beta = constant_elements(*graph, "n.bias");
  const auto mean = constant_elements(*graph, "n.running_mean");
  const auto var = constant_elements(*graph, "n.running_var");
  for (size_t o = 0; o < 4; ++o) {
    const double scale = gamma[o] / std::sqrt(var[o] + 0.25);
    for (size_t i = 0; i < 4; ++i) {
      weight[(o * 4 + i) * 9 + 4] += one[o * 4 + i] + (i == o ? scale + 1 : 0);
    }
    bias[o] += shift[o] + beta[o] - mean[o] * scale;
  }
  const auto found = constant_elements(*graph, "u.weight@sum3");
  ASSERT_EQ(found.size(), weight.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], weight[i], 5e-7) << i;
  const auto found_bias = constant_elements(*graph, "u.bias@sum2");
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(found_bias[c], bias[c], 5e-7) << c;
}

TEST(SumConvolutions, ABatchNormBehindTheSumGoesIntoIt) {
  const std::string after =
      after_pass(fold_batch_norm,
                 method(absl::StrCat(wide("%a"), narrow("%b"),
                                     "%p = aten.add.Tensor(%a, %b) %y = aten.batch_norm.default("
                                     "%p, %n.weight, %n.bias, %mean, %var, false, 0.1, 0.25, true)"
                                     " return %y")));
  EXPECT_THAT(after, HasSubstr("aten.convolution.default(%0, %u.weight@sum1@n, %u.bias@sum1@n, "));
}

TEST(SumConvolutions, ANumberGoesIntoTheBias) {
  auto graph =
      graph_of(method(absl::StrCat(wide("%a"), "%y = aten.add.Scalar(%a, 0.5) return %y")));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  EXPECT_EQ(count_of(*graph, aten::add_Scalar), 0);
  const auto before = constant_elements(*graph, "u.bias");
  const auto after = constant_elements(*graph, "u.bias@sum1");
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(after[c], before[c] + 0.5, 1e-7);
}

// Depthwise, with taps two apart: the narrow window's are the first and last of the wide one's.
TEST(SumConvolutions, TapsMayBeApart) {
  auto graph = graph_of(
      "method @m(%x: f32[1,4,9]) { "
      "%u = constant @u.weight : f32[4,1,5] %v = constant @v.weight : f32[4,1,2] "
      "%a = aten.convolution.default(%x, %u, none, [1], [2], [1], false, [0], 4) "
      "%b = aten.convolution.default(%x, %v, none, [1], [2], [4], false, [0], 4) "
      "%p = aten.add.Tensor(%b, %a) %y = aten.add.Tensor(%x, %p) return %y }");
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  EXPECT_EQ(count_of(*graph, aten::convolution), 1);
  std::vector<double> weight = constant_elements(*graph, "u.weight");
  const auto two = constant_elements(*graph, "v.weight");
  for (size_t c = 0; c < 4; ++c) {
    weight[c * 5] += two[c * 2];
    weight[c * 5 + 4] += two[c * 2 + 1];
    weight[c * 5 + 2] += 1;
  }
  const auto found = constant_elements(*graph, "u.weight@sum2");
  ASSERT_EQ(found.size(), weight.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], weight[i], 3e-7) << i;
}

TEST(SumConvolutions, BatchesMayVary) {
  const std::string after = after_pass(
      fold_batch_norm,
      absl::StrCat("method @m<n: 1..9>(%x: f32[n,4,5,5]) { "
                   "%u = constant @u.weight : f32[4,4,3,3] %v = constant @v.weight : f32[4,4,1,1] "
                   "%a = aten.convolution.default(%x, %u, none",
                   kThree, "1) %b = aten.convolution.default(%x, %v, none", kOne,
                   "1) %y = aten.add.Tensor(%a, %b) return %y }"));
  EXPECT_THAT(after, HasSubstr("aten.convolution.default(%0, %u.weight@sum1, none, "));
}

struct Kept {
  const char* name;
  std::string body;
};

class SumsStay : public ::testing::TestWithParam<Kept> {};

TEST_P(SumsStay, AsTheyAre) {
  const std::string before = method(GetParam().body);
  EXPECT_EQ(after_pass(fold_batch_norm, before), expected(before));
}

INSTANTIATE_TEST_SUITE_P(
    All, SumsStay,
    ::testing::Values(
        Kept{"OfOtherInputs", absl::StrCat(wide("%a"), narrow("%b", "%z"),
                                           "%y = aten.add.Tensor(%a, %b) return %y")},
        Kept{"OfAnotherTensor", absl::StrCat(wide("%a"), "%y = aten.add.Tensor(%a, %z) return %y")},
        Kept{"ThatAreUsedTwice", absl::StrCat(wide("%a"), narrow("%b"),
                                              "%y = aten.add.Tensor(%a, %b) return %y, %a, %b")},
        Kept{"OfMultiples",
             absl::StrCat(wide("%a"), narrow("%b"), "%y = aten.add.Tensor(%a, %b, 2) return %y")},
        Kept{"OfStates", absl::StrCat("%a = aten.convolution.default(%x, %s, none", kOne,
                                      "1) %b = aten.convolution.default(%x, %s, none", kOne,
                                      "1) %y = aten.add.Tensor(%a, %b) return %y")},
        Kept{"OfOtherStrides",
             "%a = aten.convolution.default(%x, %u, %c, [2, 2], [1, 1], [1, 1], false, [0, 0], 1) "
             "%b = aten.convolution.default(%x, %v, %d, [1, 1], [0, 0], [2, 2], false, [0, 0], 1) "
             "%p = aten.avg_pool2d.default(%b, [2, 2], [2, 2], [0, 0], true) "
             "%y = aten.add.Tensor(%a, %p) return %y"},
        // The windows of one begin before, those of the other end behind.
        Kept{"OfWindowsBesideOneAnother",
             "%l = constant @l : f32[4,4,1,3] %r = constant @r : f32[4,4,3,1] "
             "%a = aten.convolution.default(%x, %l, none, [1, 1], [0, 1], [1, 1], false, [0, 0], 1)"
             " %b = aten.convolution.default(%x, %r, none, [1, 1], [1, 0], [1, 1], false, [0, 0], "
             "1) %y = aten.add.Tensor(%a, %b) return %y"}),
    name_of_case<Kept>);

// Filters of no channels take no bytes in an archive: a bias of 17 GB, 2^30 places.
TEST(SumConvolutions, FiltersWithoutElementsStay) {
  for (const char* text :
       {"method @m(%x: f32[1,0,1,1]) { %w = constant @w : f32[2147483647,0,1,1] "
        "%a = aten.convolution.default(%x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1) "
        "%y = aten.add.Scalar(%a, 1.0) return %y }",
        "method @m(%x: f32[1,1,1,1]) { %w = constant @w : f32[0,1,32768,32768] "
        "%a = aten.convolution.default(%x, %w, none, [1, 1], [16384, 16384], [1, 1], false, "
        "[0, 0], 1) "
        "%b = aten.convolution.default(%x, %w, none, [1, 1], [16384, 16384], [1, 1], false, "
        "[0, 0], 1) "
        "%y = aten.add.Tensor(%a, %b) return %y }"}) {
    EXPECT_EQ(after_pass(fold_batch_norm, text), expected(text));
  }
}

// Each sum is read through the one before it.
TEST(SumConvolutions, AWeightTakesFewBranches) {
  constexpr int kBranches = 1000;
  std::string body = wide("%a");
  std::string sum = "%a";
  for (int i = 0; i < kBranches; ++i) {
    absl::StrAppend(&body, narrow(absl::StrCat("%b", i)), "%p", i, " = aten.add.Tensor(", sum,
                    ", %b", i, ") ");
    sum = absl::StrCat("%p", i);
  }
  auto graph = graph_of(method(absl::StrCat(body, "return ", sum)));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  EXPECT_EQ(count_of(*graph, aten::add_Tensor), kBranches - static_cast<int>(FoldCounts::kMost));
}

TEST(FoldBatchNorm, AWeightTakesFew) {
  constexpr int kNorms = 30'000;
  std::string body = wide("%y0");
  for (int i = 0; i < kNorms; ++i) {
    absl::StrAppend(&body, "%y", i + 1, " = aten.batch_norm.default(%y", i,
                    ", %n.weight, %n.bias, %mean, %var, false, 0.1, 0.25, true) ");
  }
  auto graph = graph_of(method(absl::StrCat(body, "return %y", kNorms)));
  ASSERT_TRUE(fold_batch_norm(*graph, {}).ok());
  EXPECT_EQ(count_of(*graph, aten::mul_Tensor), kNorms - static_cast<int>(FoldCounts::kMost));
}

}  // namespace
}  // namespace petrel::exir
