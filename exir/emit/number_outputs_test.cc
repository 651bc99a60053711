// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/number_outputs.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "exir/ir/text.h"
#include "exir/ir/verifier.h"
#include "exir/ops/table.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

// The graph of `text` once the outputs at `places` are numbers.
std::string shown(const std::string& text, std::set<size_t> places,
                  std::map<size_t, Argument> fixed = {}) {
  auto graph = parse_graph(
      text, [](absl::string_view name) { return find_op(name); },
      [](const std::string&, const TensorType&) { return ConstantPtr(); });
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return "";
  Program program;
  Method& method = program.methods["forward"];
  method.graph = *std::move(graph);
  method.signature.number_outputs = std::move(places);
  method.signature.fixed_outputs = std::move(fixed);
  show_numbers(program);
  EXPECT_TRUE(verify_graph(*method.graph).ok()) << verify_graph(*method.graph);
  return print_graph(*method.graph);
}

constexpr char kSize[] = R"(method @forward<n: 1..9>(%x: f32[n,8]) {
  %n = aten.sym_size.int(%x, 0) : int(n)
  %o = aten.full.default([], %n, i64, none, none, none) : i64[]
  return %x, %o, %o
}
)";

TEST(NumberOutputs, ReturnsTheNumberThatATensorWasMadeOf) {
  const std::string text = shown(kSize, {1, 2});
  EXPECT_NE(text.find("return %x, %n, %n"), std::string::npos) << text;
  EXPECT_EQ(text.find("aten.full"), std::string::npos) << text;
}

TEST(NumberOutputs, CountsOutputsThatAreNotInTheGraph) {
  const std::string text = shown(kSize, {3}, {{0, Argument()}, {2, Argument(int64_t{3})}});
  EXPECT_NE(text.find("return %x, %n, %o"), std::string::npos) << text;
}

TEST(NumberOutputs, ReadsATensorThatNoNumberWasMadeInto) {
  const std::string text = shown(R"(method @forward(%x: i64[]) {
  %y = aten.abs.default(%x) : i64[]
  return %y
}
)",
                                 {0});
  EXPECT_NE(text.find("%y_number = aten._local_scalar_dense.default(%y) : int"), std::string::npos)
      << text;
  EXPECT_NE(text.find("return %y_number"), std::string::npos) << text;
}

}  // namespace
}  // namespace petrel::exir
