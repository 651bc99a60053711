// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/split_products.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

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

TEST(SplitProducts, NeedRowsAndFullTiles) {
  const std::vector<bool> both = {true, true}, neither = {false, false};
  EXPECT_EQ(split(products(8, 64, 64, 3)), both);
  EXPECT_EQ(split(products(7, 64, 64, 3)), neither);
  EXPECT_EQ(split(products(8, 24, 64, 1)), both);
  EXPECT_EQ(split(products(8, 23, 64, 1)), neither);
  EXPECT_EQ(split(products(8, 64, 48, 1)), both);
  EXPECT_EQ(split(products(8, 64, 47, 1)), neither);
}

TEST(SplitProducts, ProductsOfOtherTypesOrGroupsAreNotSplit) {
  const auto changed = [](const auto& change) -> bool {
    Graph graph = products(16, 64, 64, 3);
    change(&graph.nodes[1], &graph);
    return split(std::move(graph))[1];
  };
  EXPECT_TRUE(changed([](Node*, Graph*) {}));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->channels.groups = 2; }));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->winograd.threads = 1; }));
  EXPECT_FALSE(
      changed([](Node* n, Graph* g) { g->values[n->inputs[1]].datatype = Datatype::QCINT8; }));
  EXPECT_FALSE(
      changed([](Node* n, Graph* g) { g->values[n->inputs[0]].datatype = Datatype::FP16; }));
  EXPECT_FALSE(changed([](Node* n, Graph*) { n->inputs[1] = n->inputs[0]; }));
}

TEST(SplitProducts, SplitWeightsAreCountedAsTheyArePacked) {
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
