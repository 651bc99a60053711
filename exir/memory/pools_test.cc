// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/pools.h"

#include <memory>
#include <random>

#include "exir/emit/test_graphs.h"
#include "exir/memory/memory.h"
#include "exir/memory/planned_program.h"
#include "exir/plan/model/validator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using testing::add;
using ::testing::ElementsAre;
using testing::f32;
using ::testing::HasSubstr;
using testing::relu;

MemoryPools pools_of(const std::vector<std::string>& words) {
  auto pools = plan::parse_memory_pools(words);
  EXPECT_TRUE(pools.ok()) << pools.status();
  MemoryPools result;
  result.list = *std::move(pools);
  return result;
}

// x -> a -> b -> y, 256 bytes each; two of them at a time.
std::unique_ptr<Graph> chain() {
  auto graph = std::make_unique<Graph>("forward");
  Value* x = graph->add_input(f32({64}), "x");
  graph->set_outputs({relu(*graph, relu(*graph, relu(*graph, x)))});
  return graph;
}

absl::StatusOr<MemoryPlan> plan_of(const Graph& graph, const MemoryPools& pools) {
  const Storage storage(graph);
  return plan_memory(graph, storage, plan::Options(), pools);
}

TEST(Pools, WhatExceedsALimitGoesToTheNextPool) {
  const std::unique_ptr<Graph> graph = chain();
  const auto roomy = plan_of(*graph, pools_of({"fast=1K", "slow=unlimited"}));
  ASSERT_TRUE(roomy.ok()) << roomy.status();
  EXPECT_THAT(roomy->pool_bytes, ElementsAre(512, 0));
  EXPECT_EQ(roomy->arena_bytes, 512);
  for (const char* fast : {"name=fast,limit=300", "name=fast,prefer=300"}) {
    const auto tight = plan_of(*graph, pools_of({fast, "slow=unlimited"}));
    ASSERT_TRUE(tight.ok()) << tight.status();
    EXPECT_THAT(tight->pool_bytes, ElementsAre(256, 256)) << fast;
    EXPECT_EQ(tight->pools.size(), 4u);
  }
}

TEST(Pools, PreferenceIsExceededOnlyWhenNecessary) {
  const std::unique_ptr<Graph> graph = chain();
  const auto alone = plan_of(*graph, pools_of({"name=fast,prefer=300"}));
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_THAT(alone->pool_bytes, ElementsAre(512));
}

TEST(Pools, PinnedTensorsLieWhereTheyMust) {
  const std::unique_ptr<Graph> graph = chain();
  MemoryPools pools = pools_of({"fast=unlimited", "slow=unlimited"});
  pools.allowed = [](const std::set<std::string>& names) {
    return names.count("x") > 0 ? std::vector<plan::PoolIdx>{1} : std::vector<plan::PoolIdx>();
  };
  const auto plan = plan_of(*graph, pools);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->pools.at(graph->inputs()[0]), 1);
  EXPECT_EQ(plan->pool_bytes[1], 256);
}

TEST(Pools, BuffersLieWhereAllReachThemWhoUseThem) {
  MemoryPools pools =
      pools_of({"name=tcm,targets=c", "name=both,targets=c,npu", "name=own,targets=npu"});
  std::vector<plan::Buffer> buffers(4);
  const std::vector<BufferUse> uses = {
      {{"a"}, {"c"}}, {{"b"}, {"c", "npu"}}, {{"d"}, {"npu"}}, {{"e"}, {}}};
  ASSERT_TRUE(restrict_buffers(pools, uses, &buffers).ok());
  EXPECT_THAT(buffers[0].pools, ElementsAre(0, 1));
  EXPECT_THAT(buffers[1].pools, ElementsAre(1));
  EXPECT_THAT(buffers[2].pools, ElementsAre(1, 2));
  EXPECT_THAT(buffers[3].pools, ElementsAre());  // everywhere
  pools.allowed = [](const auto&) { return std::vector<plan::PoolIdx>{0}; };
  buffers[1].id = "b";
  const absl::Status refused = restrict_buffers(pools, uses, &buffers);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "'b' is read and written by c, npu, and no pool that it may lie in is reached by all "
            "of them: 'tcm' is reached by c");
}

TEST(Pools, PlacesAndBytesAreMultiplesOfTheAlignment) {
  Graph graph("forward");
  Value* x = graph.add_input(f32({5}), "x");
  graph.set_outputs({add(graph, relu(graph, x), relu(graph, x))});
  const auto plan = plan_of(graph, pools_of({"name=fast,align=128,size=500", "name=slow,align=1"}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  // 500 bytes have room for three places of 128.
  EXPECT_THAT(plan->pool_bytes, ElementsAre(384, 0));
  for (const auto& [root, offset] : plan->offsets) EXPECT_EQ(offset % 128, 0) << root->name();
  EXPECT_EQ(alignment_of(plan::MemoryPool()), kArenaAlignment);
}

absl::Status refusal(const Graph& graph, const MemoryPools& pools) {
  Program program;
  program.methods["forward"].graph = graph.clone();
  const auto planned = plan_program(
      program, plan::Options(), [](const Constant&) { return false; }, pools);
  return planned.status();
}

TEST(Pools, TooSmallPoolsSayWhatIsMissing) {
  const std::unique_ptr<Graph> graph = chain();
  const absl::Status all = refusal(*graph, pools_of({"fast=256", "slow=128"}));
  EXPECT_THAT(all.message(), HasSubstr("pool 'slow' has 128 bytes, 128 more are needed: in method "
                                       "'forward' at time "));
  EXPECT_THAT(all.message(), HasSubstr(" are alive: "));
  MemoryPools pinned = pools_of({"name=fast,limit=300", "slow=unlimited"});
  pinned.allowed = [](const auto&) { return std::vector<plan::PoolIdx>{0}; };
  EXPECT_THAT(refusal(*graph, pinned).message(),
              HasSubstr("pool 'fast' has 300 bytes, 212 more are needed"));
  MemoryPools sized = pools_of({"name=fast,size=400,limit=300"});
  EXPECT_THAT(refusal(*graph, sized).message(),
              HasSubstr("has 300 bytes, 212 more are needed, 112 more of its size"));
}

TEST(Pools, SmallerThanTheUnitOfAddressesHoldNothing) {
  EXPECT_THAT(refusal(*chain(), pools_of({"tiny=10"})).message(),
              HasSubstr("pool 'tiny' has 10 bytes, 502 more are needed"));
  EXPECT_TRUE(plan_of(*chain(), pools_of({"tiny=10", "slow=unlimited"})).ok());
  EXPECT_TRUE(plan_of(*chain(), pools_of({"none=0", "slow=unlimited"})).ok());
}

TEST(Pools, RandomGraphsKeepTheirTensorsApart) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Graph graph("forward");
    std::vector<Value*> values = {graph.add_input(f32({64}), "x")};
    for (int i = 0; i < 12; ++i) {
      Value* a = values[random() % values.size()];
      values.push_back(i % 3 == 0 ? add(graph, a, values[random() % values.size()])
                                  : relu(graph, a));
    }
    graph.set_outputs({values.back()});
    MemoryPools pools = pools_of({"name=a,limit=700,align=32", "name=b,limit=600", "c=unlimited"});
    pools.allowed = [&](const auto& names) {
      std::vector<plan::PoolIdx> allowed;
      if (names.begin()->size() % 2 == 0) allowed = {2, 1};
      return allowed;
    };
    const auto plan = plan_of(graph, pools);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_TRUE(plan::validate(plan->problem, plan->solution).ok());
    EXPECT_LE(plan->pool_bytes[0], 700);
    EXPECT_LE(plan->pool_bytes[1], 600);
    for (const auto& [root, offset] : plan->offsets) {
      const auto pool = static_cast<size_t>(plan->pools.at(root));
      EXPECT_LE(offset + root->tensor().nbytes(), plan->pool_bytes[pool]);
    }
  }
}

}  // namespace
}  // namespace petrel::exir
