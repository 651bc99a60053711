// SPDX-License-Identifier: Apache-2.0
//
// Delegates that share the memory between their nodes.
#include "backends/xnnpack/runtime/workspace.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

#include "backends/xnnpack/format/live_bytes.h"
#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/structure_bytes.h"
#include "backends/xnnpack/runtime/chain.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using DelegatePtr = std::unique_ptr<Delegate>;

runtime::Result<DelegatePtr> create(const Graph& graph, const runtime::NamedDataMap* map,
                                    const Delegate::Options& options) {
  const std::vector<uint8_t> payload = write_payload(graph);
  return Delegate::create(payload.data(), payload.size(), map, options);
}

TEST(WorkspaceOfDelegates, MayBeSharedAndGrowAndLoseItsFirstUser) {
  const int owner = 0;
  Delegate::Options options;
  options.workspace_owner = &owner;
  std::vector<DelegatePtr> delegates;
  std::vector<TestMap> maps(3);
  const int32_t widths[] = {8, 100, 30};
  for (size_t i = 0; i < 3; ++i) {
    const auto width = static_cast<size_t>(widths[i]);
    maps[i].data["w"] = std::vector<float>(width * width, 1.0f / static_cast<float>(width));
    auto made = create(chain_graph(4, static_cast<uint32_t>(widths[i])), &maps[i], options);
    ASSERT_TRUE(made.ok());
    delegates.push_back(std::move(*made));
    // Those before were set up in a workspace that may have moved.
    for (size_t j = 0; j <= i; ++j) run_chain(*delegates[j], 4, widths[j]);
  }
  run_chain(*delegates[0], 500, widths[0]);
  delegates.erase(delegates.begin());
  run_chain(*delegates[0], 4, widths[1]);
  run_chain(*delegates[1], 900, widths[2]);
  run_chain(*delegates[0], 4, widths[1]);
}

// Values of which the planner makes 3007 columns, though at most 2006 are there together: 1001
// columns have to lie beside 1002, and then beside 1003, which lie where 1004 did.
Graph graph_with_gaps(uint32_t rows) {
  GraphBuilder b;
  const uint32_t x = b.input({rows, 1004});
  const uint32_t outputs[] = {b.output({rows, 1}), b.output({rows, 1}), b.output({rows, 1}),
                              b.output({rows, 1})};
  const uint32_t first = b.inner({rows, 1004}), second = b.inner({rows, 1002}),
                 third = b.inner({rows, 1001}), fourth = b.inner({rows, 1003});
  const auto cut = [&b](uint32_t from, uint32_t to) {
    Node& node = b.node(NodeKind::StaticSlice, {from}, {to});
    node.list = {0, 0};
    node.list2 = {0, b.graph.values[to].dims[1]};
  };
  b.node(NodeKind::Abs, {x}, {first});
  cut(x, outputs[0]);
  cut(first, second);
  cut(x, outputs[1]);
  cut(second, third);
  Node& pad = b.node(NodeKind::StaticConstantPad, {third}, {fourth});
  pad.list = {0, 0};
  pad.list2 = {0, 2};
  cut(x, outputs[2]);
  cut(fourth, outputs[3]);
  return std::move(b.graph);
}

Error run_with_gaps(Delegate& delegate, int32_t rows, runtime::Budget* memory) {
  Arguments args;
  args.add({rows, 1004});
  for (int i = 0; i < 4; ++i) args.add({rows, 1});
  return args.run(delegate, memory);
}

TEST(WorkspaceOfDelegates, PaysForGapsBetweenValues) {
  constexpr uint32_t kRows = 1000;
  constexpr uint64_t kRow = sizeof(float);
  const Graph large = graph_with_gaps(kRows);
  ASSERT_EQ(peak_workspace_bytes(large), 2006 * kRow * kRows);
  const uint64_t others = structure_bytes(large) + (64 << 10);
  Delegate::Options options;
  runtime::Budget less("max_delegate_bytes", 2900 * kRow * kRows + others);
  options.memory = &less;
  EXPECT_EQ(create(large, nullptr, options).error(), Error::OutOfResources);
  runtime::Budget enough("max_delegate_bytes", 3007 * kRow * kRows + others);
  options.memory = &enough;
  auto made = create(large, nullptr, options);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(run_with_gaps(**made, kRows, &enough), Error::Ok);
}

TEST(WorkspaceOfDelegates, OfOneThatMayNotGrowIsAsBefore) {
  const Graph small = graph_with_gaps(1);
  auto made = create(small, nullptr, {});
  ASSERT_TRUE(made.ok());
  runtime::Budget less("max_delegate_bytes", 2900 * 1000 * sizeof(float));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run_with_gaps(**made, 1000, &less), Error::OutOfResources);
    EXPECT_EQ(run_with_gaps(**made, 1, &less), Error::Ok);
  }
  runtime::Budget enough("max_delegate_bytes", 3008 * 1000 * sizeof(float));
  EXPECT_EQ(run_with_gaps(**made, 1000, &enough), Error::Ok);
}

TEST(WorkspaceOfDelegates, MayBeSharedByThreads) {
  const int owner = 0;
  Delegate::Options options;
  options.workspace_owner = &owner;
  TestMap map;
  map.data["w"] = std::vector<float>(64 * 64, 1.0f / 64);
  std::vector<std::thread> threads;
  for (int32_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      for (int32_t i = 1; i < 30; ++i) {
        TestMap own;
        own.data = map.data;
        auto made = create(chain_graph(3, 64), &own, options);
        ASSERT_TRUE(made.ok());
        run_chain(**made, t * i, 64);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace petrel::backends::xnnpack
