// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/recurrent_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exir/pass/framework/pass_case.h"
#include "exir/quantize/annotate_graph.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kCell[] = R"(method @m(%x: f32[4,4], %h0: f32[4,4]) {
    %u = constant @u : f32[4,4]
    %w = constant @w : f32[4,4]
    %v = constant @v : f32[4,4]
    %q = constant @q : f32[4,4]
    %p = aten.linear.default(%x, %q, none)
    %r = aten.relu.default(%p)
    %g = aten.linear.default(%r, %u, none)
    %a = aten.linear.default(%h0, %w, none)
    %s = aten.add.Tensor(%a, %g, 1)
    %h = aten.tanh.default(%s)
    %b = aten.linear.default(%h, %w, none)
    %t = aten.add.Tensor(%b, %g, 1)
    %k = aten.tanh.default(%t)
    %y = aten.linear.default(%k, %v, none)
    return %y })";

std::vector<std::string> names_of(const std::vector<const Node*>& nodes) {
  std::vector<std::string> names;
  for (const Node* node : nodes) names.push_back(node->result()->name());
  return names;
}

TEST(RecurrentProducts, AreThoseThatComeBackAndTheirInputs) {
  const auto graph = graph_of(kCell);
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(names_of(recurrent_products(*graph)), ElementsAre("g", "a", "b"));
}

TEST(RecurrentProducts, WhatComesBackNeedNotBeTheFirstProduct) {
  // The first product of @w goes nowhere near the second, which reaches the third.
  const auto graph = graph_of(R"(method @m(%x: f32[4,4], %z: f32[4,4]) {
    %w = constant @w : f32[4,4]
    %a = aten.linear.default(%z, %w, none)
    %b = aten.linear.default(%x, %w, none)
    %h = aten.tanh.default(%b)
    %c = aten.linear.default(%h, %w, none)
    return %a, %c })");
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(names_of(recurrent_products(*graph)), ElementsAre("a", "b", "c"));
}

TEST(RecurrentProducts, OneWayThroughTwoCellsIsNone) {
  // Twins, layer by layer: each weight is shared, and no way leads back.
  const auto graph = graph_of(R"(method @m(%x: f32[4,4], %z: f32[4,4]) {
    %w = constant @w : f32[4,4]
    %v = constant @v : f32[4,4]
    %a = aten.linear.default(%x, %w, none)
    %b = aten.linear.default(%z, %w, none)
    %c = aten.linear.default(%a, %v, none)
    %d = aten.linear.default(%b, %v, none)
    return %c, %d })");
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(names_of(recurrent_products(*graph)), IsEmpty());
}

TEST(RecurrentProducts, OneWeightSideBySideIsNone) {
  const auto graph = graph_of(R"(method @m(%x: f32[4,4], %z: f32[4,4]) {
    %w = constant @w : f32[4,4]
    %v = constant @v : f32[4,4]
    %a = aten.linear.default(%x, %w, none)
    %b = aten.linear.default(%z, %w, none)
    %s = aten.add.Tensor(%a, %b, 1)
    %y = aten.linear.default(%s, %v, none)
    return %y })");
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(recurrent_products(*graph), IsEmpty());
}

TEST(RecurrentProducts, FormsAreOfBackendsAlone) {
  const auto graph = graph_of(kCell);
  ASSERT_NE(graph, nullptr);
  MethodQuantization method;
  for (const char* name : {"g", "a", "b"}) method.on_backends[name] = BackendForm::kRows;
  method.on_backends["y"] = BackendForm::kFloat;
  const QuantAnnotation annotation = annotate_method(*graph, method);
  EXPECT_THAT(names_of({annotation.rows.begin(), annotation.rows.end()}),
              ElementsAre("g", "a", "b"));
  // Gates read floats: they are floats, too, and only the first product has levels.
  std::vector<std::string> nodes, left;
  for (const auto& node : graph->nodes()) {
    if (annotation.nodes.count(node.get()) != 0) nodes.push_back(node->result()->name());
  }
  for (const LeftFloat& node : annotation.left) left.push_back(node.node);
  EXPECT_THAT(nodes, ElementsAre("p", "r"));
  EXPECT_THAT(left, ElementsAre("s", "h", "t", "k", "y"));
  method.keep_float["a"] = "";
  EXPECT_THAT(annotate_method(*graph, method).rows.size(), 2u);
  EXPECT_THAT(annotate_method(*graph, method, QuantTarget::kIntegers).rows, IsEmpty());
  EXPECT_EQ(annotate_method(*graph, method, QuantTarget::kBackendsAtBorder)
                .nodes.count(graph->nodes().back().get()),
            1u);
}

}  // namespace
}  // namespace petrel::exir
