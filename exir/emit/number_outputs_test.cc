// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/number_outputs.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

TEST(NumberOutputs, MakesTensorsOfNumbersThatExportKnows) {
  Program program;
  Method& method = program.methods["forward"];
  method.graph = std::make_unique<Graph>("forward");
  Value* x = method.graph->add_input(Type::scalar(Type::Kind::kInt), "x");
  method.graph->set_outputs({x, x});
  Signature& signature = method.signature;
  signature.output_names = {"none", "x", "three", "word", "half", "x2", "yes"};
  signature.fixed_outputs = {{0, Argument()},
                             {2, Argument(int64_t{3})},
                             {3, Argument(std::string("word"))},
                             {4, Argument(0.5)},
                             {6, Argument(true)}};
  add_known_numbers(program);
  const std::vector<Value*> outputs = method.graph->outputs();
  ASSERT_EQ(outputs.size(), 5u);
  EXPECT_EQ(signature.fixed_outputs.size(), 2u);
  EXPECT_EQ(outputs[0], x);
  EXPECT_EQ(outputs[3], x);
  const ScalarType kinds[] = {ScalarType::kLong, ScalarType::kDouble, ScalarType::kBool};
  size_t i = 0;
  for (const size_t at : {size_t{1}, size_t{2}, size_t{4}}) {
    ASSERT_TRUE(outputs[at]->is_constant());
    EXPECT_EQ(outputs[at]->tensor().dtype, kinds[i++]);
    EXPECT_TRUE(outputs[at]->tensor().sizes.empty());
  }
  EXPECT_EQ(outputs[1]->constant()->fqn, "forward.three");
  EXPECT_EQ(outputs[1]->constant()->data.bytes().span()[0], 3);
  EXPECT_EQ(outputs[4]->constant()->data.bytes().span()[0], 1);
}

}  // namespace
}  // namespace petrel::exir
