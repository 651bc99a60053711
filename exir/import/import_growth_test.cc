// SPDX-License-Identifier: Apache-2.0
//
// What an archive says once is read once, however many nodes speak of it. Counted in bytes that
// are allocated, which every run repeats exactly.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/ir/allocated_bytes.h"
#include "exir/import/json.h"
#include "exir/import/tensor_meta.h"

namespace petrel::exir {
namespace {

constexpr size_t kLong = 1'000'000;

JsonDocument parsed(const std::string& text) {
  auto document =
      JsonDocument::parse({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "graph");
  EXPECT_TRUE(document.ok()) << document.status();
  return *std::move(document);
}

std::string expression(const std::string& text) {
  return absl::StrCat("{\"as_expr\": {\"expr_str\": \"", text, "\"}}");
}

// So many assertions of one truth with a long text.
size_t bytes_to_join(int assertions) {
  std::string nodes;
  for (int i = 0; i < assertions; ++i) {
    absl::StrAppend(&nodes, i == 0 ? "" : ",",
                    "{\"target\": \"torch.ops.aten._assert_scalar.default\", ",
                    "\"inputs\": [{\"arg\": {\"as_sym_bool\": {\"as_name\": \"t\"}}}]}");
  }
  const JsonDocument graph = parsed(absl::StrCat(
      "{\"sym_bool_values\": {\"t\": ", expression("Equality(Symbol('" + std::string(kLong, 'u')),
      "}, \"nodes\": [", nodes, "]}"));
  Symbols symbols;
  const size_t before = allocated_bytes();
  EXPECT_TRUE(symbols.join_equal(graph.root()).ok());
  return allocated_bytes() - before;
}

TEST(ImportGrowth, OneTruthIsReadOnceForAllItsAssertions) {
  const size_t few = bytes_to_join(100);
  EXPECT_LT(bytes_to_join(200) - few, kLong);
}

size_t bytes_to_resolve(const std::string& text, int times) {
  const JsonDocument size = parsed(expression(text));
  const Symbols symbols;
  const size_t before = allocated_bytes();
  for (int i = 0; i < times; ++i) EXPECT_FALSE(symbols.resolve(size.root()).ok());
  return allocated_bytes() - before;
}

TEST(ImportGrowth, AWrongExpressionIsReadOnce) {
  std::string text = "Add(";
  for (int i = 0; i < 1000; ++i) text += "1,";
  const size_t once = bytes_to_resolve(text, 1);
  EXPECT_LT(bytes_to_resolve(text, 101) - once, 100 * text.size());
}

TEST(ImportGrowth, AnExpressionThatIsTooLongIsNotRead) {
  EXPECT_LT(bytes_to_resolve(std::string(kLong, '1'), 100), kLong);
}

}  // namespace
}  // namespace petrel::exir
