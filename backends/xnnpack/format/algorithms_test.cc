// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/algorithms.h"

#include <gtest/gtest.h>

#include <string>
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

std::vector<bool> chosen(Graph graph) {
  choose_algorithms(&graph, 2);
  std::vector<bool> list;
  for (const Node& node : graph.nodes) list.push_back(node.winograd_threads == 2);
  list.pop_back();
  return list;
}

// Of each: p where its filter is packed for Winograd's algorithm, r where it is transformed in each
// run, - where it is computed directly.
std::string ways(Graph graph) {
  choose_algorithms(&graph, 3);
  std::string list;
  for (const Node& node : graph.nodes) {
    list += node.winograd_threads == 0 ? '-' : node.transforms_each_run ? 'r' : 'p';
  }
  EXPECT_EQ(list.back(), '-');
  list.pop_back();
  return list;
}

constexpr uint32_t kMany = 1 << 20;

TEST(Algorithms, NeedChannelsAndPixels) {
  EXPECT_EQ(chosen(layers({{28, 64, 64}, {28, 16, 32}, {7, 32, 32}}, kMany)),
            (std::vector<bool>{true, true, true}));
  EXPECT_EQ(chosen(layers({{28, 8, 64}, {28, 64, 8}, {28, 16, 16}, {6, 64, 64}}, kMany)),
            (std::vector<bool>{false, false, false, false}));
}

TEST(Algorithms, AreDirectForOtherWindowsAndTypes) {
  const Graph graph = layers({{28, 64, 64}}, kMany);
  const auto changed = [&](const auto& change) -> bool {
    Graph copy = graph;
    change(&copy.nodes[0], &copy);
    return chosen(std::move(copy))[0];
  };
  EXPECT_TRUE(changed([](Node*, Graph*) {}));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->window.kernel_width = 5; }));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->window.stride_height = 2; }));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->window.dilation_width = 2; }));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->channels.groups = 2; }));
  EXPECT_FALSE(
      changed([](Node* n, Graph* g) { g->values[n->inputs[1]].datatype = Datatype::QCINT8; }));
}

TEST(Algorithms, LargestPlanesComeFirstWhileFiltersMayGrow) {
  // Each grows by 28,672 bytes, all filters may by three tenths of 147,456 and 4 bytes of others.
  const std::vector<Layer> four = {{7, 32, 32}, {56, 32, 32}, {28, 32, 32}, {14, 32, 32}};
  EXPECT_EQ(ways(layers(four, 4)), "-prr");
  EXPECT_EQ(ways(layers(four, 20'000)), "-ppr");
  Graph graph = layers(four, 20'000);
  EXPECT_EQ(count_winograd_bytes(graph), 0u);
  choose_algorithms(&graph, 1);
  EXPECT_EQ(count_winograd_bytes(graph), 2 * 28'672u);
}

// Filters that do not fit, of planes whose operands take more than ten times the transformed
// filter; those of the largest one are packed while they fit.
TEST(Algorithms, TransformFiltersInEachRunWhereThatTakesLittleMemory) {
  // Of 36,864 bytes, transformed 65,536. Two planes of 56 x 56 take 802,816 bytes.
  EXPECT_EQ(ways(layers({{56, 32, 32}}, 4)), "r");
  EXPECT_EQ(ways(layers({{56, 32, 32}}, kMany)), "p");
  EXPECT_EQ(ways(layers({{28, 32, 32}, {56, 32, 32}}, 4)), "rr");
  EXPECT_EQ(ways(layers({{28, 32, 32}, {56, 32, 32}}, 6'000)), "rp");
  // What the filter takes is too much beside the largest plane, or there are few tiles.
  EXPECT_EQ(ways(layers({{28, 64, 64}}, 4)), "-");
  EXPECT_EQ(ways(layers({{12, 32, 32}, {100, 32, 32}}, 4)), "-r");
  EXPECT_EQ(ways(layers({{14, 32, 32}, {100, 32, 32}}, 4)), "rr");
}

// A linear layer of `rows` and a convolution of a window and stride.
Graph products(uint32_t rows, uint32_t depth, uint32_t columns, uint32_t window) {
  GraphBuilder b;
  b.node(NodeKind::FullyConnected,
         {b.input({rows, depth}), b.constant({columns, depth}, "w"), kNoId},
         {b.output({rows, columns})});
  const uint32_t filter = b.constant({columns, window, window, depth}, "f");
  Node& node = b.node(NodeKind::Conv2d, {b.input({1, rows, 1, depth}), filter, kNoId},
                      {b.output({1, rows, 1, columns})});
  const uint32_t pad = window / 2;
  node.window = {pad, pad, pad, pad, window, window, 1, 1, 1, 1};
  node.channels = {1, depth, columns, 0, 0};
  return b.graph;
}

std::vector<bool> split(Graph graph) {
  choose_split_products(&graph);
  std::vector<bool> list;
  for (const Node& node : graph.nodes) list.push_back(node.is_split);
  return list;
}

TEST(Algorithms, SplitProductsNeedRowsAndFullTiles) {
  const std::vector<bool> both = {true, true}, neither = {false, false};
  EXPECT_EQ(split(products(8, 64, 64, 3)), both);
  EXPECT_EQ(split(products(7, 64, 64, 3)), neither);
  EXPECT_EQ(split(products(8, 24, 64, 1)), both);
  EXPECT_EQ(split(products(8, 23, 64, 1)), neither);
  EXPECT_EQ(split(products(8, 64, 48, 1)), both);
  EXPECT_EQ(split(products(8, 64, 47, 1)), neither);
}

TEST(Algorithms, ProductsOfOtherTypesOrGroupsAreNotSplit) {
  const auto changed = [](const auto& change) -> bool {
    Graph graph = products(16, 64, 64, 3);
    change(&graph.nodes[1], &graph);
    return split(std::move(graph))[1];
  };
  EXPECT_TRUE(changed([](Node*, Graph*) {}));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->channels.groups = 2; }));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->winograd_threads = 1; }));
  EXPECT_FALSE(
      changed([](Node* n, Graph* g) { g->values[n->inputs[1]].datatype = Datatype::QCINT8; }));
  EXPECT_FALSE(
      changed([](Node* n, Graph* g) { g->values[n->inputs[0]].datatype = Datatype::FP16; }));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->inputs[1] = n->inputs[0]; }));
}

TEST(Algorithms, SplitWeightsAreCountedAsTheyArePacked) {
  Graph graph = products(16, 100, 130, 3);
  EXPECT_EQ(count_split_bytes(graph), 0u);
  choose_split_products(&graph);
  // 128 by 192 where there are 100 by 130 is more than a quarter: none is split.
  EXPECT_EQ(count_split_bytes(graph), 0u);
  graph = products(16, 104, 120, 3);
  choose_split_products(&graph);
  EXPECT_EQ(count_split_bytes(graph), 4u * (128 * 128 - 104 * 120) * (1 + 9));
}

}  // namespace
}  // namespace petrel::backends::xnnpack
