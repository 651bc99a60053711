// SPDX-License-Identifier: Apache-2.0
//
// A dense block, each of whose layers reads all features before it, scaled: in place, each feature
// is the sum that it stands for, also where features are not numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr uint32_t kFirst = 3;   // channels of the input
constexpr uint32_t kGrowth = 2;  // of each layer
constexpr uint32_t kLayers = 4;
constexpr uint32_t kHeight = 3, kWidth = 7;

// Small whole numbers, so that all sums are exact in any order.
float factor(uint32_t layer, uint32_t channel) {
  return static_cast<float>(1 + (layer + channel) % 3);
}
float addend(uint32_t layer, uint32_t channel) {
  return static_cast<float>((2 * layer + channel) % 5) - 2;
}
float weight(uint32_t layer, uint32_t out, uint32_t in) {
  return static_cast<float>((layer + 2 * out + 3 * in) % 3) - 1;
}

uint32_t channels_before(uint32_t layer) { return kFirst + layer * kGrowth; }

// A convolution of 1 x 1 makes the first features: those of the input may not lie in others.
Graph dense_block(TestMap* map) {
  GraphBuilder b;
  const auto convolve = [&](uint32_t x, uint32_t in, uint32_t out, std::vector<float> weights) {
    const std::string key = "w" + std::to_string(map->data.size());
    map->data[key] = std::move(weights);
    const uint32_t y = b.inner({1, kHeight, kWidth, out});
    const uint32_t filter = b.constant({out, 1, 1, in}, key);
    Node& node = b.node(NodeKind::Conv2d, {x, filter, kNoId}, {y});
    node.channels.group_input_channels = in;
    node.channels.group_output_channels = out;
    return y;
  };
  std::vector<uint32_t> features = {
      convolve(b.input({1, kHeight, kWidth, kFirst}), kFirst, kFirst, {1, 0, 0, 0, 1, 0, 0, 0, 1})};
  for (uint32_t layer = 0; layer <= kLayers; ++layer) {
    const uint32_t in = channels_before(layer);
    const Dims dims = {1, kHeight, kWidth, in};
    uint32_t joined = features[0];
    if (layer > 0) {
      joined = b.inner(dims);
      const NodeKind kinds[] = {NodeKind::Concatenate2, NodeKind::Concatenate3,
                                NodeKind::Concatenate4, NodeKind::Concatenate5};
      const NodeKind kind = kinds[layer - 1];
      b.node(kind, features, {joined}).axis = 3;
    }
    std::vector<float> factors, addends, weights;
    for (uint32_t i = 0; i < in; ++i) {
      factors.push_back(factor(layer, i));
      addends.push_back(addend(layer, i));
    }
    const std::string name = std::to_string(layer);
    map->data["k" + name] = factors;
    map->data["c" + name] = addends;
    const uint32_t product = b.inner(dims);
    b.node(NodeKind::Multiply, {joined, b.constant({1, 1, 1, in}, "k" + name)}, {product});
    const uint32_t sum = layer == kLayers ? b.output(dims) : b.inner(dims);
    b.node(NodeKind::Add, {product, b.constant({1, 1, 1, in}, "c" + name)}, {sum}).output_min = 0;
    for (uint32_t out = 0; out < kGrowth; ++out) {
      for (uint32_t i = 0; i < in; ++i) weights.push_back(weight(layer, out, i));
    }
    if (layer < kLayers) features.push_back(convolve(sum, in, kGrowth, std::move(weights)));
  }
  return std::move(b.graph);
}

std::vector<float> scaled(uint32_t layer, const std::vector<float>& features) {
  std::vector<float> out;
  for (uint32_t i = 0; i < features.size(); ++i) {
    const float sum = features[i] * factor(layer, i) + addend(layer, i);
    out.push_back(std::isnan(sum) ? sum : std::max(0.0f, sum));
  }
  return out;
}

// One pixel by the definition.
std::vector<float> expected_pixel(std::vector<float> features) {
  for (uint32_t layer = 0; layer < kLayers; ++layer) {
    const std::vector<float> in = scaled(layer, features);
    for (uint32_t out = 0; out < kGrowth; ++out) {
      float sum = 0;
      for (uint32_t i = 0; i < in.size(); ++i) sum += in[i] * weight(layer, out, i);
      features.push_back(sum);
    }
  }
  return scaled(kLayers, features);
}

TEST(DenseBlock, SumsWhatItReads) {
  TestMap map;
  Graph graph = dense_block(&map);
  const auto delegate = Delegate::create(std::move(graph), 0, &map, {});
  ASSERT_TRUE(delegate.ok());
  constexpr uint32_t kAll = kFirst + kLayers * kGrowth;
  Arguments args;
  float* in = args.add({1, kHeight, kWidth, kFirst});
  const float* out = args.add({1, kHeight, kWidth, kAll});
  for (uint32_t i = 0; i < kHeight * kWidth * kFirst; ++i) in[i] = static_cast<float>(i % 7) - 3;
  in[4] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_EQ(args.run(**delegate), runtime::Error::Ok);
  for (uint32_t pixel = 0; pixel < kHeight * kWidth; ++pixel) {
    const float* first = in + size_t{pixel} * kFirst;
    // As the first convolution sums: one number that is none makes all so.
    std::vector<float> features(kFirst, 0);
    for (uint32_t i = 0; i < kFirst * kFirst; ++i) {
      features[i / kFirst] += first[i % kFirst] * (i / kFirst == i % kFirst ? 1.0f : 0.0f);
    }
    const std::vector<float> expected = expected_pixel(features);
    for (uint32_t i = 0; i < kAll; ++i) {
      const float found = out[pixel * kAll + i];
      EXPECT_TRUE(found == expected[i] || (std::isnan(found) && std::isnan(expected[i])))
          << "pixel " << pixel << ", channel " << i << ": " << found << ", must be " << expected[i];
    }
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack
