// SPDX-License-Identifier: Apache-2.0
//
// Delegates whose sizes never vary compute small nodes as one; all else is as it was.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/random_steps.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"

namespace petrel::backends::xnnpack {
namespace {

Delegate::Options fixed_sizes() {
  Delegate::Options options;
  options.sizes_are_fixed = true;
  return options;
}

// Inputs, then outputs, by external id.
std::vector<Dims> externals_of(const Graph& graph) {
  std::vector<Dims> list(graph.num_externs);
  for (const Value& value : graph.values) {
    if (value.external_id != kNoId) list[value.external_id] = value.dims;
  }
  return list;
}

std::vector<std::vector<float>> run(const Graph& graph, const TestMap& map,
                                    const Delegate::Options& options, float scale) {
  const auto delegate = Delegate::create(graph, 0, &map, options);
  EXPECT_TRUE(delegate.ok());
  if (!delegate.ok()) return {};
  Arguments args;
  std::vector<std::pair<const float*, size_t>> outputs;
  for (const Dims& dims : externals_of(graph)) {
    float* const data = args.add({dims.begin(), dims.end()});
    const size_t count = count_elements(dims);
    for (size_t i = 0; i < count; ++i) data[i] = scale * std::sin(static_cast<float>(3 * i + 1));
    outputs.emplace_back(data, count);
  }
  EXPECT_EQ(args.run(**delegate), runtime::Error::Ok);
  EXPECT_EQ(args.run(**delegate), runtime::Error::Ok);
  std::vector<std::vector<float>> lists;
  for (const auto& [data, count] : outputs) lists.emplace_back(data, data + count);
  return lists;
}

TEST(FixedSizes, GiveTheSameBits) {
  TestMap map;
  map.data["c"] = {0.5f, -1, 2, 0.25f, -0.125f, 3, 1, -2};
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomSteps(seed).graph();
    const auto varying = run(graph, map, {}, 0.7f), fixed = run(graph, map, fixed_sizes(), 0.7f);
    ASSERT_EQ(varying.size(), fixed.size());
    for (size_t i = 0; i < fixed.size(); ++i) {
      ASSERT_EQ(std::memcmp(varying[i].data(), fixed[i].data(), fixed[i].size() * sizeof(float)), 0)
          << "value " << i;
    }
  }
}

Graph three_steps() {
  GraphBuilder b;
  const uint32_t x = b.input({1, 8}), y = b.output({1, 8});
  const uint32_t u = b.inner({1, 8}), v = b.inner({1, 8});
  b.node(NodeKind::Tanh, {x}, {u});
  b.node(NodeKind::Negate, {u}, {v});
  b.node(NodeKind::Add, {v, x}, {y});
  return std::move(b.graph);
}

TEST(FixedSizes, OtherOnesAreRefusedAndLoseNothing) {
  const auto delegate = Delegate::create(three_steps(), 0, nullptr, fixed_sizes());
  ASSERT_TRUE(delegate.ok());
  Arguments wide, right;
  wide.add({2, 8});
  wide.add({2, 8});
  EXPECT_EQ(wide.run(**delegate), runtime::Error::InvalidArgument);
  const float* const in = right.add({1, 8});
  const float* const out = right.add({1, 8});
  const_cast<float*>(in)[3] = 1;
  EXPECT_EQ(right.run(**delegate), runtime::Error::Ok);
  EXPECT_NEAR(out[3], 1 - std::tanh(1.0f), 1e-6);
  EXPECT_EQ(wide.run(**delegate), runtime::Error::InvalidArgument);
  EXPECT_EQ(right.run(**delegate), runtime::Error::Ok);
}

// A causal convolution, its padding on both sides and what looks ahead cut off, a depthwise one of
// which both sides are, and a transposed one.
Graph cut_convolutions(TestMap* map) {
  GraphBuilder b;
  const auto convolve = [&](NodeKind kind, uint32_t x, Dims to, uint32_t kernel, uint32_t in,
                            const std::string& key) -> Node& {
    const bool by_channel = kind == NodeKind::DepthwiseConv2d;
    const uint32_t channels = to[3];
    const Dims dims = by_channel ? Dims{1, 1, kernel, channels} : Dims{channels, 1, kernel, in};
    std::vector<float>& filter = map->data[key];
    filter.resize(count_elements(dims));
    for (size_t i = 0; i < filter.size(); ++i) filter[i] = std::cos(static_cast<float>(7 * i));
    Node& node = b.node(kind, {x, b.constant(dims, key), kNoId}, {b.inner(to)});
    node.window.kernel_width = kernel;
    node.channels.groups = by_channel ? channels : 1;
    node.channels.group_input_channels = by_channel ? 1 : in;
    node.channels.group_output_channels = by_channel ? 1 : channels;
    return node;
  };
  const auto cut = [&](uint32_t x, uint32_t first, Dims to, bool is_last) {
    const uint32_t y = is_last ? b.output(to) : b.inner(to);
    slice_node(&b, x, y, {0, 0, first, 0}).list2[0] = 0;
    return y;
  };
  const uint32_t x = b.input({2, 1, 50, 5});
  Node& causal = convolve(NodeKind::Conv2d, x, {2, 1, 58, 24}, 3, 5, "causal");
  causal.window.padding_left = causal.window.padding_right = 8;
  causal.window.dilation_width = 4;
  const uint32_t u = cut(causal.outputs[0], 0, {2, 1, 50, 24}, false);
  const uint32_t v = b.inner({2, 1, 50, 24});
  b.node(NodeKind::Clamp, {u}, {v}).output_min = 0;
  Node& each = convolve(NodeKind::DepthwiseConv2d, v, {2, 1, 54, 24}, 5, 1, "each");
  each.window.padding_left = each.window.padding_right = 4;
  const uint32_t w = cut(each.outputs[0], 2, {2, 1, 50, 24}, false);
  Node& back = convolve(NodeKind::ConvTranspose2d, w, {2, 1, 102, 6}, 4, 24, "back");
  back.window.stride_width = 2;
  cut(back.outputs[0], 1, {2, 1, 99, 6}, true);
  return std::move(b.graph);
}

TEST(FixedSizes, ConvolutionsThatAreCutGiveTheSameBits) {
  TestMap map;
  const Graph graph = cut_convolutions(&map);
  const auto varying = run(graph, map, {}, 0.7f), fixed = run(graph, map, fixed_sizes(), 0.7f);
  ASSERT_EQ(varying.size(), 2u);
  EXPECT_EQ(fixed, varying);
}

TEST(FixedSizes, ConvolutionsThatAreCutRefuseOtherOnes) {
  TestMap map;
  const Graph graph = cut_convolutions(&map);
  for (const bool is_fixed : {false, true}) {
    const auto delegate =
        Delegate::create(graph, 0, &map, is_fixed ? fixed_sizes() : Delegate::Options());
    ASSERT_TRUE(delegate.ok());
    Arguments args;
    args.add({3, 1, 50, 5});
    args.add({3, 1, 99, 6});
    EXPECT_EQ(args.run(**delegate),
              is_fixed ? runtime::Error::InvalidArgument : runtime::Error::Ok);
  }
}

TEST(FixedSizes, AreNotTakenForGranted) {
  const auto delegate = Delegate::create(three_steps(), 0, nullptr, {});
  ASSERT_TRUE(delegate.ok());
  Arguments wide;
  float* const in = wide.add({2, 8});
  const float* const out = wide.add({2, 8});
  in[11] = 1;
  EXPECT_EQ(wide.run(**delegate), runtime::Error::Ok);
  EXPECT_NEAR(out[11], 1 - std::tanh(1.0f), 1e-6);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
