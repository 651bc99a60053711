// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/memory.h"

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exir/emit/test_graphs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using testing::add;
using testing::f32;
using testing::f32_constant;
using testing::relu;
using testing::test_op;
using testing::view;

MemoryPlan plan_of(const Graph& graph, const Storage& storage) {
  auto plan = plan_memory(graph, storage, plan::Options());
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return MemoryPlan();
  EXPECT_LE(least_arena_bytes(graph, storage), plan->arena_bytes);
  return *plan;
}

bool overlap(const MemoryPlan& plan, const Value* a, const Value* b) {
  const int64_t a_begin = plan.offsets.at(a);
  const int64_t b_begin = plan.offsets.at(b);
  return a_begin < b_begin + b->tensor().nbytes() && b_begin < a_begin + a->tensor().nbytes();
}

TEST(Memory, AChainNeedsTwoTensorsAtATime) {
  Graph graph("forward");
  Value* value = graph.add_input(f32({64}), "x");
  for (int i = 0; i < 10; ++i) value = relu(graph, value);
  graph.set_outputs({value});
  const Storage storage(graph);
  const MemoryPlan plan = plan_of(graph, storage);
  EXPECT_EQ(plan.arena_bytes, 2 * 256);
  EXPECT_EQ(plan.lower_bound_bytes, plan.arena_bytes);
  EXPECT_TRUE(plan.proven_optimal);
  EXPECT_EQ(least_arena_bytes(graph, storage), plan.arena_bytes);
}

TEST(Memory, OnlyBackendsNeedRoomBehindTheLastTensor) {
  for (const bool delegated : {false, true}) {
    Graph graph("forward");
    Value* x = graph.add_input(f32({16}), "x");
    Value* y = delegated ? testing::delegate_call(graph, {x}, f32({16}), "Null", "payload")
                         : relu(graph, x);
    graph.set_outputs({y});
    const Storage storage(graph);
    EXPECT_EQ(plan_of(graph, storage).arena_bytes, 2 * 64 + (delegated ? kArenaSlack : 0));
  }
}

TEST(Memory, EmptyTensorsHaveAnArenaToLieIn) {
  Graph graph("forward");
  Value* y = relu(graph, graph.add_input(f32({0, 4}), "x"));
  graph.set_outputs({y});
  const Storage storage(graph);
  EXPECT_GT(plan_of(graph, storage).arena_bytes, 0);
}

TEST(Memory, ViewsKeepTheirBaseAlive) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({16}), "x");
  Value* a = relu(graph, x);
  Value* v = view(graph, a, {4, 4});
  Value* b = relu(graph, x);
  Value* c = relu(graph, b);
  Value* d = add(graph, view(graph, c, {4, 4}), v);
  graph.set_outputs({d});
  const Storage storage(graph);
  const MemoryPlan plan = plan_of(graph, storage);
  EXPECT_EQ(plan.offsets.count(v), 0u);
  EXPECT_FALSE(overlap(plan, a, b));
  EXPECT_FALSE(overlap(plan, a, c));
  EXPECT_FALSE(overlap(plan, a, d));
}

TEST(Memory, InputsAreThereBeforeTheFirstStepAndOutputsAfterTheLast) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({16}), "x");
  Value* unused = graph.add_input(f32({16}), "unused");
  Value* y = graph.add_input(f32({16}), "y");
  Value* early = relu(graph, x);
  Value* late = relu(graph, relu(graph, y));
  graph.set_outputs({early, late});
  const Storage storage(graph);
  const MemoryPlan plan = plan_of(graph, storage);
  EXPECT_FALSE(overlap(plan, x, unused));
  EXPECT_FALSE(overlap(plan, unused, y));
  EXPECT_FALSE(overlap(plan, early, late));
  EXPECT_FALSE(overlap(plan, early, late->producer()->arguments()[0].value()));
}

TEST(Memory, StateIsNeverReused) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({16}), "x");
  Value* state = graph.add_constant(
      f32_constant("s", {16}, std::vector<float>(16, 0), Constant::Kind::kMutableBuffer));
  Value* first = add(graph, x, state);
  Value* value = first;
  for (int i = 0; i < 4; ++i) value = relu(graph, value);
  graph.set_outputs({value});
  const Storage storage(graph);
  const MemoryPlan plan = plan_of(graph, storage);
  for (const auto& [root, offset] : plan.offsets) {
    if (root != state) {
      EXPECT_FALSE(overlap(plan, state, root)) << root->name();
    }
  }
}

TEST(Memory, ConstantsAndScalarsNeedNone) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({16}), "x");
  Value* w = graph.add_constant(f32_constant("w", {16}, std::vector<float>(16, 1)));
  Value* n = graph
                 .append(test_op("aten.sym_size.int"), {Argument(x), Argument(int64_t{0})},
                         {Type::scalar(Type::Kind::kInt)}, "n")
                 ->result();
  graph.set_outputs({add(graph, x, w), n});
  const Storage storage(graph);
  EXPECT_EQ(plan_of(graph, storage).offsets.size(), 2u);
}

TEST(Memory, WideAlignmentWhereItIsFree) {
  for (int64_t size : {int64_t{1}, int64_t{4096}}) {
    Graph graph("forward");
    Value* x = graph.add_input(f32({size}), "x");
    Value* y = graph.add_input(f32({size}), "y");
    graph.set_outputs({add(graph, x, y)});
    const Storage storage(graph);
    const MemoryPlan plan = plan_of(graph, storage);
    for (const auto& [root, offset] : plan.offsets) {
      EXPECT_EQ(offset % (size == 1 ? 16 : 64), 0) << size;
    }
    EXPECT_EQ(plan.arena_bytes, size == 1 ? 3 * 16 : 3 * size * 4);
  }
}

TEST(Memory, RefusesSizesBeyondWhatCanBePlanned) {
  Graph graph("forward");
  const int64_t big = int64_t{1} << 30;
  Value* x = graph.add_input(f32({big, big}), "x");
  graph.set_outputs({relu(graph, x)});
  const Storage storage(graph);
  EXPECT_FALSE(plan_memory(graph, storage, plan::Options()).ok());
  EXPECT_EQ(least_arena_bytes(graph, storage), 0);
}

TEST(Storage, KeepsElementsInOrderOnlyWhereNothingMoves) {
  Graph graph("forward");
  const auto permuted = [&](Sizes from, Argument::Ints dims, Sizes to) {
    Value* x = graph.add_input(f32(std::move(from)), "x");
    return keeps_elements_in_order(*graph.append(test_op("aten.permute.default"),
                                                 {Argument(x), Argument(std::move(dims))},
                                                 {f32(std::move(to))}, "p"));
  };
  EXPECT_FALSE(permuted({2, 3}, {1, 0}, {3, 2}));
  EXPECT_TRUE(permuted({1, 3}, {1, 0}, {3, 1}));
  EXPECT_TRUE(permuted({2, 1, 3, 1}, {1, 0, 3, 2}, {1, 2, 1, 3}));
  EXPECT_TRUE(permuted({2, 1, 3}, {-2, 0, -1}, {1, 2, 3}));
  EXPECT_FALSE(permuted({2, 1, 3}, {2, 1, 0}, {3, 1, 2}));

  Value* x = graph.add_input(f32({2, 3}), "x");
  EXPECT_TRUE(keeps_elements_in_order(*view(graph, x, {6})->producer()));
  EXPECT_FALSE(keeps_elements_in_order(*relu(graph, x)->producer()));
  // The same bytes mean other places in another order.
  TensorType last = f32({1, 2, 1, 3});
  last.dim_order = {0, 2, 3, 1};
  Value* border = graph.add_input(last, "border");
  EXPECT_FALSE(keeps_elements_in_order(*view(graph, border, {6})->producer()));
}

}  // namespace
}  // namespace petrel::exir
