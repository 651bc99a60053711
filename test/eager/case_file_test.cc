// SPDX-License-Identifier: Apache-2.0
#include "test/eager/case_file.h"

#include <cmath>
#include <fstream>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

namespace petrel::test {
namespace {

constexpr char kText[] =
    "# A comment.\n"
    "cases 2\n"
    "case scaled\n"
    "input x f32[2,3] 1 0.1 -0 3e38 inf nan\n"
    "constant w f32[] 0.5\n"
    "expect y f32[0]\n"
    "graph\n"
    "method @forward(%x: f32[2,3]) {\n"
    "# of the graph\n"
    "}\n"
    "end\n"
    "\n"
    "case add.out.0\n"
    "input a f64[1,2,1,2]{0,2,3,1} 1 2 3 0.1\n"
    "expect y i64[2] 4 -9007199254740992\n"
    "call aten::add.Scalar_out(%a, 2, 1) -> %y\n"
    "end\n";

TEST(CaseFile, ReadsGraphsAndCalls) {
  const auto cases = parse_eager_cases(kText, "some.txt");
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 2u);
  const EagerCase& graph = cases->front();
  EXPECT_EQ(graph.name, "scaled");
  EXPECT_EQ(graph.graph, "method @forward(%x: f32[2,3]) {\n# of the graph\n}\n");
  EXPECT_FALSE(graph.call.has_value());
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.inputs[0].name, "x");
  EXPECT_EQ(graph.inputs[0].scalar_type, 6);
  EXPECT_EQ(graph.inputs[0].sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(graph.inputs[0].dim_order, (std::vector<uint8_t>{0, 1}));
  const std::vector<double>& x = graph.inputs[0].elements;
  ASSERT_EQ(x.size(), 6u);
  EXPECT_EQ(x[1], static_cast<double>(0.1f));
  EXPECT_TRUE(std::signbit(x[2]));
  EXPECT_EQ(x[3], static_cast<double>(3e38f));
  EXPECT_EQ(x[4], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(x[5]));
  ASSERT_EQ(graph.constants.size(), 1u);
  EXPECT_TRUE(graph.constants[0].sizes.empty());
  EXPECT_EQ(graph.constants[0].elements, std::vector<double>{0.5});
  ASSERT_EQ(graph.expected.size(), 1u);
  EXPECT_TRUE(graph.expected[0].elements.empty());

  const EagerCase& call = cases->back();
  EXPECT_TRUE(call.graph.empty());
  ASSERT_TRUE(call.call.has_value());
  EXPECT_EQ(call.call->function, "aten::add.Scalar_out");
  EXPECT_EQ(call.inputs[0].dim_order, (std::vector<uint8_t>{0, 2, 3, 1}));
  EXPECT_EQ(call.inputs[0].elements[3], 0.1);
  EXPECT_EQ(call.expected[0].elements, (std::vector<double>{4, -9007199254740992.0}));
}

struct Broken {
  const char* from;  // in kText
  const char* to;
  const char* message;  // part of it
};

constexpr Broken kBroken[] = {
    {"cases 2\n", "", "some.txt:2: expected 'cases' and their number, found 'case scaled'"},
    {"cases 2", "cases many", "some.txt:2: expected 'cases' and their number, found 'cases many'"},
    {"cases 2", "cases 3", "some.txt:17: 2 cases, announced are 3"},
    {"case scaled\n", "", "some.txt:3: expected 'case', found 'input'"},
    {"case scaled", "case ", "some.txt:3: a case without a name"},
    {"case add.out.0", "case scaled", "some.txt:13: a second case 'scaled'"},
    {"end\n\ncase", "\ncase", "some.txt:12: case 'scaled' has no end"},
    {"constant w f32[]", "constant x f32[]", "some.txt:5: a second tensor 'x'"},
    {"constant w", "weight w", "some.txt:5: unknown line 'weight w f32[] 0.5'"},
    {"constant w f32[] 0.5", "constant w", "some.txt:5: expected a tensor's name and type"},
    {"f32[] 0.5", "f32[]", "some.txt:5: f32[] has 1 elements, found 0"},
    {"f32[2,3] 1", "f32[2,3] 1 1", "some.txt:4: f32[2,3] has 6 elements, found 7"},
    {"w f32[]", "w f33[]", "some.txt:5: 'f33[]' is not a type"},
    {"w f32[]", "w f32", "some.txt:5: 'f32' is not a type"},
    {"w f32[]", "w f32[1", "some.txt:5: 'f32[1' is not a type"},
    {"w f32[]", "w f32[-1]", "some.txt:5: 'f32[-1]' is not a type"},
    {"w f32[]", "w f32[1]x", "some.txt:5: 'f32[1]x' is not a type"},
    {"w f32[]", "w f32[1,1]{1,1}", "some.txt:5: 'f32[1,1]{1,1}' is not a type"},
    {"w f32[]", "w f32[2147483647,2147483647,2147483647]", "2147483647]' is not a type"},
    {"3e38", "3e39", "some.txt:4: '3e39' is not an element of f32"},
    {"0.1 -0", "0.1x -0", "some.txt:4: '0.1x' is not an element of f32"},
    {"i64[2] 4", "i64[2] 4.0", "some.txt:15: '4.0' is not an element of i64"},
    {"i64[2] 4", "u8[2] 256", "some.txt:15: '256' is not an element of u8"},
    {"740992", "740993", "some.txt:15: '-9007199254740993' is not an element of i64"},
    {"(%a, 2", "(%b, 2", "some.txt:16: no line for tensor 'b'"},
    {"-> %y", "-> %z", "some.txt:16: no line expects output 'z', or it is twice"},
    {"-> %y", "-> %y, %y", "some.txt:16: no line expects output 'y', or it is twice"},
    {"call aten", "expect z f32[] 1\ncall aten", "some.txt:17: the call does not write 'z'"},
    {"-> %y", "-> %y %y", "some.txt:16: expected the end at '%y'"},
    {"-> %y\n", "-> %y\ninput b f32[] 1\n", "some.txt:17: expected 'end', found 'input'"},
    {"call aten::add.Scalar_out(%a, 2, 1) -> %y\n", "", "'add.out.0' has neither a graph nor"},
};

TEST(CaseFile, NamesTheLineThatIsWrong) {
  for (const Broken& broken : kBroken) {
    ASSERT_TRUE(absl::StrContains(kText, broken.from)) << broken.from;
    const auto cases =
        parse_eager_cases(absl::StrReplaceAll(kText, {{broken.from, broken.to}}), "some.txt");
    ASSERT_FALSE(cases.ok()) << broken.to;
    EXPECT_TRUE(absl::StrContains(cases.status().message(), broken.message)) << cases.status();
  }
}

// However many bytes of a file are left, either the rest was only a line's end or
// the file is refused.
TEST(CaseFile, RefusesWhatIsCutOff) {
  const absl::string_view text = kText;
  for (size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_FALSE(parse_eager_cases(text.substr(0, size), "cut").ok()) << size;
  }
}

TEST(CaseFile, EndsTheProcessWithoutCases) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/broken.txt");
  std::ofstream(path) << "cases 1\n";
  EXPECT_EXIT(load_eager_cases(path), ::testing::ExitedWithCode(1),
              "broken.txt:1: 0 cases, announced are 1");
  std::ofstream(path) << "";
  EXPECT_EXIT(load_eager_cases(path), ::testing::ExitedWithCode(1), "broken.txt");
  EXPECT_EXIT(load_eager_cases(path + "x"), ::testing::ExitedWithCode(1), "cannot be read");
  std::ofstream(path) << kText;
  EXPECT_EQ(load_eager_cases(path).size(), 2u);
}

}  // namespace
}  // namespace petrel::test
