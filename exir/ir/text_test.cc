// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/text.h"

#include <limits>
#include <string>

#include "exir/ir/test_ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Graph>> parse(const std::string& text) {
  return parse_graph(text, find_test_op, test_constant);
}

std::string parse_error(const std::string& text) {
  return std::string(parse(text).status().message());
}

// One line of every kind that the printer writes.
constexpr char kAll[] =
    R"(method @forward(%x: f32[1,16,8,8], %y: i64[2]{0}, %n: int, %cl: f32[1,3,8,8]{0,2,3,1}, %s: float, %b: bool) {
  %conv.weight = constant @conv.weight : f32[16,1,3,3]
  %cache = state @state.cache : f32[1,16,8,8]
  %"odd name\n" = constant @"odd \"fqn\"" : i64[]
  %add = aten.add.Tensor(%x, %x, 0.5) : f32[1,16,8,8]
  %cat = aten.cat.default([%add, %x], -1) : f32[1,16,8,16]
  %values, %indices = aten.max.dim(%cat, 1, true) : f32[1,1,8,16], i64[1,1,8,16]
  %mean = aten.mean.dim(%cat, [2, 3], false, f64) : f64[1,16]
  %mean_1 = aten.mean.dim(%cat, none, false, none) : f32[]
  %index = aten.index.Tensor(%x, [none, %y]) : f32[1,2,8,8]
  %a, %b.1, %c = aten.split.Tensor(%y, 1) : i64[1], i64[1], i64[1]
  %clone = aten.clone.default(%x, channels_last) : f32[1,16,8,8]
  %view = aten.view.default(%x, [%n, -1]) : f32[16,64]
  %pad = aten.pad.default(%x, [], "constant", -inf) : f32[1,16,8,8]
  aten._assert.default(%y, "must be \"so\"")
  write %add to %cache
  return %pad, %x
}
)";

TEST(Text, PrintsWhatItReads) {
  auto graph = parse(kAll);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::string wanted = kAll;
  // An identity dim order is not written.
  wanted.replace(wanted.find("i64[2]{0}"), 9, "i64[2]");
  EXPECT_EQ(print_graph(**graph), wanted);
}

TEST(Text, ReadsTheKindsOfArguments) {
  auto graph = parse(kAll);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::vector<Node*> nodes = (*graph)->node_pointers();
  ASSERT_EQ(nodes.size(), 11u);
  EXPECT_EQ(nodes[0]->arguments()[2], Argument(0.5));
  EXPECT_EQ(nodes[1]->arguments()[0].as_list().size(), 2u);
  EXPECT_EQ(nodes[3]->arguments()[1], Argument(Argument::Ints{2, 3}));
  EXPECT_EQ(nodes[3]->arguments()[3], Argument(ScalarType::kDouble));
  EXPECT_TRUE(nodes[4]->arguments()[1].is_none());
  EXPECT_TRUE(nodes[5]->arguments()[1].as_list()[0].is_none());
  EXPECT_EQ(nodes[7]->arguments()[1], Argument(MemoryFormat::kChannelsLast));
  EXPECT_TRUE(nodes[8]->arguments()[1].is_list());
  EXPECT_EQ(nodes[9]->arguments()[1], Argument(Argument::Ints{}));
  EXPECT_EQ(nodes[9]->arguments()[3], Argument(-std::numeric_limits<double>::infinity()));
  EXPECT_EQ(nodes[10]->arguments()[1], Argument(std::string("must be \"so\"")));
  EXPECT_TRUE((*graph)->buffer_writes()[0].buffer->constant()->is_mutable());
}

class FloatText : public ::testing::TestWithParam<double> {};

TEST_P(FloatText, ReadsBackAsTheSameDouble) {
  Graph graph("m");
  Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {}), "x");
  graph.append(*find_test_op("aten.add.Tensor"), {Argument(x), Argument(x), Argument(GetParam())},
               {x->type()}, "y");
  graph.set_outputs({x});
  auto again = parse(print_graph(graph));
  ASSERT_TRUE(again.ok()) << again.status() << print_graph(graph);
  EXPECT_EQ((*again)->nodes().front()->arguments()[2], Argument(GetParam())) << print_graph(graph);
}

INSTANTIATE_TEST_SUITE_P(All, FloatText,
                         ::testing::Values(0.0, 1.0, -1.0, 0.1, 1e-5, -1e-5, 1e300, 1e22,
                                           123456789.0, 1.0 / 3.0, 5e-324, 0.35355339059327373,
                                           std::numeric_limits<double>::infinity(),
                                           -std::numeric_limits<double>::infinity(),
                                           std::numeric_limits<double>::quiet_NaN()));

TEST(Text, FillsDefaultsTakesKeywordsAndInfers) {
  auto graph = parse(R"(method @m(%x: f32[2]) {  // a note
    %y = aten.add.Tensor(%x, other=%x)
    %z = aten.add.Tensor(alpha=3, self=%y, other=%x) : f32[2]
    return %z
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(print_graph(**graph), R"(method @m(%x: f32[2]) {
  %y = aten.add.Tensor(%x, %x, 1) : f32[2]
  %z = aten.add.Tensor(%y, %x, 3) : f32[2]
  return %z
}
)");
}

TEST(Text, KeepsSizesThatVary) {
  constexpr char kText[] =
      R"(method @m<s0: 1..16, s1: 2..9 at 9|2|3|4|5|6|7|8, u_1: 0..99 unknown 9|2|3|4|5|6|7|8>(%x: f32[2*s0*s1 + s0//2 - 3,8], %y: f32[(s0 + 1)//2,max(8, s1)]{1,0}, %n: int(-s1 + 3), %u: i64[u_1], %z: f32[2*(s0//s1)*(s1//4) + 1]) {
  %a = aten.relu.default(%x) : f32[2*s0*s1 + s0//2 - 3,8]
  return %a
}
)";
  auto graph = parse(kText);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(print_graph(**graph), kText);
  EXPECT_EQ((*graph)->inputs()[0]->tensor().sizes, (Sizes{2 * 16 * 9 + 8 - 3, 8}));
  EXPECT_EQ((*graph)->inputs()[1]->tensor().sizes, (Sizes{8, 9}));
}

TEST(Text, KeepsNamesThatLookGenerated) {
  constexpr char kText[] = R"(method @m(%x_1: f32[2], %x: f32[2]) {
  %a_r1, %a_r0 = aten.max.dim(%x, 0, false) : f32[], i64[]
  %x_2 = aten.relu.default(%x_1) : f32[2]
  %q, %q_r2, %q_r1 = aten.split.Tensor(%x, 1) : f32[1], f32[1], f32[1]
  return %x_2
}
)";
  auto graph = parse(kText);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(print_graph(**graph), kText);
}

struct BadText {
  const char* name;
  const char* text;
  const char* error;
};

class BadTexts : public ::testing::TestWithParam<BadText> {};

TEST_P(BadTexts, NamesThePlace) {
  EXPECT_THAT(parse_error(GetParam().text), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTexts,
    ::testing::Values(
        BadText{"SizeWithoutSymbol", "method @m(%x: f32[s0]) { return %x }",
                "line 1, column 21: symbol 's0' is not declared"},
        BadText{"EmptyRange", "method @m<s0: 3..2>(%x: f32[s0]) { return %x }",
                "the range of 's0' is empty"},
        BadText{"SampleOutOfRange", "method @m<s0: 1..3 at 1|2|3|1|2|3|1|9>() { return }",
                "sample 9 of 's0' must be in [1, 3]"},
        BadText{"SymbolTwice", "method @m<s0: 1..3, s0: 1..3>() { return }",
                "symbol 's0' is declared twice"},
        BadText{"DivisionByZero", "method @m<s0: 1..3>(%x: f32[s0//0]) { return %x }",
                "divides by zero"},
        BadText{"Empty", "", "line 1, column 1: expected 'method'"},
        BadText{"UnknownOp", "method @m() {\n %a = aten.nope.x() : f32[]\n",
                "line 2, column 7: operator 'aten.nope.x' is unknown"},
        BadText{"UseBeforeDefinition", "method @m() {\n %a = aten.relu.default(%b) : f32[]\n",
                "line 2, column 25: value 'b' is not defined above"},
        BadText{"DefinedTwice", "method @m(%a: f32[]) {\n %a = aten.relu.default(%a) : f32[]",
                "value 'a' is defined twice"},
        BadText{"BadType", "method @m(%a: f33[]) {",
                "line 1, column 15: expected a type, found 'f33'"},
        BadText{"NegativeDim", "method @m(%a: f32[2,-4]) {", "dim 1 is -4, must be in [0, 2^31)"},
        BadText{"HugeTensor", "method @m(%a: f32[2147483647,2147483647,2147483647]) {",
                "more than 2^63 bytes"},
        BadText{"DimOrderNoPermutation", "method @m(%a: f32[2,2]{0,0}) {",
                "dim order is not a permutation of 2 dims"},
        BadText{"DimOrderTooLarge", "method @m(%a: f32[2,2]{0,300}) {",
                "dim order holds 300, must be in [0, 2)"},
        BadText{"TooManyArguments", "method @m(%a: f32[]) {%b = aten.relu.default(%a, 1)",
                "aten.relu.default takes 1 arguments, found more"},
        BadText{"MissingArgument", "method @m(%a: f32[]) {%b = aten.add.Tensor(%a)",
                "aten.add.Tensor lacks argument 'other'"},
        BadText{"UnknownKeyword", "method @m(%a: f32[]) {%b = aten.relu.default(it=%a)",
                "aten.relu.default has no argument 'it'"},
        BadText{"GivenTwice", "method @m(%a: f32[]) {%b = aten.relu.default(%a, self=%a)",
                "argument 'self' is given twice"},
        BadText{"WrongNumberOfNames",
                "method @m(%a: f32[]) {%b = aten.max.dim(%a, 0, true) : f32[], "
                "i64[]",
                "1 names for 2 results"},
        BadText{"UnclosedString", "method @m(%a: f32[]) {aten._assert.default(%a, \"x",
                "the string has no closing quote"},
        BadText{"UnclosedStringAfterBackslash",
                "method @m(%a: f32[]) {aten._assert.default(%a, \"x\\",
                "the string has no closing quote"},
        BadText{"BadNumber", "method @m(%a: f32[]) {%b = aten.add.Tensor(%a, %a, 1.2.3)",
                "expected an argument, found '1.2.3'"},
        BadText{"IntegerOverflow", "method @m(%a: f32[99999999999999999999]) {",
                "expected an integer, found '99999999999999999999'"},
        BadText{"DeepLists", "method @m(%a: f32[]) {%b = aten.cat.default([[[[[[[[[[[[",
                "lists nest deeper than 8"},
        BadText{"NoReturn", "method @m(%a: f32[]) { }", "operator '' is unknown"},
        BadText{"TextBehind", "method @m(%a: f32[]) { return %a } x", "text behind the method"},
        BadText{"ConstantTwice", "method @m() {%a = constant @w : f32[] %b = constant @w : f32[]",
                "constant 'w' occurs twice"},
        BadText{"MutableAsConstant", "method @m() {%a = constant @state.w : f32[]",
                "constant 'state.w' is mutable"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Text, RejectsAConstantThatNobodyKnows) {
  auto graph = parse_graph("method @m() { %w = constant @w : f32[2] return %w }", find_test_op,
                           [](const std::string&, const TensorType&) { return ConstantPtr(); });
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr("constant 'w' is unknown"));
}

TEST(Text, EveryTruncationIsAnError) {
  const std::string text = kAll;
  for (size_t size = 0; size + 2 < text.size(); ++size) {
    EXPECT_FALSE(parse(text.substr(0, size)).ok()) << size;
  }
}

TEST(Text, NoSingleByteChangeCrashesIt) {
  const std::string text = kAll;
  for (size_t i = 0; i < text.size(); ++i) {
    for (char c : {'\0', '\xff', '%', '"', '\\', '[', ' ', '-', '9'}) {
      std::string changed = text;
      changed[i] = c;
      auto graph = parse(changed);
      if (!graph.ok()) continue;
      // What is still a graph prints and reads again.
      const std::string printed = print_graph(**graph);
      auto again = parse(printed);
      ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
      EXPECT_EQ(print_graph(**again), printed);
    }
  }
}

}  // namespace
}  // namespace petrel::exir
