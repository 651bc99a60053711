// SPDX-License-Identifier: Apache-2.0
//
// Damaged payloads, all the way through XNNPACK: making a delegate must fail
// or give one that runs. Sanitizers and guard pages watch.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "runtime/core/log.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;

class MutationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Tens of thousands of refusals are expected.
    hook_ = runtime::set_log_hook({});
    // Each case computes next to nothing.
    ASSERT_EQ(runtime::set_thread_count(1), Error::Ok);
    map_.data = {
        {"f1", std::vector<float>(72, 0.5f)},    {"b1", std::vector<float>(4, 0.25f)},
        {"f2", std::vector<float>(36, -0.5f)},   {"w", std::vector<float>(12, 1.0f)},
        {"b", std::vector<float>(12, 2.0f)},     {"epsilon", {1e-5f}},
        {"/3", std::vector<float>(3, 1.0f / 3)}, {"/12", std::vector<float>(12, 1.0f / 12)}};
  }
  void TearDown() override { runtime::set_log_hook(hook_); }

  // True when it could be made.
  bool try_payload(const std::vector<uint8_t>& payload) {
    const auto delegate = make(payload);
    if (delegate == nullptr) return false;
    // Exactly as large as the program says, with nothing behind them.
    GuardedFloats x(72), k(2), y(3);
    Arguments args;
    args.add({1, 2, 6, 6}, x.data());
    args.add({2}, k.data());
    args.add({1, 3}, y.data());
    ran_ += args.run(*delegate) == Error::Ok;
    return true;
  }

  // The same of graph_of_norms().
  bool try_norms(const std::vector<uint8_t>& payload) {
    const auto delegate = make(payload);
    if (delegate == nullptr) return false;
    GuardedFloats x(360), y(360);
    Arguments args;
    args.add({2, 3, 5, 12}, x.data());
    args.add({2, 3, 5, 12}, y.data());
    ran_ += args.run(*delegate) == Error::Ok;
    return true;
  }

  // Null when it could not be made.
  std::unique_ptr<Delegate> make(const std::vector<uint8_t>& payload) {
    const int held = map_.taken - map_.freed;
    auto delegate = Delegate::create(payload.data(), payload.size(), &map_, {});
    EXPECT_EQ(map_.taken - map_.freed, held);
    return delegate.ok() ? std::move(*delegate) : nullptr;
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

TEST_F(MutationTest, EveryByteOfNormsMayBeAnything) {
  const std::vector<uint8_t> good = write_payload(graph_of_norms());
  ASSERT_TRUE(try_norms(good));
  size_t made = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int change : {0, good[i] ^ 0x01, good[i] + 1}) {
      std::vector<uint8_t> bad = good;
      bad[i] = static_cast<uint8_t>(change);
      made += bad != good && try_norms(bad) ? 1 : 0;
    }
  }
  EXPECT_GT(made, 100u);
  EXPECT_LT(made, 2 * good.size());
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
