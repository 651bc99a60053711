// SPDX-License-Identifier: Apache-2.0
//
// How long a delegate has the bytes of weights that it packs: each from when the first
// node packs it until every node that reads it has.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/packed_weights.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "runtime/backend/byte_source.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;

// Hands out a copy of its own each time, and spoils it when it comes back.
class SpoilingMap final : public runtime::NamedDataMap {
 public:
  struct Moment {
    std::string key;
    uint64_t packed;  // regions packed so far
    bool operator==(const Moment& other) const {
      return key == other.key && packed == other.packed;
    }
  };

  std::map<std::string, std::vector<float>> data;
  mutable std::vector<Moment> taken;
  mutable std::vector<Moment> returned;

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = data.find(std::string(key));
    if (found == data.end()) return Error::NotFound;
    taken.push_back({found->first, PackedWeights::instance().stats().packed});
    lent_.push_back({this, found->first, found->second});
    Loan& loan = lent_.back();
    return FreeableBuffer(loan.values.data(), loan.values.size() * sizeof(float), &take_back,
                          &loan);
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(data.size()); }
  Result<const char*> get_key(uint32_t) const override { return Error::NotFound; }

 private:
  struct Loan {
    const SpoilingMap* map;
    std::string key;
    std::vector<float> values;
  };

  static void take_back(void* context, void*, size_t) {
    auto& loan = *static_cast<Loan*>(context);
    for (float& value : loan.values) value = std::numeric_limits<float>::quiet_NaN();
    loan.map->returned.push_back({loan.key, PackedWeights::instance().stats().packed});
  }

  mutable std::deque<Loan> lent_;
};

std::vector<float> ramp(size_t count, float start) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = start + 0.25f * static_cast<float>(i % 5);
  return values;
}

std::unique_ptr<Delegate> make(const Graph& graph, const runtime::NamedDataMap& map) {
  const std::vector<uint8_t> payload = write_payload(graph);
  auto delegate = Delegate::create(payload.data(), payload.size(), &map, {});
  EXPECT_TRUE(delegate.ok());
  return delegate.ok() ? std::move(*delegate) : nullptr;
}

TEST(WeightLifetime, EndsBeforeTheNextIsPacked) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 4});
  const uint32_t first = b.constant({6, 4}, "first");
  const uint32_t first_bias = b.constant({6}, "first_bias");
  const uint32_t second = b.constant({3, 6}, "second");
  const uint32_t inner = b.inner({2, 6});
  const uint32_t y = b.output({2, 3});
  b.node(NodeKind::FullyConnected, {x, first, first_bias}, {inner});
  b.node(NodeKind::FullyConnected, {inner, second, kNoId}, {y});
  SpoilingMap map;
  map.data = {{"first", ramp(24, 1)}, {"first_bias", ramp(6, 2)}, {"second", ramp(18, 3)}};
  const uint64_t before = PackedWeights::instance().stats().packed;
  const auto delegate = make(b.graph, map);
  ASSERT_NE(delegate, nullptr);
  const std::vector<SpoilingMap::Moment> expected = {
      {"first", before + 1}, {"first_bias", before + 1}, {"second", before + 2}};
  EXPECT_EQ(map.returned, expected);
  // And begins after the one before was packed.
  const std::vector<SpoilingMap::Moment> fetched = {
      {"first", before}, {"first_bias", before}, {"second", before + 1}};
  EXPECT_EQ(map.taken, fetched);

  Arguments args;
  float* in = args.add({2, 4});
  const float* out = args.add({2, 3});
  for (int i = 0; i < 8; ++i) in[i] = static_cast<float>(i) - 2;
  ASSERT_EQ(args.run(*delegate), Error::Ok);
  for (size_t row = 0; row < 2; ++row) {
    for (size_t o = 0; o < 3; ++o) {
      float want = 0;
      for (size_t i = 0; i < 6; ++i) {
        float hidden = map.data["first_bias"][i];
        for (size_t j = 0; j < 4; ++j) hidden += map.data["first"][i * 4 + j] * in[row * 4 + j];
        want += map.data["second"][o * 6 + i] * hidden;
      }
      EXPECT_NEAR(out[row * 3 + o], want, 1e-3);
    }
  }
}

TEST(WeightLifetime, LastsForAllNodesThatPackTheFilter) {
  GraphBuilder b;
  const uint32_t x = b.input({1, 4});
  const uint32_t w = b.constant({3, 4}, "w");
  const uint32_t one = b.constant({3}, "one");
  const uint32_t two = b.constant({3}, "two");
  const uint32_t y = b.output({1, 3});
  const uint32_t z = b.output({1, 3});
  b.node(NodeKind::FullyConnected, {x, w, one}, {y});
  b.node(NodeKind::FullyConnected, {x, w, two}, {z});
  SpoilingMap map;
  map.data = {{"w", ramp(12, 1)}, {"one", ramp(3, 10)}, {"two", ramp(3, 20)}};
  const auto delegate = make(b.graph, map);
  ASSERT_NE(delegate, nullptr);
  ASSERT_EQ(map.returned.size(), 3u);
  EXPECT_EQ(map.returned[0].key, "one");
  EXPECT_EQ(map.returned[1].key, "w");

  Arguments args;
  float* in = args.add({1, 4});
  const float* outs[] = {args.add({1, 3}), args.add({1, 3})};
  for (int i = 0; i < 4; ++i) in[i] = static_cast<float>(i) - 1;
  ASSERT_EQ(args.run(*delegate), Error::Ok);
  for (size_t o = 0; o < 3; ++o) {
    float want = 0;
    for (size_t i = 0; i < 4; ++i) want += map.data["w"][o * 4 + i] * in[i];
    EXPECT_NEAR(outs[0][o], want + map.data["one"][o], 1e-4);
    EXPECT_NEAR(outs[1][o], want + map.data["two"][o], 1e-4);
  }
}

// Convolutions and transposed ones, whose filter is packed for each phase, and
// operands that are kept as they are.
TEST(WeightLifetime, EndsNowhereTooEarly) {
  GraphBuilder b;
  const uint32_t x = b.input({1, 4, 4, 2});
  const uint32_t filter = b.constant({3, 3, 3, 2}, "filter");
  const uint32_t filter_bias = b.constant({3}, "filter_bias");
  const uint32_t depthwise = b.constant({1, 3, 3, 3}, "depthwise");
  const uint32_t turned = b.constant({2, 2, 2, 3}, "turned");
  const uint32_t term = b.constant({1, 1, 1, 2}, "term");
  const uint32_t convolved = b.inner({1, 4, 4, 3});
  const uint32_t narrowed = b.inner({1, 2, 2, 3});
  const uint32_t widened = b.inner({1, 4, 4, 2});
  const uint32_t y = b.output({1, 4, 4, 2});
  Node& conv = b.node(NodeKind::Conv2d, {x, filter, filter_bias}, {convolved});
  conv.window.kernel_height = conv.window.kernel_width = 3;
  conv.window.padding_top = conv.window.padding_right = 1;
  conv.window.padding_bottom = conv.window.padding_left = 1;
  conv.channels = {1, 2, 3, 0, 0};
  Node& deep = b.node(NodeKind::DepthwiseConv2d, {convolved, depthwise, kNoId}, {narrowed});
  deep.window.kernel_height = deep.window.kernel_width = 3;
  deep.channels = {3, 1, 1, 0, 0};
  Node& back = b.node(NodeKind::ConvTranspose2d, {narrowed, turned, kNoId}, {widened});
  back.window.kernel_height = back.window.kernel_width = 2;
  back.window.stride_height = back.window.stride_width = 2;
  back.channels = {1, 3, 2, 0, 0};
  b.node(NodeKind::Add, {widened, term}, {y});

  SpoilingMap spoiling;
  spoiling.data = {{"filter", ramp(54, -0.5f)},
                   {"filter_bias", ramp(3, 1)},
                   {"depthwise", ramp(27, -1)},
                   {"turned", ramp(24, 0.5f)},
                   {"term", ramp(2, 5)}};
  TestMap lasting;
  lasting.data = spoiling.data;
  const auto spoiled = make(b.graph, spoiling);
  const auto kept = make(b.graph, lasting);
  ASSERT_TRUE(spoiled != nullptr && kept != nullptr);
  EXPECT_EQ(spoiling.returned.size(), 5u);
  std::vector<float> results[2];
  for (int i = 0; i < 2; ++i) {
    Arguments args;
    float* in = args.add({1, 4, 4, 2});
    const float* out = args.add({1, 4, 4, 2});
    for (int j = 0; j < 32; ++j) in[j] = static_cast<float>(j % 7) - 3;
    ASSERT_EQ(args.run(i == 0 ? *spoiled : *kept), Error::Ok);
    results[i].assign(out, out + 32);
  }
  EXPECT_EQ(results[0], results[1]);
  for (const float value : results[0]) EXPECT_TRUE(std::isfinite(value));
}

// A program that is mapped or lies in memory tells where its bytes are, and its payload
// may hold weights of its own that a map, if there is one, knows nothing of.
TEST(WeightLifetime, OfInlineWeightsIsThatOfThePayload) {
  static const std::vector<float> kWeights = ramp(16, 1);
  GraphBuilder b;
  const uint32_t x = b.input({2, 4});
  const uint32_t y = b.output({2, 4});
  const uint32_t h = b.inner({2, 4});
  const uint32_t first = b.constant({4, 4}, "");
  const uint32_t bias = b.constant({4}, "");
  b.graph.constants[1].data = reinterpret_cast<const uint8_t*>(kWeights.data());
  b.graph.constants[1].size = 16 * sizeof(float);
  b.graph.constants[2].data = b.graph.constants[1].data;
  b.graph.constants[2].size = 4 * sizeof(float);
  // A second value of the same constant, with another bias.
  const uint32_t second = b.constant({4, 4}, "");
  b.graph.values[second].constant = b.graph.values[first].constant;
  b.node(NodeKind::FullyConnected, {x, first, kNoId}, {h});
  b.node(NodeKind::FullyConnected, {h, second, bias}, {y});
  const auto source = runtime::ByteSource::of_memory(kWeights.data(), 16 * sizeof(float));
  SpoilingMap map;
  for (const runtime::NamedDataMap* given :
       std::initializer_list<const runtime::NamedDataMap*>{nullptr, &map}) {
    auto delegate = Delegate::create(b.graph, 16 * sizeof(float), given, {});
    ASSERT_TRUE(delegate.ok());
    Arguments args;
    float* in = args.add({2, 4});
    for (int i = 0; i < 8; ++i) in[i] = static_cast<float>(i);
    const float* out = args.add({2, 4});
    ASSERT_EQ(args.run(**delegate), Error::Ok);
    for (int row = 0; row < 2; ++row) {
      float hidden[4] = {};
      for (int o = 0; o < 4; ++o) {
        for (int k = 0; k < 4; ++k) hidden[o] += in[row * 4 + k] * kWeights[o * 4 + k];
      }
      for (int o = 0; o < 4; ++o) {
        float sum = kWeights[o];
        for (int k = 0; k < 4; ++k) sum += hidden[k] * kWeights[o * 4 + k];
        EXPECT_FLOAT_EQ(out[row * 4 + o], sum);
      }
    }
  }
  EXPECT_TRUE(map.taken.empty());
}

}  // namespace
}  // namespace petrel::backends::xnnpack
