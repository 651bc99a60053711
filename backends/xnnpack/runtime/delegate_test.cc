// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/delegate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <thread>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/packed_weights.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using DelegatePtr = std::unique_ptr<Delegate>;

runtime::Result<DelegatePtr> create(const Graph& graph, const runtime::NamedDataMap* map,
                                    const Delegate::Options& options = {}) {
  const std::vector<uint8_t> payload = write_payload(graph);
  return Delegate::create(payload.data(), payload.size(), map, options);
}

// y = w x + b for x [rows, in], w [out, in].
Graph linear_graph(uint32_t rows, uint32_t in, uint32_t out, const std::string& weight = "w",
                   const std::string& bias = "b", uint32_t flags = 0) {
  GraphBuilder b;
  const uint32_t x = b.input({rows, in});
  const uint32_t w = b.constant(flags == 0 ? Dims{out, in} : Dims{in, out}, weight);
  const uint32_t c = b.constant({out}, bias);
  const uint32_t y = b.output({rows, out});
  b.node(NodeKind::FullyConnected, {x, w, c}, {y}).flags = flags;
  return std::move(b.graph);
}

std::vector<float> ramp(size_t count, float start = 0) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = start + 0.25f * static_cast<float>(i % 17);
  return values;
}

TestMap linear_map(uint32_t in, uint32_t out, float start = 0) {
  TestMap map;
  map.data["w"] = ramp(in * out, start);
  map.data["b"] = ramp(out, -1);
  return map;
}

// What the graph computes, by definition.
std::vector<float> linear(const std::vector<float>& x, const std::vector<float>& w,
                          const std::vector<float>& b) {
  const size_t out = b.size();
  const size_t in = w.size() / out;
  std::vector<float> y;
  for (size_t row = 0; row < x.size() / in; ++row) {
    for (size_t o = 0; o < out; ++o) {
      double sum = b[o];
      for (size_t i = 0; i < in; ++i) sum += double{w[o * in + i]} * x[row * in + i];
      y.push_back(static_cast<float>(sum));
    }
  }
  return y;
}

void run_and_compare(Delegate& delegate, int32_t rows, const TestMap& map) {
  const std::vector<float>& w = map.data.at("w");
  const std::vector<float>& b = map.data.at("b");
  const auto in = static_cast<int32_t>(w.size() / b.size());
  Arguments args;
  float* x = args.add({rows, in});
  const float* y = args.add({rows, static_cast<int32_t>(b.size())});
  std::vector<float> input = ramp(static_cast<size_t>(rows * in), 0.5f);
  std::copy(input.begin(), input.end(), x);
  ASSERT_EQ(args.run(delegate), Error::Ok);
  const std::vector<float> want = linear(input, w, b);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(y[i], want[i], 1e-4 * (1 + std::fabs(want[i]))) << i;
  }
}

TEST(Delegate, ComputesAFullyConnectedLayer) {
  const TestMap map = linear_map(5, 3);
  auto delegate = create(linear_graph(4, 5, 3), &map);
  ASSERT_TRUE(delegate.ok());
  run_and_compare(**delegate, 4, map);
}

TEST(Delegate, TakesEachWeightOnceAndGivesItBackBeforeItRuns) {
  const TestMap map = linear_map(5, 3);
  auto delegate = create(linear_graph(4, 5, 3), &map);
  ASSERT_TRUE(delegate.ok());
  EXPECT_EQ(map.taken, 2);
  EXPECT_EQ(map.freed, 2);
}

TEST(Delegate, GivesWeightsBackWhenItCannotBeMade) {
  TestMap map = linear_map(5, 3);
  map.data.erase("b");
  auto delegate = create(linear_graph(4, 5, 3), &map);
  EXPECT_EQ(delegate.error(), Error::NotFound);
  EXPECT_EQ(map.taken, 1);
  EXPECT_EQ(map.freed, 1);
}

TEST(Delegate, RefusesMissingAndWronglySizedWeights) {
  EXPECT_EQ(create(linear_graph(4, 5, 3), nullptr).error(), Error::NotFound);
  for (const size_t count : {0, 14, 16}) {
    TestMap map = linear_map(5, 3);
    map.data["w"].resize(count);
    EXPECT_EQ(create(linear_graph(4, 5, 3), &map).error(), Error::InvalidExternalData) << count;
  }
}

// --- packed weights ---

TEST(PackedWeightsOfDelegates, AreSharedAndFreedWithTheLastUser) {
  const TestMap map = linear_map(64, 48);
  const PackedWeights::Stats before = PackedWeights::instance().stats();
  {
    auto first = create(linear_graph(4, 64, 48), &map);
    ASSERT_TRUE(first.ok());
    const PackedWeights::Stats one = PackedWeights::instance().stats();
    EXPECT_EQ(one.packed, before.packed + 1);
    EXPECT_EQ(one.regions, before.regions + 1);
    EXPECT_GE(one.bytes, before.bytes + 64 * 48 * sizeof(float));
    {
      // Another batch size is another payload, but the same weights.
      auto second = create(linear_graph(9, 64, 48), &map);
      ASSERT_TRUE(second.ok());
      const PackedWeights::Stats two = PackedWeights::instance().stats();
      EXPECT_EQ(two.packed, one.packed);
      EXPECT_EQ(two.bytes, one.bytes);
      EXPECT_EQ(two.shared, one.shared + 1);
      run_and_compare(**second, 9, map);
    }
    run_and_compare(**first, 4, map);
  }
  EXPECT_EQ(PackedWeights::instance().stats().regions, before.regions);
  EXPECT_EQ(PackedWeights::instance().stats().bytes, before.bytes);
}

TEST(PackedWeightsOfDelegates, NeverMixOtherBytesUnderTheSameKey) {
  const TestMap one = linear_map(8, 6, 0);
  const TestMap two = linear_map(8, 6, 3);
  auto first = create(linear_graph(4, 8, 6), &one);
  auto second = create(linear_graph(4, 8, 6), &two);
  ASSERT_TRUE(first.ok() && second.ok());
  run_and_compare(**first, 4, one);
  run_and_compare(**second, 4, two);
}

TEST(PackedWeightsOfDelegates, DifferByBiasAlone) {
  const TestMap one = linear_map(8, 6);
  TestMap two = linear_map(8, 6);
  two.data["b"] = ramp(6, 7);
  auto first = create(linear_graph(4, 8, 6), &one);
  auto second = create(linear_graph(4, 8, 6), &two);
  ASSERT_TRUE(first.ok() && second.ok());
  run_and_compare(**second, 4, two);
  run_and_compare(**first, 4, one);
}

// XNNPACK's seed for a filter of [6,6] is the same either way.
TEST(PackedWeightsOfDelegates, DifferByTheUseOfEqualBytes) {
  const TestMap map = linear_map(6, 6);
  auto plain = create(linear_graph(4, 6, 6), &map);
  auto transposed = create(linear_graph(4, 6, 6, "w", "b", kTransposeWeights), &map);
  ASSERT_TRUE(plain.ok() && transposed.ok());
  run_and_compare(**plain, 4, map);
  TestMap turned = map;
  for (size_t i = 0; i < 36; ++i) turned.data["w"][i] = map.data.at("w")[i % 6 * 6 + i / 6];
  run_and_compare(**transposed, 4, turned);
}

TEST(PackedWeightsOfDelegates, ServeOneFilterUsedInTwoWaysByOneDelegate) {
  GraphBuilder b;
  const uint32_t x = b.input({2, 4});
  const uint32_t w = b.constant({4, 4}, "w");
  const uint32_t y = b.output({2, 4});
  const uint32_t z = b.output({2, 4});
  b.node(NodeKind::FullyConnected, {x, w, kNoId}, {y});
  b.node(NodeKind::FullyConnected, {x, w, kNoId}, {z}).flags = kTransposeWeights;
  TestMap map;
  map.data["w"] = ramp(16);
  auto delegate = create(b.graph, &map);
  ASSERT_TRUE(delegate.ok());
  Arguments args;
  float* in = args.add({2, 4});
  const float* plain = args.add({2, 4});
  const float* turned = args.add({2, 4});
  for (int i = 0; i < 8; ++i) in[i] = static_cast<float>(i) - 3;
  ASSERT_EQ(args.run(**delegate), Error::Ok);
  for (size_t row = 0; row < 2; ++row) {
    for (size_t o = 0; o < 4; ++o) {
      float want = 0;
      float want_turned = 0;
      for (size_t i = 0; i < 4; ++i) {
        want += map.data["w"][o * 4 + i] * in[row * 4 + i];
        want_turned += map.data["w"][i * 4 + o] * in[row * 4 + i];
      }
      EXPECT_NEAR(plain[row * 4 + o], want, 1e-4);
      EXPECT_NEAR(turned[row * 4 + o], want_turned, 1e-4);
    }
  }
}

TEST(PackedWeightsOfDelegates, StayPrivateWhenAskedTo) {
  const TestMap map = linear_map(8, 6);
  const PackedWeights::Stats before = PackedWeights::instance().stats();
  Delegate::Options options;
  options.share_weights = false;
  auto delegate = create(linear_graph(4, 8, 6), &map, options);
  ASSERT_TRUE(delegate.ok());
  EXPECT_EQ(PackedWeights::instance().stats().packed, before.packed);
  run_and_compare(**delegate, 4, map);
}

TEST(PackedWeightsOfDelegates, MayBeMadeByManyThreadsAtOnce) {
  const TestMap expected = linear_map(32, 24);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&expected] {
      for (int i = 0; i < 20; ++i) {
        const TestMap map = linear_map(32, 24);
        auto delegate = create(linear_graph(3, 32, 24), &map);
        ASSERT_TRUE(delegate.ok());
        run_and_compare(**delegate, 3, expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(PackedWeights::instance().stats().regions, 0u);
}

// --- repeated execution ---

TEST(Delegate, SetsUpOnlyWhatChanged) {
  const TestMap map = linear_map(5, 3);
  auto made = create(linear_graph(8, 5, 3), &map);
  ASSERT_TRUE(made.ok());
  Delegate& delegate = **made;
  std::vector<float> x(40), y(24), z(24);
  const auto run = [&](int32_t rows, float* out) {
    Arguments args;
    args.add({rows, 5}, x.data());
    args.add({8, 3}, out);
    ASSERT_EQ(args.run(delegate), Error::Ok);
    EXPECT_EQ(args.tensor(1).size(0), rows);
  };
  run(8, y.data());
  EXPECT_EQ(delegate.num_reshapes(), 1u);
  EXPECT_EQ(delegate.num_setups(), 1u);
  run(8, y.data());
  EXPECT_EQ(delegate.num_reshapes(), 1u);
  EXPECT_EQ(delegate.num_setups(), 1u);
  run(8, z.data());
  EXPECT_EQ(delegate.num_reshapes(), 1u);
  EXPECT_EQ(delegate.num_setups(), 2u);
  run(3, z.data());
  EXPECT_EQ(delegate.num_reshapes(), 2u);
  EXPECT_EQ(delegate.num_setups(), 3u);
  run_and_compare(delegate, 2, map);
  run_and_compare(delegate, 8, map);
  run_and_compare(delegate, 11, map);
}

TEST(Delegate, TakesTensorsInChannelsLastOrder) {
  GraphBuilder b;
  const uint32_t x = b.input({1, 2, 3, 4});  // as it lies: [N,H,W,C]
  const uint32_t y = b.output({1, 2, 3, 4});
  b.node(NodeKind::Negate, {x}, {y});
  auto delegate = create(b.graph, nullptr);
  ASSERT_TRUE(delegate.ok());
  Arguments args;
  float* in = args.add({1, 4, 2, 3});
  const float* out = args.add({1, 4, 2, 3});
  for (const size_t i : {0, 1}) args.order(i) = {0, 2, 3, 1};
  for (int i = 0; i < 24; ++i) in[i] = static_cast<float>(i);
  ASSERT_EQ(args.run(**delegate), Error::Ok);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(out[i], static_cast<float>(-i));
}

// --- arguments that do not fit ---

class BadArguments : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = create(linear_graph(4, 5, 3), &map_);
    ASSERT_TRUE(made.ok());
    delegate_ = std::move(*made);
  }

  // The delegate must refuse the arguments and work afterwards.
  void expect(Error error, Arguments& args) {
    EXPECT_EQ(args.run(*delegate_), error);
    run_and_compare(*delegate_, 4, map_);
  }

  TestMap map_ = linear_map(5, 3);
  DelegatePtr delegate_;
};

TEST_F(BadArguments, OfWrongNumber) {
  Arguments args;
  args.add({4, 5});
  expect(Error::InvalidArgument, args);
}

TEST_F(BadArguments, ThatAreNoTensors) {
  Arguments args;
  args.add({4, 5});
  args.add({4, 3});
  args.value(0) = runtime::EValue(int64_t{1});
  expect(Error::InvalidType, args);
}

TEST_F(BadArguments, OfAnotherType) {
  Arguments args;
  args.add({4, 5});
  args.add({4, 3});
  int32_t sizes[] = {4, 3};
  int32_t data[12];
  runtime::TensorImpl ints(runtime::ScalarType::Int, 2, sizes, data);
  args.value(1) = runtime::EValue(runtime::Tensor(&ints));
  expect(Error::InvalidArgument, args);
}

TEST_F(BadArguments, OfAnotherRank) {
  Arguments args;
  args.add({1, 4, 5});
  args.add({4, 3});
  expect(Error::InvalidArgument, args);
}

TEST_F(BadArguments, OfSizesThatTheNodesCannotUse) {
  for (const int rows : {4, 0}) {
    Arguments args;
    args.add({rows, 6});
    args.add({4, 3});
    expect(Error::InvalidArgument, args);
  }
}

// A mean over no pixels is not a number; XNNPACK would not say so.
TEST(EmptyInputs, AreRefusedWhereAnOutputHasElements) {
  GraphBuilder b;
  const uint32_t x = b.input({1, 2, 2, 3});
  const uint32_t mean = b.output({1, 1, 1, 3});
  b.node(NodeKind::GlobalAvgPooling2d, {x}, {mean}).flags = kKeepDims;
  TestMap map;
  auto delegate = create(b.graph, &map);
  ASSERT_TRUE(delegate.ok());
  Arguments args;
  args.add({1, 0, 2, 3});
  args.add({1, 1, 1, 3});
  EXPECT_EQ(args.run(**delegate), Error::NotSupported);
  Arguments pixels;
  float* in = pixels.add({1, 1, 2, 3});
  const float* out = pixels.add({1, 1, 1, 3});
  in[0] = 3;
  ASSERT_EQ(pixels.run(**delegate), Error::Ok);
  EXPECT_EQ(out[0], 1.5f);
}

TEST(EmptyInputs, GiveEmptyOutputs) {
  TestMap map = linear_map(5, 3);
  auto delegate = create(linear_graph(4, 5, 3), &map);
  ASSERT_TRUE(delegate.ok());
  run_and_compare(**delegate, 4, map);
  Arguments args;
  args.add({0, 5});
  args.add({4, 3});
  ASSERT_EQ(args.tensor(0).set_data(nullptr, 0), Error::Ok);
  ASSERT_EQ(args.run(**delegate), Error::Ok);
  EXPECT_EQ(args.tensor(1).numel(), 0);
  run_and_compare(**delegate, 4, map);
  run_and_compare(**delegate, 2, map);
}

TEST_F(BadArguments, WithoutData) {
  Arguments args;
  args.add({4, 5});
  args.add({4, 3});
  ASSERT_EQ(args.tensor(0).set_data(nullptr, 0), Error::Ok);
  expect(Error::InvalidArgument, args);
}

TEST_F(BadArguments, WhoseOutputIsTooSmall) {
  Arguments args;
  args.add({4, 5});
  args.add({3, 3});
  expect(Error::NotSupported, args);
}

TEST_F(BadArguments, WhoseOutputIsAConstant) {
  Arguments args;
  args.add({4, 5});
  args.add({4, 3});
  args.tensor(1).set_constant(true);
  expect(Error::InvalidArgument, args);
}

// --- reading past the end ---

TEST(OverRead, NeverLeavesInputsAndWeightsOfConvolutions) {
  for (const uint32_t in_channels : {1, 2, 3, 5}) {
    GraphBuilder b;
    const uint32_t x = b.input({1, 4, 4, in_channels});
    const uint32_t filter = b.constant({3, 3, 3, in_channels}, "filter");
    const uint32_t bias = b.constant({3}, "bias");
    const uint32_t y = b.output({1, 2, 2, 3});
    Node& conv = b.node(NodeKind::Conv2d, {x, filter, bias}, {y});
    conv.window.kernel_height = conv.window.kernel_width = 3;
    conv.channels = {1, in_channels, 3, 0, 0};

    struct Guarded final : runtime::NamedDataMap {
      GuardedFloats filter, bias;
      size_t filter_count;
      explicit Guarded(size_t count) : filter(count), bias(3), filter_count(count) {
        for (size_t i = 0; i < count; ++i) filter.data()[i] = 1;
        for (size_t i = 0; i < 3; ++i) bias.data()[i] = static_cast<float>(i);
      }
      runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
        const bool is_filter = key == "filter";
        return runtime::FreeableBuffer(is_filter ? filter.data() : bias.data(),
                                       (is_filter ? filter_count : 3) * sizeof(float), nullptr);
      }
      runtime::Result<uint32_t> get_num_keys() const override { return 2u; }
      runtime::Result<const char*> get_key(uint32_t) const override { return Error::NotFound; }
    } map(27 * in_channels);

    auto delegate = create(b.graph, &map);
    ASSERT_TRUE(delegate.ok());
    GuardedFloats input(16 * in_channels);
    GuardedFloats output(12);
    for (size_t i = 0; i < 16 * in_channels; ++i) input.data()[i] = 0.5f;
    Arguments args;
    args.add({1, 4, 4, static_cast<int32_t>(in_channels)}, input.data());
    args.add({1, 2, 2, 3}, output.data());
    ASSERT_EQ(args.run(**delegate), Error::Ok);
    for (size_t i = 0; i < 12; ++i) {
      EXPECT_NEAR(output.data()[i], 4.5f * static_cast<float>(in_channels) + i % 3, 1e-4);
    }
  }
}

TEST(OverRead, NeverLeavesOperandsOfElementwiseNodes) {
  for (int32_t count = 1; count < 40; ++count) {
    GraphBuilder b;
    const auto n = static_cast<uint32_t>(count);
    const uint32_t x = b.input({n});
    const uint32_t c = b.constant({n}, "c");
    const uint32_t y = b.output({n});
    b.node(NodeKind::Multiply, {x, c}, {y});
    TestMap map;
    map.data["c"] = ramp(n, 1);
    auto delegate = create(b.graph, &map);
    ASSERT_TRUE(delegate.ok());
    GuardedFloats input(n);
    GuardedFloats output(n);
    for (size_t i = 0; i < n; ++i) input.data()[i] = 2;
    Arguments args;
    args.add({count}, input.data());
    args.add({count}, output.data());
    ASSERT_EQ(args.run(**delegate), Error::Ok);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(output.data()[i], 2 * map.data["c"][i]);
  }
}

TEST(OverRead, NeverLeavesOutputsThatAreReadAgain) {
  for (int32_t count = 1; count < 40; ++count) {
    GraphBuilder b;
    const auto n = static_cast<uint32_t>(count);
    const uint32_t x = b.input({n});
    const uint32_t doubled = b.output({n});
    b.node(NodeKind::Add, {x, x}, {doubled});
    const uint32_t shares = b.output({n});
    b.node(NodeKind::Softmax, {doubled}, {shares});
    TestMap map;
    auto delegate = create(b.graph, &map);
    ASSERT_TRUE(delegate.ok());
    GuardedFloats input(n), first(n), second(n);
    for (size_t i = 0; i < n; ++i) input.data()[i] = 2;
    Arguments args;
    args.add({count}, input.data());
    args.add({count}, first.data());
    args.add({count}, second.data());
    ASSERT_EQ(args.run(**delegate), Error::Ok);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(first.data()[i], 4);
      EXPECT_NEAR(second.data()[i], 1.0f / static_cast<float>(n), 1e-6);
    }
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack
