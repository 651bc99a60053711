// SPDX-License-Identifier: Apache-2.0
//
// Delegates that share the memory between their nodes.
#include "backends/xnnpack/runtime/workspace.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

#include "backends/xnnpack/format/payload_writer.h"
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
