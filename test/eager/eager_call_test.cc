// SPDX-License-Identifier: Apache-2.0
#include "test/eager/eager_call.h"

#include <cmath>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace petrel::test {
namespace {

TEST(EagerCall, HasEveryKindOfArgument) {
  const auto call = parse_eager_call(
      "a::b.out(none, true, -3, 0.5, -inf, \"floor, (x)\", [], [1, -2], [2.0, nan], %x, [%x, %y], "
      "?[none, %z], 1e3) -> %u, -4, [%v, %w]");
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->function, "a::b.out");
  const std::vector<CallArgument>& args = call->arguments;
  ASSERT_EQ(args.size(), 13u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(args[0]));
  EXPECT_TRUE(std::get<bool>(args[1]));
  EXPECT_EQ(std::get<int64_t>(args[2]), -3);
  EXPECT_EQ(std::get<double>(args[3]), 0.5);
  EXPECT_EQ(std::get<double>(args[4]), -HUGE_VAL);
  EXPECT_EQ(std::get<std::string>(args[5]), "floor, (x)");
  EXPECT_TRUE(std::get<std::vector<int64_t>>(args[6]).empty());
  EXPECT_EQ(std::get<std::vector<int64_t>>(args[7]), (std::vector<int64_t>{1, -2}));
  ASSERT_EQ(std::get<std::vector<double>>(args[8]).size(), 2u);
  EXPECT_TRUE(std::isnan(std::get<std::vector<double>>(args[8])[1]));
  EXPECT_EQ(std::get<TensorName>(args[9]).name, "x");
  EXPECT_EQ(std::get<TensorNames>(args[10]).names, (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(std::get<TensorNames>(args[10]).may_miss);
  EXPECT_EQ(std::get<TensorNames>(args[11]).names, (std::vector<std::string>{"", "z"}));
  EXPECT_TRUE(std::get<TensorNames>(args[11]).may_miss);
  EXPECT_EQ(std::get<double>(args[12]), 1000.0);
  ASSERT_EQ(call->outputs.size(), 3u);
  EXPECT_EQ(std::get<TensorName>(call->outputs[0]).name, "u");
  EXPECT_EQ(std::get<int64_t>(call->outputs[1]), -4);
  EXPECT_EQ(std::get<TensorNames>(call->outputs[2]).names, (std::vector<std::string>{"v", "w"}));
}

TEST(EagerCall, NamesTheWordThatIsWrong) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"", "expected a word at ''"},
      {"a", "expected '(' at ''"},
      {"a(", "expected a word at ''"},
      {"a(1", "expected ',' at ''"},
      {"a(1 2) -> %y", "expected ',' at '2) -> %y'"},
      {"a(x) -> %y", "expected an argument at 'x) -> %y'"},
      {"a(\"x) -> %y", "a string without end at 'x) -> %y'"},
      {"a([1, x]) -> %y", "expected an argument at 'x]) -> %y'"},
      {"a([1, 2.0]) -> %y", "integers and reals in one list at '2.0]) -> %y'"},
      {"a([2.0, 1]) -> %y", "integers and reals in one list at '1]) -> %y'"},
      {"a([%x, none]) -> %y", "expected '%' at 'none]) -> %y'"},
      {"a([1, 2", "expected ',' at ''"},
      {"a(%) -> %y", "expected a word at ') -> %y'"},
      {"a(1)", "expected '->' at ''"},
      {"a(1) ->", "expected '%' at ''"},
      {"a(1) -> 3.5", "expected '%' at '3.5'"},
      {"a(1) -> %y,", "expected '%' at ''"},
      {"a(1) -> %y %z", "expected the end at '%z'"},
      {"a(99999999999999999999x) -> %y", "expected an argument at '99999999999999999999'"},
  };
  for (const auto& [text, message] : kWrong) {
    const auto call = parse_eager_call(text);
    ASSERT_FALSE(call.ok()) << text;
    EXPECT_TRUE(absl::StrContains(call.status().message(), message))
        << text << ": " << call.status();
  }
}

}  // namespace
}  // namespace petrel::test
