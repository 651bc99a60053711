// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/normalize_scalars.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "exir/pass/framework/pass_case.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string method(const std::string& body) {
  return "method @m(%x: f32[4], %i: i64[4], %m: bool[4], %h: f16[4]) {"
         "%two = constant @f32.2 : f32[] %three = constant @i64.3 : i64[] "
         "%vector = constant @v : f32[4] " +
         body + "}";
}

using Case = PassCase;

class NormalizeScalars : public ::testing::TestWithParam<Case> {};

TEST_P(NormalizeScalars, PutsNumbersWhereTheyBelong) {
  const std::string before = method(GetParam().before);
  const auto graph = graph_of(before);
  ASSERT_NE(graph, nullptr);
  const double two = constant_elements(*graph, "f32.2")[0];
  const double three = constant_elements(*graph, "i64.3")[0];
  const std::string after = absl::StrReplaceAll(
      method(GetParam().after), {{"TWO", absl::StrCat(two, "e0")}, {"THREE", absl::StrCat(three)}});
  EXPECT_EQ(after_pass(normalize_scalars, before), expected(after));
}

INSTANTIATE_TEST_SUITE_P(
    All, NormalizeScalars,
    ::testing::Values(
        Case{"AddKeepsAlpha", "%a = aten.add.Tensor(%x, %two, alpha=2) return %a",
             "%a = aten.add.Scalar(%x, TWO, 2) return %a"},
        Case{"FirstOperandOfASum", "%a = aten.add.Tensor(%two, %x) return %a",
             "%a = aten.add.Scalar(%x, TWO) return %a"},
        Case{"FirstOperandWithAlphaStays", "%a = aten.add.Tensor(%two, %x, alpha=2) return %a",
             "%a = aten.add.Tensor(%two, %x, alpha=2) return %a"},
        Case{"FirstOperandOfAProduct", "%a = aten.mul.Tensor(%three, %x) return %a",
             "%a = aten.mul.Scalar(%x, THREE) return %a"},
        Case{"FirstOperandOfADifferenceStays", "%a = aten.sub.Tensor(%two, %x) return %a",
             "%a = aten.sub.Tensor(%two, %x) return %a"},
        Case{"RoundingModeStays",
             "%a = aten.div.Tensor_mode(%x, %two, rounding_mode=\"floor\") "
             "return %a",
             "%a = aten.div.Scalar_mode(%x, TWO, rounding_mode=\"floor\") "
             "return %a"},
        Case{"ComparisonTurnsRound",
             "%a = aten.lt.Tensor(%two, %x) %b = aten.ge.Tensor(%x, %two) "
             "return %a, %b",
             "%a = aten.gt.Scalar(%x, TWO) %b = aten.ge.Scalar(%x, TWO) "
             "return %a, %b"},
        Case{"Power", "%a = aten.pow.Tensor_Tensor(%x, %three) return %a",
             "%a = aten.pow.Tensor_Scalar(%x, THREE) return %a"},
        Case{"AFloatBesideIntegersPromotesAsBefore", "%a = aten.mul.Tensor(%i, %two) return %a",
             "%a = aten.mul.Scalar(%i, TWO) return %a"},
        Case{"AFloatBesideHalves", "%a = aten.mul.Tensor(%h, %two) return %a",
             "%a = aten.mul.Scalar(%h, TWO) return %a"},
        Case{"Clamp", "%a = aten.clamp.Tensor(%x, %two, none) return %a",
             "%a = aten.clamp.default(%x, TWO, none) return %a"},
        Case{"FloorDivideOfANumber", "%a = aten.floor_divide.default(%i, %three) return %a",
             "%a = aten.div.Scalar_mode(%i, THREE, rounding_mode=\"floor\") "
             "return %a"},
        Case{"Synonyms",
             "%a = aten.__and__.Tensor(%m, %m) "
             "%b = aten.true_divide.Tensor(%x, %two) "
             "%c = aten.max.other(%x, %x) return %a, %b, %c",
             "%a = aten.bitwise_and.Tensor(%m, %m) "
             "%b = aten.div.Scalar(%x, TWO) "
             "%c = aten.maximum.default(%x, %x) return %a, %b, %c"},
        Case{"RsubOfATensor", "%a = aten.rsub.Tensor(%x, %i, alpha=3) return %a",
             "%a = aten.sub.Tensor(%i, %x, alpha=3) return %a"},
        Case{"TensorsStay",
             "%a = aten.add.Tensor(%x, %vector) "
             "%b = aten.maximum.default(%a, %two) return %b",
             "%a = aten.add.Tensor(%x, %vector) "
             "%b = aten.maximum.default(%a, %two) return %b"}),
    name_of_case<Case>);

// Where others may take their place, weights are not numbers: the graph would
// depend on them.
TEST(NormalizeScalarConstants, WeightsStayTensorsWhereTheyAreKept) {
  constexpr char kText[] =
      "method @m(%x: f32[2]) { %w = constant @w : f32[] "
      "%a = aten.mul.Tensor(%x, %w) %b = aten.clamp.Tensor(%a, %w, none) "
      "return %b }";
  PassContext keep;
  keep.keep_weights = true;
  EXPECT_EQ(after_pass(normalize_scalars, kText, keep), expected(kText));
  EXPECT_THAT(after_pass(normalize_scalars, kText), HasSubstr("aten.mul.Scalar"));
}

// Sums of rank 0 take part in promotion, numbers do not: f64[] + f32[] is f64,
// f32[] + 2.0 is f32.
TEST(NormalizeScalarConstants, ANumberMustNotChangeTheDtype) {
  EXPECT_THAT(after_pass(normalize_scalars,
                         "method @m(%x: f32[]) { "
                         "%c = constant @f64 : f64[] "
                         "%a = aten.add.Tensor(%x, %c) return %a }"),
              HasSubstr("aten.add.Tensor"));
}

TEST(NormalizeScalarConstants, NumbersWithoutAnOverloadBecomeConstants) {
  struct {
    const char* node;
    const char* fqn;
    double value;
  } cases[] = {
      {"%a = aten.rsub.Scalar(%x, 2)", "literal_f32_40000000", 2},
      {"%a = aten.rsub.Scalar(%i, -1)", "literal_i64_ffffffffffffffff", -1},
      {"%a = aten.where.ScalarOther(%m, %x, -1.5)", "literal_f32_bfc00000", -1.5},
      {"%a = aten.remainder.Scalar_Tensor(7, %i)", "literal_i64_0000000000000007", 7},
  };
  for (const auto& one : cases) {
    const std::string text = method(std::string(one.node) + " return %a");
    auto graph = graph_of(text);
    ASSERT_NE(graph, nullptr);
    ASSERT_TRUE(normalize_scalars(*graph, {}).ok());
    EXPECT_THAT(constant_elements(*graph, one.fqn), ElementsAre(one.value));
    after_pass(normalize_scalars, text);
  }
}

TEST(NormalizeScalarConstants, OneConstantServesEqualNumbers) {
  auto graph =
      graph_of(method("%a = aten.rsub.Scalar(%x, 1) %b = aten.rsub.Scalar(%a, 1) return %b"));
  const size_t before = graph->constants().size();
  ASSERT_TRUE(normalize_scalars(*graph, {}).ok());
  EXPECT_EQ(graph->constants().size(), before + 1);
}

}  // namespace
}  // namespace petrel::exir
