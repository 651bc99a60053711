// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/shift_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "exir/ir/verifier.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/quantize/quantize_graph.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTwo[] = R"(method @m(%x: f32[2,4]) {
    %w = constant @w : f32[3,4]
    %b = constant @b : f32[3]
    %v = constant @v : f32[5,3]
    %one = aten.linear.default(%x, %w, %b)
    %relu = aten.relu.default(%one)
    %two = aten.linear.default(%relu, %v, none)
    return %two })";

MethodQuantization numbers_of(const Graph& graph) {
  Ranges ranges;
  for (const Value* value : observed_values(graph, {}).values) ranges[value->name()] = {-1, 1};
  return *choose_numbers(graph, ranges, {}, {}, {});
}

TEST(ShiftGraph, ShowsEachProductTwice) {
  const auto graph = graph_of(kTwo);
  const MethodQuantization method = numbers_of(*graph);
  StoredWeights weights({});
  const auto names = show_shifts(*graph, method, &weights);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ElementsAre("one", "two"));
  EXPECT_TRUE(verify_graph(*graph).ok()) << verify_graph(*graph);
  ASSERT_EQ(graph->outputs().size(), 2u);
  EXPECT_EQ(graph->outputs()[0]->tensor().sizes, Sizes{3});
  EXPECT_EQ(graph->outputs()[1]->tensor().sizes, Sizes{5});
  // The second product is shown what the float one made.
  const std::string text = plain_text(*graph);
  EXPECT_THAT(text, HasSubstr("@v@int8"));
  EXPECT_THAT(text, HasSubstr("@w@int8"));
}

// The name that begins so; digits of its bytes follow.
std::string name_of(const Graph& graph, const std::string& begin) {
  for (const Value* value : graph.constants()) {
    const std::string& name = value->constant()->fqn;
    if (name.substr(0, begin.size()) == begin) return name;
  }
  return "";
}

TEST(ShiftGraph, AddsShiftsToBiases) {
  Program program;
  program.methods["m"].graph = graph_of(kTwo);
  Graph& graph = *program.methods["m"].graph;
  const std::vector<double> before = constant_elements(graph, "b");
  QuantizationRecord record;
  MethodQuantization& method = record.methods["m"] = numbers_of(graph);
  for (const auto& node : graph.nodes()) {
    const std::string& name = node->result()->name();
    if (name == "one") method.shifts[name] = {weight_digest(*node), {0.5f, 0, -2}};
    if (name == "two") method.shifts[name] = {weight_digest(*node), {1, 2, 3, 4, 5}};
  }
  ASSERT_TRUE(quantize_program(program, record).ok());
  EXPECT_TRUE(verify_graph(graph).ok());
  const std::vector<double> after = constant_elements(graph, name_of(graph, "b@shifted.one_"));
  EXPECT_EQ(after[0], static_cast<double>(static_cast<float>(before[0] + 0.5)));
  EXPECT_EQ(after[1], before[1]);
  EXPECT_THAT(constant_elements(graph, name_of(graph, "v@shift.two_")), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(graph.find_constant(name_of(graph, "b@shifted.one_"))->constant()->sources(),
              ElementsAre("w", "b"));
}

TEST(ShiftGraph, RefusesShiftsThatDoNotFit) {
  const auto graph = graph_of(kTwo);
  MethodQuantization method = numbers_of(*graph);
  const std::string digest = weight_digest(*graph->nodes().front());
  method.shifts["one"] = {digest, {1, 2}};
  EXPECT_EQ(check_shifts(*graph, method).message(),
            "the record has 2 shifts for 'one', which has 3 channels");
  method.shifts["one"] = {std::string(64, '0'), {1, 2, 3}};
  EXPECT_THAT(std::string(check_shifts(*graph, method).message()),
              HasSubstr("shifts of 'one' are of a weight with other numbers"));
  method.shifts = {{"relu", {digest, {1}}}};
  EXPECT_EQ(check_shifts(*graph, method).message(),
            "the record shifts 'relu', which is not a product with a bias");
}

}  // namespace
}  // namespace petrel::exir
