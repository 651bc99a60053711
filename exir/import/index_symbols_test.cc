// SPDX-License-Identifier: Apache-2.0
#include <string>

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

std::string symbol(const char* name) {
  return absl::StrCat("{\"as_expr\": {\"expr_str\": \"Symbol('", name, "', integer=True)\"}}");
}

std::string item(const char* number) {
  return absl::StrCat("{\"target\": \"torch.ops.aten.item.default\", \"inputs\": [], ",
                      "\"outputs\": [{\"as_sym_int\": {\"as_name\": \"", number, "\"}}]}");
}

std::string row(const char* tensor, int dim, const char* number) {
  return absl::StrCat(
      "{\"target\": \"torch.ops.aten.select.int\", \"inputs\": [",
      "{\"arg\": {\"as_tensor\": {\"name\": \"", tensor, "\"}}}, {\"arg\": {\"as_int\": ", dim,
      "}}, {\"arg\": {\"as_sym_int\": {\"as_name\": \"", number, "\"}}}], \"outputs\": []}");
}

std::string range_of(const Symbols& symbols, const char* name) {
  const JsonDocument size = parsed(symbol(name));
  const absl::StatusOr<SizeExpression> made = symbols.resolve(size.root());
  if (!made.ok()) return std::string(made.status().message());
  return absl::StrCat(made->range().low, "..", made->range().high);
}

// The numbers a, b, c, d, e are u0 to u4 in this order; x is [5, s0], s0 at most 7.
JsonDocument graph_with(const std::string& nodes) {
  std::string numbers;
  for (const char* one : {"a:u0", "b:u1", "c:u2", "d:u3", "e:u4"}) {
    absl::StrAppend(&numbers, numbers.empty() ? "" : ",", "\"", std::string(one, 1),
                    "\": ", symbol(one + 2));
  }
  return parsed(absl::StrCat("{\"sym_int_values\": {", numbers,
                             "}, \"tensor_values\": {\"x\": {\"sizes\": [{\"as_int\": 5}, ",
                             symbol("s0"), "]}, \"y\": {\"sizes\": [", symbol("u0"),
                             "]}}, \"nodes\": [", nodes, "]}"));
}

TEST(IndexSymbols, HaveTheBoundsOfWhatTheyChoose) {
  const JsonDocument ranges = parsed(R"({
      "s0": {"min_val": 2, "max_val": 7}, "u0": {"min_val": null, "max_val": null},
      "u1": {"min_val": 0, "max_val": null}, "u2": {"min_val": 1, "max_val": 90},
      "u3": {"min_val": null, "max_val": null}, "u4": {"min_val": null, "max_val": null}})");
  absl::StatusOr<Symbols> symbols = Symbols::read(ranges.root());
  ASSERT_TRUE(symbols.ok()) << symbols.status();
  const JsonDocument graph = graph_with(
      absl::StrCat(item("a"), ",", item("b"), ",", item("c"), ",", item("e"), ",", row("x", 0, "a"),
                   ",", row("x", -1, "b"), ",", row("x", 0, "c"), ",", row("x", 0, "d"), ",",
                   row("x", 2, "e"), ",", row("gone", 0, "e"), ",", row("y", 0, "e")));
  const absl::Status bounded = symbols->bound_indices(graph.root());
  ASSERT_TRUE(bounded.ok()) << bounded;
  EXPECT_EQ(range_of(*symbols, "u0"), "-5..4");
  EXPECT_EQ(range_of(*symbols, "u1"), "0..6");   // of the largest size, and not below its own
  EXPECT_EQ(range_of(*symbols, "u2"), "1..90");  // what the model says
  for (const char* name : {"u3", "u4"}) {        // no element of a tensor; no row of a tensor
    EXPECT_NE(range_of(*symbols, name).find("has no upper bound"), std::string::npos) << name;
  }
}

// Gone through for each of them it would run into the test's time limit.
TEST(IndexSymbols, ANameThatIsSaidAgainIsNotReadAgain) {
  const JsonDocument ranges = parsed(R"({"u0": {"min_val": null, "max_val": null}})");
  absl::StatusOr<Symbols> symbols = Symbols::read(ranges.root());
  ASSERT_TRUE(symbols.ok()) << symbols.status();
  std::string types = "\"x\": {\"sizes\": [{\"as_int\": 5}]}", nodes = item("a");
  for (int i = 0; i < 50000; ++i) {
    absl::StrAppend(&types, ",\"x\": {\"sizes\": [{\"as_int\": 7}]}");
    absl::StrAppend(&nodes, ",", row("x", 0, "a"));
  }
  const JsonDocument graph =
      parsed(absl::StrCat("{\"sym_int_values\": {\"a\": ", symbol("u0"), "}, \"tensor_values\": {",
                          types, "}, \"nodes\": [", nodes, "]}"));
  EXPECT_TRUE(symbols->bound_indices(graph.root()).ok());
  EXPECT_EQ(range_of(*symbols, "u0"), "-5..4");
}

// -2^63 has no other sign.
TEST(IndexSymbols, NoTensorHasSuchASize) {
  const JsonDocument ranges = parsed(R"({"u0": {"min_val": null, "max_val": null}})");
  absl::StatusOr<Symbols> symbols = Symbols::read(ranges.root());
  ASSERT_TRUE(symbols.ok()) << symbols.status();
  const JsonDocument graph =
      parsed(absl::StrCat("{\"sym_int_values\": {\"a\": ", symbol("u0"),
                          "}, \"tensor_values\": {\"x\": {\"sizes\": [{\"as_int\": "
                          "-9223372036854775808}]}}, \"nodes\": [",
                          item("a"), ",", row("x", 0, "a"), "]}"));
  EXPECT_TRUE(symbols->bound_indices(graph.root()).ok());
  EXPECT_NE(range_of(*symbols, "u0").find("has no upper bound"), std::string::npos);
}

}  // namespace
}  // namespace petrel::exir
