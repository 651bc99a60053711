// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/order_operators.h"

#include <string>
#include <vector>

#include "exir/emit/test_graphs.h"
#include "exir/ir/text.h"
#include "exir/memory/memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using testing::add;
using testing::f32;
using testing::test_op;
using testing::view;

// One input, one result of any size.
Value* make(Graph& graph, Value* x, int64_t numel, const std::string& name,
            const char* op = "aten.relu.default") {
  return graph.append(test_op(op), {Argument(x)}, {f32({numel})}, name)->result();
}

int64_t planned(const Graph& graph) {
  const Storage storage(graph);
  auto plan = plan_memory(graph, storage, plan::Options());
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? plan->solution.peak : -1;
}

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes()) names.push_back(node->result()->name());
  return names;
}

TEST(OrderOperators, OneBranchIsFinishedBeforeTheNext) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({16}), "x");
  Value* big1 = make(graph, x, 1024, "big1");
  Value* big2 = make(graph, x, 1024, "big2");
  Value* flat1 = view(graph, big1, {32, 32}, "flat1");
  Value* flat2 = view(graph, big2, {32, 32}, "flat2");
  Value* small1 = make(graph, flat1, 16, "small1");
  Value* small2 = make(graph, flat2, 16, "small2");
  graph.set_outputs({add(graph, small1, small2, "sum")});
  const int64_t before = planned(graph);
  absl::StatusOr<OrderReport> report = order_operators(graph, 1000);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->given_peak, 2 * 4096 + 64);
  EXPECT_EQ(report->peak, 4096 + 3 * 64 - 64);
  EXPECT_TRUE(report->optimal);
  EXPECT_THAT(
      names(graph),
      ::testing::AnyOf(
          ::testing::ElementsAre("big1", "flat1", "small1", "big2", "flat2", "small2", "sum"),
          ::testing::ElementsAre("big2", "flat2", "small2", "big1", "flat1", "small1", "sum")));
  EXPECT_LT(planned(graph), before * 6 / 10);
}

TEST(OrderOperators, AGoodOrderStays) {
  Graph graph("forward");
  Value* value = graph.add_input(f32({16}), "x");
  for (int i = 0; i < 5; ++i) value = make(graph, value, 16 << i, "v");
  graph.set_outputs({value});
  const std::string before = print_graph(graph);
  absl::StatusOr<OrderReport> report = order_operators(graph, 1000);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->peak, report->given_peak);
  EXPECT_TRUE(report->optimal);
  EXPECT_EQ(print_graph(graph), before);
}

TEST(OrderOperators, EffectsKeepTheirPlaceAmongThoseThatShareTheirValues) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({16}), "x");
  Value* a = make(graph, x, 16, "a");
  Value* big = make(graph, x, 1024, "big");
  Value* before = make(graph, a, 16, "before");
  make(graph, a, 16, "effect", "aten.relu_.default");
  Value* after = make(graph, a, 1024, "after");
  Value* small = make(graph, big, 16, "small");
  Value* end = make(graph, after, 16, "end");
  graph.set_outputs({before, small, end});
  absl::StatusOr<OrderReport> report = order_operators(graph, 10'000);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_LT(report->peak, report->given_peak);
  const std::vector<std::string> order = names(graph);
  const auto at = [&](const char* name) {
    return std::find(order.begin(), order.end(), name) - order.begin();
  };
  EXPECT_LT(at("before"), at("effect"));
  EXPECT_LT(at("effect"), at("after"));
}

}  // namespace
}  // namespace petrel::exir
