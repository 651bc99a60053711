// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/block_search.h"

#include <string>
#include <vector>

#include "exir/emit/test_graphs.h"
#include "exir/memory/step_kernels.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using testing::f32;
using testing::test_op;

// Each step may run together with the one before it. Counts the steps that are gone through.
class Pairs final : public StepKernels {
 public:
  absl::Status lay_out(PlannedMethod*) override { return absl::OkStatus(); }
  int64_t scratch_bytes(const StepNodes&) const override {
    ++steps;
    return 0;
  }
  std::optional<SharedBytes> shared_bytes(const StepNodes&, const Value*) const override {
    return std::nullopt;
  }
  absl::Status check_shared(const StepNodes&, const Value*, int64_t) const override {
    return absl::OkStatus();
  }
  std::vector<StepNodes> blocks_of(const Node& last) const override {
    const Node* before = last.operands()[0]->producer();
    if (before == nullptr) return {};
    return {{before, &last}};
  }

  mutable int64_t steps = 0;
};

// Every second value is large, which nothing needs where it runs with the next step.
void fill(Graph* graph, size_t layers) {
  Value* x = graph->add_input(f32({16}), "x");
  for (size_t i = 0; i < layers; ++i) {
    x = graph
            ->append(test_op("aten.relu.default"), {Argument(x)}, {f32({i % 2 == 0 ? 1024 : 16})},
                     "y" + std::to_string(i))
            ->result();
  }
  graph->set_outputs({x});
}

TEST(BlockSearch, RunsStepsTogetherWhereTheyNeedLess) {
  Graph graph("forward");
  fill(&graph, 4);
  Pairs kernels;
  MemoryPools pools;
  pools.kernels = &kernels;
  Storage storage(graph);
  const auto plain = plan_memory(graph, storage, plan::Options(), pools);
  ASSERT_TRUE(plain.ok()) << plain.status();
  pools.most_bytes = plain->arena_bytes - 1;
  const auto plan = plan_within(graph, &storage, plan::Options(), pools);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_LT(storage.steps().size(), 4u);
}

// Each of 500 blocks is tried in each of hundreds of rounds.
TEST(BlockSearch, GoesThroughAsManyStepsAsItMay) {
  constexpr size_t kLayers = 500;
  constexpr int64_t kMost = 100'000;
  Graph graph("forward");
  fill(&graph, kLayers);
  Pairs kernels;
  MemoryPools pools;
  pools.kernels = &kernels;
  pools.most_bytes = 1;
  Storage storage(graph);
  const auto plan = plan_within(graph, &storage, plan::Options(), pools, kMost);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_GT(kernels.steps, kMost / 2);
  EXPECT_LT(kernels.steps, kMost + 20 * static_cast<int64_t>(kLayers));
}

}  // namespace
}  // namespace petrel::exir
