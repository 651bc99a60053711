// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/import/json.h"
#include "exir/import/tensor_meta.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

JsonDocument parsed(const std::string& text) {
  auto document =
      JsonDocument::parse({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "graph");
  EXPECT_TRUE(document.ok()) << document.status();
  return *std::move(document);
}

// An assertion that `expression` is true, of each.
JsonDocument graph_with(const std::vector<std::string>& expressions) {
  std::string truths, nodes;
  for (size_t i = 0; i < expressions.size(); ++i) {
    const char* comma = i == 0 ? "" : ",";
    absl::StrAppend(&truths, comma, "\"t", i, "\": {\"as_expr\": {\"expr_str\": \"", expressions[i],
                    "\"}}");
    absl::StrAppend(&nodes, comma, "{\"target\": \"torch.ops.aten._assert_scalar.default\", ",
                    "\"inputs\": [{\"arg\": {\"as_sym_bool\": {\"as_name\": \"t", i, "\"}}}]}");
  }
  return parsed(absl::StrCat("{\"sym_bool_values\": {", truths, "}, \"nodes\": [", nodes, "]}"));
}

std::string equal(const char* a, const char* b) {
  return absl::StrCat("Equality(Symbol('", a, "', integer=True), Symbol('", b, "', integer=True))");
}

std::string size_of(const Symbols& symbols, const char* name) {
  const JsonDocument size =
      parsed(absl::StrCat("{\"as_expr\": {\"expr_str\": \"Symbol('", name, "', integer=True)\"}}"));
  const absl::StatusOr<SizeExpression> made = symbols.resolve(size.root());
  EXPECT_TRUE(made.ok()) << made.status();
  const SizeRange range = made->range();
  return absl::StrCat(to_string(*made), " in ", range.low, "..", range.high);
}

constexpr char kRanges[] = R"({
    "s0": {"min_val": 2, "max_val": 9}, "u0": {"min_val": 0, "max_val": 9},
    "u1": {"min_val": 1, "max_val": 8}, "u2": {"min_val": 0, "max_val": 5},
    "u3": {"min_val": 6, "max_val": 9}})";

TEST(EqualSymbols, AreOneOfTheirCommonRange) {
  const JsonDocument ranges = parsed(kRanges);
  absl::StatusOr<Symbols> symbols = Symbols::read(ranges.root());
  ASSERT_TRUE(symbols.ok()) << symbols.status();
  const JsonDocument graph = graph_with(
      {equal("u2", "u1"), equal("u0", "u1"), equal("u3", "s0"), equal("u3", "gone"),
       "GreaterThan(Symbol('u3', integer=True), Symbol('u0', integer=True))", "Equality(u0, u3)"});
  const absl::Status joined = symbols->join_equal(graph.root());
  ASSERT_TRUE(joined.ok()) << joined;
  for (const char* name : {"u0", "u1", "u2"}) EXPECT_EQ(size_of(*symbols, name), "u0 in 1..5");
  // Sizes of inputs keep their own.
  EXPECT_EQ(size_of(*symbols, "s0"), "s0 in 2..9");
  EXPECT_EQ(size_of(*symbols, "u3"), "u3 in 6..9");
}

TEST(EqualSymbols, HaveRangesThatMeet) {
  const JsonDocument ranges = parsed(kRanges);
  absl::StatusOr<Symbols> symbols = Symbols::read(ranges.root());
  ASSERT_TRUE(symbols.ok()) << symbols.status();
  const JsonDocument graph = graph_with({equal("u3", "u2")});
  EXPECT_EQ(symbols->join_equal(graph.root()).message(),
            "symbols 'u2' and 'u3' are said to be equal, but their ranges do not meet");
}

}  // namespace
}  // namespace petrel::exir
