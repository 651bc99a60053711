// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/paid_call.h"

#include <gtest/gtest.h>

#include "backends/xnnpack/format/structure_bytes.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "runtime/core/budget.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;

TEST(PaidCall, TakesWhatIsCountedAndThenOfTheBudget) {
  runtime::Budget memory("max_delegate_bytes", 100);
  PaidCall call(50, &memory);
  EXPECT_TRUE(call.take(50));
  EXPECT_EQ(memory.left(), 100u);
  EXPECT_TRUE(call.take(60));
  EXPECT_EQ(memory.left(), 40u);
  call.give(30);
  EXPECT_TRUE(call.take(30));
  EXPECT_EQ(memory.left(), 40u);
  EXPECT_FALSE(call.was_refused());
  EXPECT_FALSE(call.take(41));
  EXPECT_TRUE(call.was_refused());
  call.allow(1);
  EXPECT_TRUE(call.take(41));
  EXPECT_EQ(memory.left(), 0u);
}

TEST(PaidCall, GivesNoMemoryThatIsNotPaidFor) {
  const xnn_allocator& allocator = *paying_allocator();
  runtime::Budget memory("max_delegate_bytes", 1 << 20);
  PaidCall call(0, &memory);
  void* block = allocator.allocate(nullptr, 1000);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(memory.left(), (1u << 20) - 1000);
  EXPECT_EQ(allocator.aligned_allocate(nullptr, 64, 2 << 20), nullptr);
  EXPECT_EQ(allocator.reallocate(nullptr, block, 2 << 20), nullptr);
  EXPECT_TRUE(call.was_refused());
  allocator.deallocate(nullptr, block);
}

// Without a cache each node packs its filter: a hundred times 256 KB, of which no count knows.
TEST(PaidCall, RefusesFiltersThatEachNodePacks) {
  GraphBuilder b;
  TestMap map;
  map.data["w"].resize(256 * 256, 1);
  const uint32_t x = b.input({1, 256}), filter = b.constant({256, 256}, "w");
  for (int i = 0; i < 100; ++i) {
    b.node(NodeKind::FullyConnected, {x, filter, kNoId}, {b.output({1, 256})});
  }
  for (const bool share : {true, false}) {
    runtime::Budget memory("max_delegate_bytes", structure_bytes(b.graph) + (8 << 20));
    Delegate::Options options;
    options.share_weights = share;
    options.memory = &memory;
    EXPECT_EQ(Delegate::create(b.graph, 0, &map, options).error(),
              share ? Error::Ok : Error::OutOfResources);
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack
