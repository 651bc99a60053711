// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/parts.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/emit/test_graphs.h"
#include "exir/memory/byte_groups.h"
#include "exir/memory/memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using testing::f32;
using testing::f32_constant;
using testing::relu;
using testing::test_op;

Value* cat(Graph& graph, const std::vector<Value*>& values, int64_t dim, Sizes sizes) {
  return graph
      .append(test_op("aten.cat.default"), {Argument::of_values(values), Argument(dim)},
              {f32(std::move(sizes))}, "cat")
      ->result();
}

Value* slice(Graph& graph, Value* value, int64_t dim, int64_t start, int64_t end, Sizes sizes,
             int64_t step = 1) {
  return graph
      .append(test_op("aten.slice_copy.Tensor"),
              {Argument(value), Argument(dim), Argument(start), Argument(end), Argument(step)},
              {f32(std::move(sizes))}, "slice")
      ->result();
}

size_t count(const Graph& graph, const std::string& name) {
  size_t found = 0;
  for (const auto& node : graph.nodes()) found += node->op().name == name;
  return found;
}

// Where every root lies, from the plan.
class Placed {
 public:
  explicit Placed(Graph& graph) : storage_(graph, place_parts(graph)) {
    auto plan = plan_memory(graph, storage_, plan::Options());
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (plan.ok()) plan_ = *std::move(plan);
  }
  int64_t at(const Value* value) const { return plan_.offsets.at(storage_.root(value)); }
  const MemoryPlan& plan() const { return plan_; }
  const Parts& parts() const { return storage_.parts(); }
  bool runs(const Value* value) const { return parts().elided.count(value->producer()) == 0; }

 private:
  Storage storage_;
  MemoryPlan plan_;
};

TEST(Parts, OperandsOfAJoinAreWrittenIntoIt) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({1, 2, 8}), "x");
  Value* a = relu(graph, x);
  Value* b = relu(graph, a);
  Value* c = cat(graph, {a, b}, 1, {1, 4, 8});
  graph.set_outputs({relu(graph, c)});
  const Placed placed(graph);
  EXPECT_FALSE(placed.runs(c));
  EXPECT_EQ(placed.at(a), placed.at(c));
  EXPECT_EQ(placed.at(b), placed.at(c) + 64);
  EXPECT_EQ(placed.parts().elided_bytes, 128);
  EXPECT_EQ(placed.at(c) % kArenaAlignment, 0);
}

TEST(Parts, OnlyTheOutermostDimWillDo) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({2, 8}), "x");
  Value* a = relu(graph, x);
  Value* b = relu(graph, a);
  Value* c = cat(graph, {a, b}, 1, {2, 16});
  Value* s = slice(graph, c, 1, 0, 4, {2, 4});
  Value* t = slice(graph, c, 0, 0, 2, {1, 16}, 2);
  graph.set_outputs({relu(graph, s), relu(graph, t)});
  const Placed placed(graph);
  EXPECT_TRUE(placed.runs(c));
  EXPECT_TRUE(placed.runs(s));
  EXPECT_TRUE(placed.runs(t));
  EXPECT_TRUE(placed.parts().list.empty());
}

TEST(Parts, AJoinOfVeryManyMovesItsBytes) {
  constexpr int64_t kMany = 2000;
  Graph graph("forward");
  Value* x = graph.add_input(f32({kMany, 8}), "x");
  Value* a = relu(graph, x);
  std::vector<Value*> rows;
  for (int64_t i = 0; i < kMany; ++i) rows.push_back(slice(graph, a, 0, i, i + 1, {1, 8}));
  Value* few = cat(graph, {rows[5], rows[4], relu(graph, rows[0])}, 0, {3, 8});
  Value* all = cat(graph, rows, 0, {kMany, 8});
  graph.set_outputs({few, all});
  const Placed placed(graph);
  EXPECT_FALSE(placed.runs(few));
  EXPECT_TRUE(placed.runs(all));
  EXPECT_EQ(placed.at(rows[7]), placed.at(a) + 7 * 32);
}

TEST(Parts, CutsAreReadWhereTheyLie) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({6, 4}), "x");
  Value* a = relu(graph, x);
  Value* s = slice(graph, a, 0, 2, 5, {3, 4});
  Value* t = slice(graph, a, 0, -1, 6, {1, 4});
  graph.set_outputs({relu(graph, s), relu(graph, t)});
  const Placed placed(graph);
  EXPECT_FALSE(placed.runs(s));
  EXPECT_FALSE(placed.runs(t));
  EXPECT_EQ(placed.at(s), placed.at(a) + 32);
  EXPECT_EQ(placed.at(t), placed.at(a) + 80);
}

TEST(Parts, WhatIsThereTwiceOrElsewhereIsCopied) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({2, 8}), "x");
  Value* w = graph.add_constant(f32_constant("w", {1, 8}, std::vector<float>(8, 1)));
  Value* a = relu(graph, x);
  Value* c = cat(graph, {a, w, a}, 0, {5, 8});
  graph.set_outputs({relu(graph, c)});
  const Placed placed(graph);
  EXPECT_FALSE(placed.runs(c));
  EXPECT_EQ(placed.parts().elided_bytes, 64);
  EXPECT_EQ(count(graph, "petrel::owned_copy"), 2u);
  const std::vector<Value*> operands = c->producer()->operands();
  EXPECT_EQ(operands[0], a);
  EXPECT_EQ(placed.at(operands[1]), placed.at(c) + 64);
  EXPECT_EQ(placed.at(operands[2]), placed.at(c) + 96);
}

TEST(Parts, JoinsThatGrowAreOneBuffer) {
  // The blocks of a densely connected network.
  Graph graph("forward");
  Value* x = graph.add_input(f32({1, 64}), "x");
  std::vector<Value*> features = {relu(graph, x)};
  for (int64_t n = 2; n < 6; ++n) {
    Value* c = features[0];
    if (features.size() > 1) c = cat(graph, features, 0, {n - 1, 64});
    Value* narrowed = slice(graph, c, 0, 0, 1, {1, 64});
    features.push_back(relu(graph, narrowed));
  }
  Value* all = cat(graph, features, 0, {5, 64});
  graph.set_outputs({relu(graph, all)});
  const Placed placed(graph);
  EXPECT_EQ(count(graph, "petrel::owned_copy"), 0u);
  for (size_t i = 0; i < features.size(); ++i) {
    EXPECT_EQ(placed.at(features[i]), placed.at(all) + static_cast<int64_t>(i) * 256);
  }
  EXPECT_EQ(placed.plan().arena_bytes, 2 * 5 * 256);
}

TEST(Parts, TwoJoinsOfOneTensorWithDifferentNeighboursDoNotCollide) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({2, 8}), "x");
  Value* a = relu(graph, x);
  Value* b = relu(graph, a);
  Value* d = relu(graph, b);
  Value* c1 = cat(graph, {a, b}, 0, {4, 8});
  Value* c2 = cat(graph, {a, d}, 0, {4, 8});
  graph.set_outputs({relu(graph, c1), relu(graph, c2)});
  const Placed placed(graph);
  EXPECT_EQ(count(graph, "petrel::owned_copy"), 1u);
  EXPECT_EQ(placed.at(b), placed.at(a) + 64);
  EXPECT_EQ(placed.at(c1), placed.at(a));
  EXPECT_NE(placed.at(c2), placed.at(a));
  EXPECT_EQ(placed.at(d), placed.at(c2) + 64);
}

TEST(Parts, AnInputAndAnOutputShareNoBytes) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({2, 8}), "x");
  Value* a = relu(graph, x);
  Value* c = cat(graph, {x, a}, 0, {4, 8});
  Value* s = slice(graph, x, 0, 1, 2, {1, 8});
  graph.set_outputs({c, s});
  const Placed placed(graph);
  EXPECT_FALSE(placed.runs(c));
  EXPECT_NE(c->producer()->operands()[0], x);
  EXPECT_EQ(placed.at(a), placed.at(c) + 64);
  EXPECT_TRUE(placed.runs(s));
}

TEST(Parts, BytesThatNobodyReadsAnyMoreAreFree) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({4}), "x");
  Value* big = graph
                   .append(test_op("aten.full.default"),
                           {Argument(Argument::Ints{64, 16}), Argument(1.0), Argument(), Argument(),
                            Argument(), Argument()},
                           {f32({64, 16})}, "big")
                   ->result();
  Value* head = slice(graph, big, 0, 0, 1, {1, 16});
  Value* other = relu(graph, relu(graph, x));
  Value* more = graph
                    .append(test_op("aten.full.default"),
                            {Argument(Argument::Ints{60, 16}), Argument(1.0), Argument(),
                             Argument(), Argument(), Argument()},
                            {f32({60, 16})}, "more")
                    ->result();
  graph.set_outputs({relu(graph, head), relu(graph, more), other});
  const Placed placed(graph);
  // `more` fits where all of `big` but its head was.
  EXPECT_LT(placed.plan().arena_bytes, 64 * 64 + 60 * 64);
}

TEST(ByteGroups, RefuseTwoWritersOfAByteAndTwoPlacesOfAValue) {
  ByteGroups groups;
  const int a = groups.add(64, true);
  const int b = groups.add(64, true);
  const int whole = groups.add(128, false);
  ASSERT_TRUE(groups.can_unite(whole, a, 0, {}));
  groups.unite(whole, a, 0);
  EXPECT_TRUE(groups.can_unite(whole, a, 0, {}));
  EXPECT_FALSE(groups.can_unite(whole, a, 4, {}));
  EXPECT_FALSE(groups.can_unite(whole, b, 60, {}));
  EXPECT_TRUE(groups.can_unite(whole, b, 64, {}));
  EXPECT_FALSE(groups.can_unite(whole, b, 64, {{100, 104}}));
  groups.unite(b, whole, -64);
  EXPECT_EQ(groups.distance(a, b), 64);
  EXPECT_EQ(groups.distance(b, whole), -64);
}

TEST(ByteGroups, RangesOfLargerGroupsAreFoundFromEitherSide) {
  ByteGroups groups;
  const int whole = groups.add(1000, false), other = groups.add(1000, false);
  for (int i = 0; i < 8; ++i) groups.unite(whole, groups.add(20, true), 100 * i);
  for (int i = 0; i < 3; ++i) groups.unite(other, groups.add(20, true), 100 * i);
  EXPECT_FALSE(groups.can_unite(whole, other, 19, {}));
  EXPECT_FALSE(groups.can_unite(other, whole, -19, {}));
  EXPECT_TRUE(groups.can_unite(whole, other, 20, {}));
  EXPECT_TRUE(groups.can_unite(other, whole, -20, {}));
  EXPECT_TRUE(groups.can_unite(whole, other, 50, {{40, 50}, {270, 300}}));
  EXPECT_FALSE(groups.can_unite(whole, other, 50, {{40, 51}}));
  EXPECT_FALSE(groups.can_unite(whole, other, 50, {{269, 300}}));
}

}  // namespace
}  // namespace petrel::exir
