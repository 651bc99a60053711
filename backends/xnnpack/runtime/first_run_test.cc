// SPDX-License-Identifier: Apache-2.0
//
// What loading does ahead for the first run.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/runtime/chain.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "backends/xnnpack/runtime/touch.h"

namespace petrel::backends::xnnpack {
namespace {

std::unique_ptr<Delegate> load(const Graph& graph, const TestMap& map) {
  const std::vector<uint8_t> payload = write_payload(graph);
  auto made = Delegate::create(payload.data(), payload.size(), &map, {});
  EXPECT_TRUE(made.ok());
  return made.ok() ? std::move(*made) : nullptr;
}

TestMap mean_map(uint32_t width) {
  TestMap map;
  map.data["w"] = std::vector<float>(size_t{width} * width, 1.0f / static_cast<float>(width));
  return map;
}

TEST(FirstRun, IsReadyWhenItIsLoaded) {
  const TestMap map = mean_map(256);
  const auto delegate = load(chain_graph(8, 256), map);
  ASSERT_NE(delegate, nullptr);
  EXPECT_EQ(delegate->num_reshapes(), 1u);
  run_chain(*delegate, 8, 256);
  EXPECT_EQ(delegate->num_reshapes(), 1u);
  EXPECT_EQ(delegate->num_setups(), 1u);
  run_chain(*delegate, 5, 256);
  EXPECT_EQ(delegate->num_reshapes(), 2u);
  run_chain(*delegate, 300, 256);
}

// Loading has no addresses of inputs and outputs yet, which are one there.
TEST(FirstRun, CopiesAnInputToAnOutput) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 6});
  const uint32_t between = b.output({3, 4});
  const uint32_t y = b.output({12});
  b.node(NodeKind::StaticReshape, {x}, {between}).list = {3, 4};
  b.node(NodeKind::StaticReshape, {between}, {y}).list = {12};
  const auto delegate = load(b.graph, {});
  ASSERT_NE(delegate, nullptr);
  Arguments args;
  float* in = args.add({2, 6});
  const float* outputs[] = {args.add({3, 4}), args.add({12})};
  for (int i = 0; i < 12; ++i) in[i] = static_cast<float>(i + 1);
  ASSERT_EQ(args.run(*delegate), runtime::Error::Ok);
  for (const float* out : outputs) {
    for (int i = 0; i < 12; ++i) EXPECT_EQ(out[i], i + 1);
  }
}

// Additions of 1 in a row: nodes without weights.
Graph additions(uint32_t count, TestMap* map) {
  map->data["one"] = {1};
  GraphBuilder b;
  uint32_t x = b.input({4});
  const uint32_t one = b.constant({1}, "one");
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t y = i + 1 == count ? b.output({4}) : b.inner({4});
    b.node(NodeKind::Add, {x, one}, {y});
    x = y;
  }
  return std::move(b.graph);
}

void expect_ready(uint32_t num_additions) {
  TestMap map;
  const auto delegate = load(additions(num_additions, &map), map);
  ASSERT_NE(delegate, nullptr);
  EXPECT_EQ(delegate->num_reshapes(), 1u);
  Arguments args;
  float* const in = args.add({4});
  const float* const out = args.add({4});
  for (int i = 0; i < 4; ++i) in[i] = static_cast<float>(i);
  ASSERT_EQ(args.run(*delegate), runtime::Error::Ok);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], static_cast<float>(i + num_additions));
  EXPECT_EQ(delegate->num_reshapes(), 1u);
}

TEST(FirstRun, IsReadyWhereThereAreManyNodes) { expect_ready(300); }

TEST(FirstRun, IsReadyWhereThereAreThousandsOfNodes) { expect_ready(12'000); }

class TouchedPages : public testing::TestWithParam<size_t> {};

TEST_P(TouchedPages, AreThereAndHoldWhatTheyHeld) {
  constexpr size_t kPage = 4096, kPages = 600;
  void* const memory = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bytes = static_cast<uint8_t*>(memory);
  bytes[100 * kPage + 3] = 7;
  const std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> threads(
      GetParam() > 1 ? pthreadpool_create(GetParam()) : nullptr, &pthreadpool_destroy);
  // All but the first and the last two pages, of which a part is asked for.
  touch(bytes + 1, (kPages - 1) * kPage - 2, threads.get());
  std::vector<unsigned char> there(kPages);
  ASSERT_EQ(mincore(memory, kPages * kPage, there.data()), 0);
  EXPECT_EQ(there[0] & 1, 0);
  EXPECT_EQ(std::count_if(there.begin(), there.end(), [](unsigned char c) { return (c & 1) != 0; }),
            static_cast<ptrdiff_t>(kPages - 3));
  EXPECT_EQ(bytes[100 * kPage + 3], 7);
  EXPECT_EQ(bytes[200 * kPage], 0);
  munmap(memory, kPages * kPage);
}

INSTANTIATE_TEST_SUITE_P(Threads, TouchedPages, testing::Values(1, 2, 3));

}  // namespace
}  // namespace petrel::backends::xnnpack
