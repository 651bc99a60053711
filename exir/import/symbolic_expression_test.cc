// SPDX-License-Identifier: Apache-2.0
#include "exir/import/symbolic_expression.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

constexpr char kX[] = "Symbol('s77', positive=True, integer=True)";
constexpr char kY[] = "Symbol('s3', integer=True)";

// At given values of the symbols.
int64_t value_of(const std::string& text, int64_t x, int64_t y = 1) {
  const auto parsed = SymbolicExpression::parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return -999;
  const auto size = parsed->size(
      {{"s77", SizeExpression("s77", {0, 20})}, {"s3", SizeExpression("s3", {1, 20})}});
  EXPECT_TRUE(size.ok()) << text << ": " << size.status();
  if (!size.ok()) return -999;
  const auto value = size->evaluate([&](const SizeSymbol& symbol) -> std::optional<int64_t> {
    return symbol.name == "s77" ? x : y;
  });
  EXPECT_TRUE(value.has_value()) << text << ": " << to_string(*size);
  return value.value_or(-999);
}

std::string size_of(const std::string& text) {
  const auto parsed = SymbolicExpression::parse(text);
  if (!parsed.ok()) return std::string(parsed.status().message());
  const auto size =
      parsed->size({{"s77", SizeExpression("s77", {2, 10})}, {"s3", SizeExpression("s3", {1, 4})}});
  return size.ok() ? to_string(*size) : std::string(size.status().message());
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
}

TEST(SymbolicExpression, IsASizeInNormalForm) {
  EXPECT_EQ(size_of(call("Add", "Integer(20)", call("Mul", "Integer(-1)", kX))), "-s77 + 20");
  EXPECT_EQ(size_of(call("FloorDiv", call("Mul", "Integer(4)", kX), "Integer(2)")), "2*s77");
  EXPECT_EQ(size_of(call("Mod", kX, "Integer(8)")), "s77 - 8*(s77//8)");
  EXPECT_EQ(size_of(call("Max", "Integer(1)", kX)), "s77");
  EXPECT_EQ(size_of("floor(" + call("Mul", "Rational(1, 3)", kX) + ")"), "s77//3");
  EXPECT_EQ(size_of("ceiling(" + call("Mul", "Rational(2, 3)", kX) + ")"),
            size_of(call("CeilDiv", call("Mul", "Integer(2)", kX), "Integer(3)")));
  EXPECT_EQ(size_of("floor(" + call("Mul", kX, call("Pow", kY, "Integer(-1)")) + ")"), "s77//s3");
  EXPECT_EQ(size_of("TruncToInt(" + call("Mul", "Float('1.5', precision=53)", kX) + ")"),
            "s77 + s77//2");
  EXPECT_EQ(size_of(call("CleanDiv", call("Mul", kX, kY), kX)), "s3");
}

// 0.1 is not a binary fraction, so that what is truncated depends on how it rounds.
TEST(SymbolicExpression, KeepsWhatIsNotExactAsASymbolOfItsOwn) {
  const std::string tenth = "TruncToInt(" + call("Mul", "Float('0.1', precision=53)", kX) + ")";
  EXPECT_EQ(size_of(tenth).substr(0, 2), "u_");
  EXPECT_EQ(size_of(tenth), size_of(tenth));
  EXPECT_NE(size_of(tenth),
            size_of("TruncToInt(" + call("Mul", "Float('0.2', precision=53)", kX) + ")"));
}

// Long doubles differ from machine to machine; messages and files may not.
TEST(SymbolicExpression, NamesWhatIsNotExactAfterItsText) {
  EXPECT_EQ(size_of("TruncToInt(" + call("Mul", "Float('0.1', precision=53)", kX) + ")"),
            "u_87025a3799c73a78d73487eaa949fdaf");
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

TEST(SymbolicExpression, NamesWhatItExpected) {
  const std::pair<const char*, const char*> kCases[] = {
      {"Symbol('s1", "the quote does not end"},
      {"Integer()", "expected a number"},
      {"Integer(inf)", "expected a number"},
      {"Float('x')", "'x', column 1: expected a number"},
      {"Float('1.5)')", "'1.5)', column 4: text behind the number"},
      {"Symbol('s', =True)", "expected NAME=VALUE"},
      {"Symbol('s', positive True)", "expected NAME=VALUE"},
      {"Symbol('s', positive=)", "expected NAME=VALUE"},
      {"Integer(1", "expected ')'"},
      {"Integer", "expected '('"},
      {"Rational(1 2)", "expected ','"},
      {"Rational(1, 0)", "divides by zero"},
  };
  for (const auto& [text, expected] : kCases) {
    EXPECT_THAT(error_of(text), testing::EndsWith(expected)) << text;
  }
}

TEST(SymbolicExpression, NamesValuesThatAreNoSizes) {
  const std::string large = "Integer(4611686018427387904)";
  for (const std::string& text :
       {call("Mul", large, kX), std::string("Integer(9000000000000000000)"),
        std::string("Rational(1, 2)")}) {
    EXPECT_EQ(size_of(text), "a size is not an integer below 2^62") << text;
  }
  // What is infinite would be above the other.
  EXPECT_EQ(size_of(call("Min", call("FloorDiv", "Integer(8)", call("Add", kX, "Integer(-2)")),
                         "Integer(3)")),
            "a size is divided by what may be zero");
  EXPECT_EQ(size_of("Symbol('s9')"), "symbol s9 has no range");
}

// Each is a whole number at every sample, by parts that are none or that nobody has a form of.
TEST(SymbolicExpression, KeepsWhatHasPartsWithoutAFormAsASymbol) {
  const std::string half = call("Mul", "Rational(1, 2)", kX);
  const std::string one = "Integer(1)", two = "Integer(2)";
  const std::string huge = "Integer(2305843009213693952)";  // 2^61
  const std::string above = call("Mul", huge, call("Mul", "Integer(8)", kX));
  const std::string power = call("Pow", one, kX);
  for (const std::string& text : {
           call("Mul", two, call("Min", half, one)),
           call("Mul", two, call("Min", one, half)),
           "floor(" + call("Mod", half, one) + ")",
           call("Mod", one, "Rational(1, 2)"),
           call("Pow", one, "Rational(1, 2)"),
           power,
           call("Pow", one, "Integer(17)"),
           call("Pow", one, "Integer(-17)"),
           "TruncToInt(" + call("Mul", "Float('0.17', precision=53)", kX) + ")",
           call("FloorDiv", "Integer(9000000000000000000)", "Integer(9000000000000000000)"),
           call("FloorDiv", above, huge),
           call("FloorDiv", huge, call("Mul", huge, power)),
           call("Add", kX, power),
           call("Max", one, call("FloorDiv", call("Pow", huge, "Integer(-2)"), two)),
       }) {
    EXPECT_EQ(size_of(text).substr(0, 2), "u_") << text << ": " << size_of(text);
  }
}

TEST(SymbolicExpression, RefusesValuesThatAreNoSizes) {
  const auto half = SymbolicExpression::parse("Rational(1, 2)");
  ASSERT_TRUE(half.ok());
  EXPECT_FALSE(half->size({}).ok());
  const auto divided = SymbolicExpression::parse(std::string("FloorDiv(Integer(8), ") + kX + ")");
  ASSERT_TRUE(divided.ok());
  EXPECT_FALSE(divided->size({{"s77", SizeExpression("s77", {0, 0})}}).ok());
  EXPECT_FALSE(divided->size({}).ok());
}

}  // namespace
}  // namespace petrel::exir
