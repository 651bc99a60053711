// SPDX-License-Identifier: Apache-2.0
//
// Damaged payloads, all the way through XNNPACK: making a delegate must fail
// or give one that runs. Sanitizers and guard pages watch.
#include <gtest/gtest.h>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "runtime/core/log.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;

// Nodes of most families around two convolutions, with 1.3 kB of payload.
Graph graph_of_families() {
  GraphBuilder b;
  const uint32_t x = b.input({1, 2, 6, 6});
  const uint32_t k = b.input({2});
  const uint32_t f1 = b.constant({4, 3, 3, 2}, "f1");
  const uint32_t b1 = b.constant({4}, "b1");
  const uint32_t f2 = b.constant({1, 3, 3, 4}, "f2");
  const uint32_t w = b.constant({3, 4}, "w");
  const uint32_t c = b.constant({4}, "b1");
  const uint32_t image = b.inner({1, 6, 6, 2});
  b.node(NodeKind::StaticTranspose, {x}, {image}).list = {0, 2, 3, 1};
  const uint32_t scaled = b.inner({1, 6, 6, 2});
  b.node(NodeKind::Multiply, {image, k}, {scaled});
  const auto window = [](Node& node, uint32_t kernel, uint32_t padding, uint32_t stride) {
    node.window = {padding, padding, padding, padding, kernel, kernel, stride, stride, 1, 1};
  };
  const uint32_t conv = b.inner({1, 6, 6, 4});
  {
    Node& node = b.node(NodeKind::Conv2d, {scaled, f1, b1}, {conv});
    window(node, 3, 1, 1);
    node.channels = {1, 2, 4, 0, 0};
    node.output_min = 0;
  }
  const uint32_t depthwise = b.inner({1, 6, 6, 4});
  {
    Node& node = b.node(NodeKind::DepthwiseConv2d, {conv, f2, kNoId}, {depthwise});
    window(node, 3, 1, 1);
    node.channels = {4, 1, 1, 0, 0};
  }
  const uint32_t sum = b.inner({1, 6, 6, 4});
  b.node(NodeKind::Add, {depthwise, c}, {sum});
  const uint32_t pool = b.inner({1, 3, 3, 4});
  window(b.node(NodeKind::MaxPooling2d, {sum}, {pool}), 2, 0, 2);
  const uint32_t average = b.inner({1, 3, 3, 4});
  window(b.node(NodeKind::AvgPooling2d, {sum}, {average}), 3, 1, 2);
  const uint32_t joined = b.inner({1, 3, 3, 8});
  b.node(NodeKind::Concatenate2, {pool, average}, {joined}).axis = 3;
  const uint32_t cut = b.inner({1, 3, 3, 4});
  {
    Node& node = b.node(NodeKind::StaticSlice, {joined}, {cut});
    node.list = {0, 0, 0, 2};
    node.list2 = {1, 3, 3, 4};
  }
  const uint32_t padded = b.inner({1, 4, 5, 4});
  {
    Node& node = b.node(NodeKind::StaticConstantPad, {cut}, {padded});
    node.list = {0, 1, 1, 0};
    node.list2 = {0, 0, 1, 0};
  }
  const uint32_t resized = b.inner({1, 5, 7, 4});
  {
    Node& node = b.node(NodeKind::StaticResizeBilinear2d, {padded}, {resized});
    node.new_height = 5;
    node.new_width = 7;
  }
  const uint32_t mean = b.inner({1, 1, 1, 4});
  b.node(NodeKind::GlobalAvgPooling2d, {resized}, {mean}).flags = kKeepDims;
  const uint32_t flat = b.inner({1, 4});
  b.node(NodeKind::StaticReshape, {mean}, {flat}).list = {1, 4};
  const uint32_t logits = b.inner({1, 3});
  b.node(NodeKind::FullyConnected, {flat, w, kNoId}, {logits});
  const uint32_t y = b.output({1, 3});
  b.node(NodeKind::Softmax, {logits}, {y});
  return std::move(b.graph);
}

class MutationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Tens of thousands of refusals are expected.
    hook_ = runtime::set_log_hook({});
    // Each case computes next to nothing.
    ASSERT_EQ(runtime::set_thread_count(1), Error::Ok);
    map_.data = {{"f1", std::vector<float>(72, 0.5f)},
                 {"b1", std::vector<float>(4, 0.25f)},
                 {"f2", std::vector<float>(36, -0.5f)},
                 {"w", std::vector<float>(12, 1.0f)}};
  }
  void TearDown() override { runtime::set_log_hook(hook_); }

  // True when it could be made.
  bool try_payload(const std::vector<uint8_t>& payload) {
    const int held = map_.taken - map_.freed;
    auto delegate = Delegate::create(payload.data(), payload.size(), &map_, {});
    EXPECT_EQ(map_.taken - map_.freed, held);
    if (!delegate.ok()) return false;
    // Exactly as large as the program says, with nothing behind them.
    GuardedFloats x(72), k(2), y(3);
    Arguments args;
    args.add({1, 2, 6, 6}, x.data());
    args.add({2}, k.data());
    args.add({1, 3}, y.data());
    ran_ += args.run(**delegate) == Error::Ok;
    return true;
  }

  TestMap map_;
  size_t ran_ = 0;
  runtime::LogHook hook_;
};

TEST_F(MutationTest, UndamagedRuns) {
  EXPECT_TRUE(try_payload(write_payload(graph_of_families())));
  EXPECT_EQ(ran_, 1u);
}

TEST_F(MutationTest, EveryByteMayBeAnything) {
  const std::vector<uint8_t> good = write_payload(graph_of_families());
  size_t made = 0;
  size_t cases = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int change : {0, 0xFF, good[i] ^ 0x01, good[i] ^ 0x80, ~good[i]}) {
      std::vector<uint8_t> bad = good;
      bad[i] = static_cast<uint8_t>(change);
      if (bad == good) continue;
      ++cases;
      made += try_payload(bad) ? 1 : 0;
    }
  }
  EXPECT_GT(cases, 3 * good.size());
  // Some bytes are padding or hints, but most mean something.
  EXPECT_LT(made, cases / 2);
  EXPECT_GT(ran_, 0u);
  RecordProperty("cases", static_cast<int>(cases));
  RecordProperty("made", static_cast<int>(made));
}

TEST_F(MutationTest, EveryTruncationIsRefused) {
  const std::vector<uint8_t> good = write_payload(graph_of_families());
  for (size_t size = 0; size < good.size(); ++size) {
    const std::vector<uint8_t> bad(good.begin(), good.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(try_payload(bad)) << size;
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack
