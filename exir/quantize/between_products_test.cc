// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/between_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exir/pass/framework/pass_case.h"
#include "exir/quantize/annotate_graph.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;

// Names of what computes with integers, in the order of the graph.
std::vector<std::string> chosen(const std::string& body, QuantTarget target) {
  const auto graph = graph_of("method @m(%x: f32[4,4]) { %w = constant @w : f32[4,4]\n" + body);
  if (graph == nullptr) return {};
  const QuantAnnotation annotation = annotate_graph(*graph, {}, target);
  std::vector<std::string> names;
  for (const auto& node : graph->nodes()) {
    if (annotation.nodes.count(node.get()) != 0) names.push_back(node->result()->name());
  }
  return names;
}

std::vector<std::string> chosen(const std::string& body) {
  return chosen(body, QuantTarget::kBackends);
}

TEST(BetweenProducts, WhatOnlyFloatsReadStaysFloat) {
  EXPECT_THAT(chosen(R"(
    %a = aten.linear.default(%x, %w, none)
    %t = aten.tanh.default(%a)
    %b = aten.linear.default(%t, %w, none)
    %s = aten.add.Tensor(%b, %t, 1)
    %y = aten.sigmoid.default(%s)
    return %y })"),
              ElementsAre("a", "t", "b"));
}

TEST(BetweenProducts, WhatReadsOnlyFloatsStaysFloat) {
  EXPECT_THAT(chosen(R"(
    %s = aten.sub.Scalar(%x, 0.5, 1)
    %m = aten.mul.Scalar(%s, 4.0)
    %v = aten.view.default(%m, [2,2,4])
    %a = aten.linear.default(%v, %w, none)
    return %a })"),
              ElementsAre("v", "a"));
}

// A sum around layers is read by the next one and by norms: floats, as long as no product is.
TEST(BetweenProducts, SumsAroundLayersAreIntegersWhereProductsReadThem) {
  constexpr char kBlock[] = R"(
    %a = aten.linear.default(%x, %w, none)
    %s = aten.add.Tensor(%a, %x, 1)
    %n = aten._softmax.default(%s, -1, false)
    %b = aten.linear.default(%n, %w, none)
    %r = aten.add.Tensor(%b, %s, 1)
    )";
  EXPECT_THAT(chosen(std::string(kBlock) + "return %r }"), ElementsAre("a", "b"));
  EXPECT_THAT(chosen(std::string(kBlock) + "%c = aten.linear.default(%r, %w, none)\nreturn %c }"),
              ElementsAre("a", "s", "b", "r", "c"));
}

TEST(BetweenProducts, ElementsMoveInIntegersBesideAProduct) {
  EXPECT_THAT(chosen(R"(
    %a = aten.linear.default(%x, %w, none)
    %r = aten.relu.default(%a)
    %v = aten.view.default(%r, [2,2,4])
    %p = aten.permute.default(%v, [1,0,2])
    %j = aten.cat.default([%p, %p], 0)
    return %j })"),
              ElementsAre("a", "r", "v", "p"));
}

// An activation of its own is a table; merged into a product it costs nothing.
TEST(BetweenProducts, ClampsStayWhereTheyAreMerged) {
  EXPECT_THAT(chosen(R"(
    %a = aten.linear.default(%x, %w, none)
    %s = aten.add.Tensor(%a, %a, 1)
    %r = aten.relu.default(%s)
    return %r })"),
              ElementsAre("a"));
}

TEST(BetweenProducts, AtTheBorderAllIsIntegers) {
  EXPECT_THAT(chosen(R"(
    %m = aten.mul.Scalar(%x, 4.0)
    %a = aten.linear.default(%m, %w, none)
    %y = aten.sigmoid.default(%a)
    return %y })",
                     QuantTarget::kBackendsAtBorder),
              ElementsAre("m", "a", "y"));
}

TEST(BetweenProducts, SaysWhyTheRestIsFloat) {
  const auto graph = graph_of(R"(method @m(%x: f32[4,4]) {
    %w = constant @w : f32[4,4]
    %a = aten.linear.default(%x, %w, none)
    %y = aten.sigmoid.default(%a)
    return %y })");
  const QuantAnnotation annotation = annotate_graph(*graph, {});
  ASSERT_EQ(annotation.left.size(), 1u);
  EXPECT_EQ(annotation.left[0].node, "y");
  EXPECT_EQ(annotation.left[0].reason, "no product reads it, or floats alone are read");
}

}  // namespace
}  // namespace petrel::exir
