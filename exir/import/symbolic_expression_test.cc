// SPDX-License-Identifier: Apache-2.0
#include "exir/import/symbolic_expression.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

constexpr char kX[] = "Symbol('s77', positive=True, integer=True)";
constexpr char kY[] = "Symbol('s3', integer=True)";

int64_t value_of(const std::string& text, int64_t x, int64_t y = 1) {
  const auto parsed = SymbolicExpression::parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return -999;
  const auto value = parsed->evaluate({{"s77", x}, {"s3", y}});
  EXPECT_TRUE(value.ok()) << text << ": " << value.status();
  return value.value_or(-999);
}

std::string call(const std::string& function, const std::string& a, const std::string& b) {
  return function + "(" + a + ", " + b + ")";
}

std::string error_of(const std::string& text) {
  const auto parsed = SymbolicExpression::parse(text);
  return parsed.ok() ? "no error" : std::string(parsed.status().message());
}

TEST(SymbolicExpression, ComputesAsPythonDoes) {
  EXPECT_EQ(value_of("Integer(-7)", 0), -7);
  EXPECT_EQ(value_of(kX, 5), 5);
  EXPECT_EQ(value_of(call("Add", call("Mul", "Integer(3)", kX), "Integer(-2)"), 6), 16);
  EXPECT_EQ(value_of(call("Pow", kX, "Integer(2)"), 7), 49);
  EXPECT_EQ(value_of(call("FloorDiv", kX, "Integer(4)"), 11), 2);
  EXPECT_EQ(value_of(call("FloorDiv", "Integer(-7)", "Integer(2)"), 0), -4);
  EXPECT_EQ(value_of(call("CeilDiv", kX, "Integer(4)"), 11), 3);
  EXPECT_EQ(value_of(call("PythonMod", "Integer(-7)", "Integer(3)"), 0), 2);
  EXPECT_EQ(value_of(call("Min", kX, kY), 4, 9), 4);
  EXPECT_EQ(value_of(call("torch.utils._sympy.functions.Max", kX, kY), 4, 9), 9);
  EXPECT_EQ(value_of("TruncToInt(" + call("Mul", "Float('0.5', precision=53)", kX) + ")", 7), 3);
  EXPECT_EQ(value_of(call("Mul", "Rational(1, 2)", kX), 8), 4);
}

TEST(SymbolicExpression, BoundsWhatSymbolsInRangesGive) {
  const auto range = [](const std::string& text) {
    const auto parsed = SymbolicExpression::parse(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    const auto found = parsed->range({{"s77", {2, 10}}, {"s3", {1, 4}}});
    EXPECT_TRUE(found.ok()) << found.status();
    return std::make_pair(static_cast<int>(found->low), static_cast<int>(found->high));
  };
  using Pair = std::pair<int, int>;
  EXPECT_EQ(range(call("Add", "Integer(20)", call("Mul", "Integer(-1)", kX))), Pair(10, 18));
  EXPECT_EQ(range(call("Mul", kX, kY)), Pair(2, 40));
  EXPECT_EQ(range(call("Mod", kX, "Integer(8)")), Pair(0, 7));
  EXPECT_EQ(range(call("FloorDiv", kX, kY)), Pair(0, 10));
  EXPECT_EQ(range(call("Min", kX, "Integer(6)")), Pair(2, 6));
}

TEST(SymbolicExpression, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(error_of("Sinh(Integer(1))"), "sizes computed with 'Sinh' are not supported");
  EXPECT_THAT(error_of("Add(Integer(1)"), testing::HasSubstr("expected ')'"));
  EXPECT_THAT(error_of("FloorDiv(Integer(1))"),
              testing::HasSubstr("FloorDiv has 1 arguments, must have 2"));
  EXPECT_THAT(error_of("Integer(1) Integer(2)"), testing::HasSubstr("text behind the expression"));
  EXPECT_THAT(error_of("Symbol(s1)"), testing::HasSubstr("quoted text"));
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "floor(";
  EXPECT_THAT(error_of(deep + "Integer(1)"), testing::HasSubstr("nests deeper than 64"));
}

TEST(SymbolicExpression, RefusesValuesThatAreNoSizes) {
  const auto half = SymbolicExpression::parse("Rational(1, 2)");
  ASSERT_TRUE(half.ok());
  EXPECT_FALSE(half->evaluate({}).ok());
  const auto divided = SymbolicExpression::parse(std::string("FloorDiv(Integer(8), ") + kX + ")");
  ASSERT_TRUE(divided.ok());
  EXPECT_FALSE(divided->evaluate({{"s77", 0}}).ok());
  EXPECT_FALSE(divided->evaluate({}).ok());
}

}  // namespace
}  // namespace petrel::exir
