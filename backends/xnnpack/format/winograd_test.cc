// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/winograd.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

struct Layer {
  uint32_t side;
  uint32_t in;
  uint32_t out;
};

// Convolutions of 3 x 3 that keep the sides, each with an input of its own, and one of 1 x 1 with
// `other` weights.
Graph layers(const std::vector<Layer>& list, uint32_t other) {
  GraphBuilder b;
  std::vector<uint32_t> inputs;
  for (const Layer& layer : list) inputs.push_back(b.input({1, layer.side, layer.side, layer.in}));
  const uint32_t last = b.input({1, 4, 4, 1});
  for (size_t i = 0; i < list.size(); ++i) {
    const Layer& layer = list[i];
    const uint32_t filter = b.constant({layer.out, 3, 3, layer.in}, "f" + std::to_string(i));
    Node& node = b.node(NodeKind::Conv2d, {inputs[i], filter, kNoId},
                        {b.output({1, layer.side, layer.side, layer.out})});
    node.window = {1, 1, 1, 1, 3, 3, 1, 1, 1, 1};
    node.channels.group_input_channels = layer.in;
    node.channels.group_output_channels = layer.out;
  }
  Node& node = b.node(NodeKind::Conv2d, {last, b.constant({other, 1, 1, 1}, "other"), kNoId},
                      {b.output({1, 4, 4, other})});
  node.window = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  node.channels.group_input_channels = 1;
  node.channels.group_output_channels = other;
  return b.graph;
}

// Of each layer: the tile where its filter is packed for Winograd's algorithm, r and the tile where
// it is transformed in each run, - where it is computed directly.
std::string ways(Graph graph) {
  choose_winograd(&graph, 3);
  std::string list;
  for (const Node& node : graph.nodes) {
    const Winograd& w = node.winograd;
    EXPECT_EQ(w.threads, w.tile == 0 ? 0u : 3u);
    list += w.transforms_each_run ? "r" : "";
    list += w.tile == 0 ? "-" : std::to_string(w.tile);
    list += " ";
  }
  EXPECT_EQ(list.substr(list.size() - 2), "- ");
  return list.substr(0, list.size() - 3);
}

// Weights of another layer, so that all filters of a test may be packed, or so few that none may.
constexpr uint32_t kMany = 1 << 22;
constexpr uint32_t kFew = 4;

TEST(Winograd, NeedsChannelsAndPixels) {
  EXPECT_EQ(ways(layers({{28, 64, 64}, {28, 16, 32}, {56, 16, 16}}, kMany)), "4 4 4");
  EXPECT_EQ(ways(layers({{28, 8, 64}, {28, 64, 8}, {28, 15, 15}}, kMany)), "- - -");
  EXPECT_EQ(ways(layers({{2, 64, 64}, {3, 64, 64}, {14, 64, 64}}, kMany)), "- - 4");
}

TEST(Winograd, NeedsItsWindowAndFloats) {
  const Graph graph = layers({{28, 64, 64}}, kMany);
  const auto changed = [&](const auto& change) -> std::string {
    Graph copy = graph;
    change(&copy.nodes[0], &copy);
    return ways(std::move(copy));
  };
  EXPECT_EQ(changed([](Node*, Graph*) {}), "4");
  EXPECT_EQ(changed([](Node* n, Graph*) { n->window.kernel_width = 5; }), "-");
  EXPECT_EQ(changed([](Node* n, Graph*) { n->window.stride_height = 2; }), "-");
  EXPECT_EQ(changed([](Node* n, Graph*) { n->window.stride_height = n->window.stride_width = 3; }),
            "-");
  EXPECT_EQ(changed([](Node* n, Graph*) { n->window.dilation_width = 2; }), "-");
  EXPECT_EQ(changed([](Node* n, Graph* g) { g->values[n->inputs[1]].datatype = Datatype::QCINT8; }),
            "-");
}

TEST(Winograd, MayHaveAStrideOfTwo) {
  Graph graph = layers({{20, 128, 128}, {14, 128, 128}, {4, 128, 128}, {20, 16, 16}}, kMany);
  for (Node& node : graph.nodes) {
    if (node.window.kernel_height == 3) node.window.stride_height = node.window.stride_width = 2;
  }
  EXPECT_EQ(ways(std::move(graph)), "r4 2 - -");
}

TEST(Winograd, MayBeDilated) {
  const auto dilated = [](uint32_t side, uint32_t dilation) {
    Graph graph = layers({{side, 64, 64}}, kMany);
    Window& w = graph.nodes[0].window;
    w.padding_top = w.padding_right = w.padding_bottom = w.padding_left = dilation;
    w.dilation_height = w.dilation_width = dilation;
    return ways(std::move(graph));
  };
  EXPECT_EQ(dilated(28, 2), "4");
  EXPECT_EQ(dilated(32, 4), "4");
  // Most of each tile would lie beyond its plane.
  EXPECT_EQ(dilated(28, 20), "-");
  EXPECT_EQ(dilated(28, 0x7FFFFFFF), "-");
}

TEST(Winograd, MayHaveGroups) {
  Graph graph = layers({{28, 256, 256}, {56, 64, 64}, {14, 64, 64}, {28, 32, 32}}, kMany);
  for (Node& node : graph.nodes) {
    if (node.window.kernel_height != 3) continue;
    node.channels.groups = 4;
    node.channels.group_input_channels /= 4;
    node.channels.group_output_channels /= 4;
    graph.values[node.inputs[1]].dims[3] /= 4;
  }
  EXPECT_EQ(ways(std::move(graph)), "r4 4 - -");
}

// Each filter has 36,864 bytes, 28,672 more for tiles of 2 x 2 and 110,592 more for 4 x 4. Only the
// largest plane has room for one that is transformed in each run.
TEST(Winograd, FiltersThatGainMostArePackedWhileTheyMayGrow) {
  const std::vector<Layer> three = {{10, 32, 32}, {14, 32, 32}, {80, 32, 32}};
  EXPECT_EQ(ways(layers(three, kFew)), "r4 r4 r4");
  EXPECT_EQ(ways(layers(three, 700'000)), "2 4 4");
  EXPECT_EQ(ways(layers(three, kMany)), "4 4 4");
  Graph graph = layers(three, 700'000);
  EXPECT_EQ(count_winograd_bytes(graph), 0u);
  choose_winograd(&graph, 1);
  EXPECT_EQ(count_winograd_bytes(graph), 28'672u + 2 * 110'592u);
}

TEST(Winograd, FiltersGrowByATenthAtMost) {
  for (const uint32_t other : {0u, 1'000u, 20'000u, 70'000u, 300'000u}) {
    const uint32_t one = 1 + other;
    Graph graph = layers({{7, 32, 48}, {14, 64, 32}, {10, 128, 16}, {28, 24, 24}}, one);
    const uint64_t filters = 4 * (9 * (32 * 48 + 64 * 32 + 128 * 16 + 24 * 24) + uint64_t{one});
    choose_winograd(&graph, 1);
    EXPECT_LE(count_winograd_bytes(graph), filters / 10) << other;
  }
}

// Of 36,864 bytes, transformed 65,536 or 147,456. Two planes of 56 x 56 take 802,816 bytes.
TEST(Winograd, FiltersAreTransformedInEachRunWhereThatTakesLittleMemory) {
  EXPECT_EQ(ways(layers({{56, 32, 32}}, kFew)), "r4");
  EXPECT_EQ(ways(layers({{80, 32, 32}}, kFew)), "r4");
  EXPECT_EQ(ways(layers({{28, 32, 32}, {56, 32, 32}}, kFew)), "r4 r4");
  EXPECT_EQ(ways(layers({{28, 64, 64}}, kFew)), "r4");
  // Input and output have 1.6 MB, the transformed input 1.8 MB.
  EXPECT_EQ(ways(layers({{28, 256, 256}}, kFew)), "-");
  EXPECT_EQ(ways(layers({{28, 256, 256}, {56, 128, 128}}, kFew)), "r4 r2");
}

}  // namespace
}  // namespace petrel::backends::xnnpack
