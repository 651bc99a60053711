// SPDX-License-Identifier: Apache-2.0
//
// Products that read their weights where the data map has them: the same bits as packed weights
// give, also with more rows than the payload states, and the bytes are held as long as the
// delegate.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "backends/xnnpack/format/payload_writer.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/packed_weights.h"
#include "backends/xnnpack/runtime/start.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "third_party/xnnpack/unpacked/flag.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using runtime::Result;

constexpr uint32_t kInputs = 1031, kOutputs = 519;

class MapInPlace final : public runtime::NamedDataMap {
 public:
  explicit MapInPlace(bool in_place) : in_place_(in_place) {
    floats.data["w"] = numbers(size_t{kInputs} * kOutputs);
    floats.data["b"] = numbers(kOutputs);
  }
  Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    return floats.get_data(key);
  }
  Result<uint32_t> get_num_keys() const override { return floats.get_num_keys(); }
  Result<const char*> get_key(uint32_t index) const override { return floats.get_key(index); }
  Result<bool> is_in_place(std::string_view) const override { return in_place_; }

  TestMap floats;

 private:
  static std::vector<float> numbers(size_t count) {
    std::vector<float> list(count);
    uint32_t state = 5;
    for (float& x : list) {
      state = state * 1664525u + 1013904223u;
      x = static_cast<float>(state >> 8) / 8388608.0f - 1;
    }
    return list;
  }

  bool in_place_;
};

std::vector<uint8_t> payload(bool has_bias) {
  GraphBuilder b;
  const uint32_t x = b.input({1, kInputs});
  const uint32_t w = b.constant({kOutputs, kInputs}, "w");
  const uint32_t bias = has_bias ? b.constant({kOutputs}, "b") : kNoId;
  Node& node = b.node(NodeKind::FullyConnected, {x, w, bias}, {b.output({1, kOutputs})});
  node.output_min = -10;
  node.output_max = 12;
  return write_payload(b.graph);
}

struct Outcome {
  std::vector<float> outputs;
  size_t packed_bytes;
  int held;  // buffers that the delegate keeps
};

Outcome run(const MapInPlace& map, bool has_bias, int32_t rows, bool unpacked = true) {
  const std::vector<uint8_t> bytes = payload(has_bias);
  Delegate::Options options;
  options.unpacked = unpacked;
  options.cache_bytes = 0;
  const size_t before = PackedWeights::instance().stats().bytes;
  auto delegate = Delegate::create(bytes.data(), bytes.size(), &map, options);
  EXPECT_TRUE(delegate.ok());
  if (!delegate.ok()) return {};
  Outcome outcome = {
      {}, PackedWeights::instance().stats().bytes - before, map.floats.taken - map.floats.freed};
  Arguments args;
  float* in = args.add({rows, static_cast<int32_t>(kInputs)});
  const size_t count = static_cast<size_t>(rows) * kInputs;
  for (size_t i = 0; i < count; ++i) in[i] = static_cast<float>(static_cast<int>(i % 37) - 18) / 7;
  const float* out = args.add({rows, static_cast<int32_t>(kOutputs)});
  EXPECT_EQ(args.run(**delegate), Error::Ok);
  outcome.outputs.assign(out, out + static_cast<size_t>(rows) * kOutputs);
  return outcome;
}

class UnpackedWeights : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(start_xnnpack(), xnn_status_success);
    if (!petrel_takes_unpacked()) GTEST_SKIP() << "XNNPACK has no kernels for it here";
  }
};

TEST_F(UnpackedWeights, GiveTheSameBitsAndAreHeld) {
  for (const bool has_bias : {true, false}) {
    for (const int32_t rows : {1, 3}) {
      const MapInPlace map(true);
      const Outcome in_place = run(map, has_bias, rows), packed = run(map, has_bias, rows, false);
      EXPECT_EQ(in_place.packed_bytes, 0u);
      EXPECT_EQ(in_place.held, 1);
      EXPECT_GE(packed.packed_bytes, size_t{kInputs} * kOutputs * sizeof(float));
      EXPECT_EQ(packed.held, 0);
      ASSERT_EQ(in_place.outputs.size(), packed.outputs.size());
      EXPECT_EQ(std::memcmp(in_place.outputs.data(), packed.outputs.data(),
                            packed.outputs.size() * sizeof(float)),
                0);
      EXPECT_EQ(map.floats.taken, map.floats.freed);
    }
  }
}

TEST_F(UnpackedWeights, ArePackedWhereTheyDoNotStay) {
  const MapInPlace map(false);
  const Outcome outcome = run(map, true, 1);
  EXPECT_GE(outcome.packed_bytes, size_t{kInputs} * kOutputs * sizeof(float));
  EXPECT_EQ(outcome.held, 0);
}

TEST_F(UnpackedWeights, OfAnotherSizeAreRefused) {
  MapInPlace map(true);
  map.floats.data["w"].pop_back();
  const std::vector<uint8_t> bytes = payload(true);
  Delegate::Options options;
  options.cache_bytes = 0;
  EXPECT_EQ(Delegate::create(bytes.data(), bytes.size(), &map, options).error(),
            Error::InvalidExternalData);
  EXPECT_EQ(map.floats.taken, map.floats.freed);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
