// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/work.h"

#include "gtest/gtest.h"

namespace petrel::backends::xnnpack {
namespace {

Value value(Dims dims) {
  Value made;
  made.dims = std::move(dims);
  return made;
}

TEST(CountMultiplyAdds, CountsWindowsAndChannelsOfConvolutions) {
  Graph graph;
  graph.values = {value({1, 8, 8, 3}), value({16, 3, 3, 3}), value({1, 8, 8, 16}),
                  value({1, 8, 8, 16})};
  Node conv;
  conv.kind = NodeKind::Conv2d;
  conv.inputs = {0, 1, kNoId};
  conv.outputs = {2};
  conv.window.kernel_height = conv.window.kernel_width = 3;
  conv.channels.group_input_channels = 3;
  Node clamp;
  clamp.kind = NodeKind::Clamp;
  clamp.inputs = {2};
  clamp.outputs = {3};
  graph.nodes = {conv, clamp};
  EXPECT_EQ(count_multiply_adds(graph), 8u * 8 * 16 * 27 + 8 * 8 * 16);
}

TEST(CountMultiplyAdds, CountsTheDepthOfMatrixProducts) {
  Graph graph;
  graph.values = {value({4, 100}), value({10, 100}), value({4, 10})};
  Node product;
  product.kind = NodeKind::FullyConnected;
  product.inputs = {0, 1, kNoId};
  product.outputs = {2};
  graph.nodes = {product};
  EXPECT_EQ(count_multiply_adds(graph), 4u * 10 * 100);
}

// `rows` rows of 100 by 100 weights, and as many nodes of 100 elements behind it.
Graph product_and_nodes(uint32_t rows, size_t nodes) {
  Graph graph;
  graph.values = {value({rows, 100}), value({100, 100}), value({rows, 100}), value({1, 100})};
  Node product;
  product.kind = NodeKind::FullyConnected;
  product.inputs = {0, 1, kNoId};
  product.outputs = {2};
  Node clamp;
  clamp.kind = NodeKind::Clamp;
  clamp.inputs = {3};
  clamp.outputs = {3};
  graph.nodes.assign(nodes, clamp);
  graph.nodes.push_back(product);
  return graph;
}

TEST(GainsByThreads, WhereLargeNodesAreMost) {
  EXPECT_TRUE(gains_by_threads(product_and_nodes(100, 10)));
  EXPECT_TRUE(gains_by_threads(product_and_nodes(100, 200)));
  EXPECT_FALSE(gains_by_threads(product_and_nodes(100, 300)));
  // Of a product that is not shared there is nothing to gain.
  EXPECT_FALSE(gains_by_threads(product_and_nodes(10, 10)));
}

TEST(CountMultiplyAdds, CountsWindowsOfPools) {
  for (const NodeKind kind :
       {NodeKind::AvgPooling2d, NodeKind::MaxPooling2d, NodeKind::ArgMaxPooling2d}) {
    Graph graph;
    graph.values = {value({1, 8, 8, 3}), value({1, 6, 4, 3})};
    Node pool;
    pool.kind = kind;
    pool.inputs = {0};
    pool.outputs = {1};
    pool.window.kernel_height = 3;
    pool.window.kernel_width = 5;
    graph.nodes = {pool};
    EXPECT_EQ(count_multiply_adds(graph), 6u * 4 * 3 * 15);
  }
}

// They read what they do not write.
TEST(CountMultiplyAdds, CountsWhatMeansRead) {
  Graph graph;
  graph.values = {value({1, 64, 32, 3}), value({1, 1, 1, 3})};
  Node mean;
  mean.kind = NodeKind::GlobalAvgPooling2d;
  mean.inputs = {0};
  mean.outputs = {1};
  graph.nodes = {mean, mean};
  EXPECT_EQ(count_multiply_adds(graph), 2u * 64 * 32 * 3);
}

TEST(CountMultiplyAdds, CountsOfWhatIsCutOnlyThePiece) {
  Graph graph;
  graph.values = {value({64, 32}), value({2, 3})};
  Node cut;
  cut.kind = NodeKind::StaticSlice;
  cut.inputs = {0};
  cut.outputs = {1};
  graph.nodes = {cut};
  EXPECT_EQ(count_multiply_adds(graph), 6u);
}

TEST(CountMultiplyAdds, Saturates) {
  Graph graph;
  graph.values = {value({1u << 30, 1u << 30}), value({1u << 31, 1u << 31})};
  Node product;
  product.kind = NodeKind::FullyConnected;
  product.inputs = {0, 0, kNoId};
  product.outputs = {1};
  graph.nodes = {product, product};
  EXPECT_EQ(count_multiply_adds(graph), UINT64_MAX);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
