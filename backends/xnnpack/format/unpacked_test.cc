// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/unpacked.h"

#include <gtest/gtest.h>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

// [rows, inputs] times `outputs` rows of weights.
Graph product(uint32_t rows, uint32_t inputs, uint32_t outputs) {
  GraphBuilder b;
  const uint32_t x = b.input({rows, inputs});
  const uint32_t weights = b.constant({outputs, inputs}, "w");
  const uint32_t bias = b.constant({outputs}, "b");
  b.node(NodeKind::FullyConnected, {x, weights, bias}, {b.output({rows, outputs})});
  return b.graph;
}

bool is_chosen(Graph graph, bool in_place = true) {
  EXPECT_TRUE(check_graph(graph).ok()) << check_graph(graph).text();
  choose_unpacked(&graph, 0, [in_place](const std::string& key) {
    EXPECT_EQ(key, "w");
    return in_place;
  });
  return graph.nodes[0].is_unpacked;
}

TEST(Unpacked, LargeWeightsOfOneRowStayWhereTheyAre) {
  EXPECT_TRUE(is_chosen(product(1, 2048, 256)));
  EXPECT_FALSE(is_chosen(product(1, 2048, 255)));
  EXPECT_FALSE(is_chosen(product(2, 2048, 256)));
  EXPECT_FALSE(is_chosen(product(1, 2048, 256), /*in_place=*/false));
}

TEST(Unpacked, ABiasMayBeMissing) {
  Graph graph = product(1, 2048, 256);
  graph.nodes[0].inputs[2] = kNoId;
  EXPECT_TRUE(is_chosen(graph));
}

TEST(Unpacked, AConvolutionOfOnePixelBecomesAProduct) {
  const auto chosen = [](uint32_t side, uint32_t kernel) {
    GraphBuilder b;
    const uint32_t x = b.input({1, side, side, 1024});
    const uint32_t filter = b.constant({512, kernel, kernel, 1024}, "w");
    const uint32_t out = side - kernel + 1;
    Node& node = b.node(NodeKind::Conv2d, {x, filter, kNoId}, {b.output({1, out, out, 512})});
    node.channels = {1, 1024, 512, 0, 0};
    node.window.kernel_height = node.window.kernel_width = kernel;
    Graph graph = b.graph;
    EXPECT_TRUE(check_graph(graph).ok()) << check_graph(graph).text();
    choose_unpacked(&graph, 0, [](const std::string&) { return true; });
    EXPECT_TRUE(check_graph(graph).ok()) << check_graph(graph).text();
    EXPECT_EQ(graph.nodes[0].is_unpacked, graph.nodes[0].kind == NodeKind::FullyConnected);
    return graph.nodes[0].is_unpacked;
  };
  EXPECT_TRUE(chosen(1, 1));
  EXPECT_FALSE(chosen(2, 1));
  EXPECT_FALSE(chosen(2, 2));
}

TEST(Unpacked, OtherWeightsArePacked) {
  const auto chosen = [](const auto& change) {
    Graph graph = product(1, 1024, 512);
    change(&graph);
    choose_unpacked(&graph, 0, [](const std::string&) { return true; });
    return graph.nodes[0].is_unpacked;
  };
  EXPECT_TRUE(chosen([](Graph*) {}));
  EXPECT_FALSE(chosen([](Graph* g) { g->nodes[0].flags = kTransposeWeights; }));
  EXPECT_FALSE(chosen([](Graph* g) { g->nodes[0].is_split = true; }));
  EXPECT_FALSE(chosen([](Graph* g) { g->values[1].datatype = Datatype::QCINT8; }));
  EXPECT_FALSE(chosen([](Graph* g) { g->values[0].datatype = Datatype::QDINT8; }));
  // Those of the payload itself are gone when it is.
  EXPECT_FALSE(chosen([](Graph* g) { g->constants[g->values[1].constant].key = ""; }));
  // Weights that two nodes read stay in a cache.
  EXPECT_FALSE(chosen([](Graph* g) { g->nodes.push_back(g->nodes[0]); }));
}

TEST(Unpacked, WeightsThatACacheKeepsArePackedWhereMuchOfARunReadsThem) {
  constexpr uint64_t kBytes = 2 << 20;
  const auto chosen = [](uint64_t cache_bytes, uint32_t pixels) {
    Graph graph = product(1, 2048, 256);
    GraphBuilder b;
    b.graph = graph;
    const uint32_t x = b.input({pixels, 64}), w = b.constant({64, 64}, "more");
    b.node(NodeKind::FullyConnected, {x, w, kNoId}, {b.output({pixels, 64})});
    graph = b.graph;
    EXPECT_TRUE(check_graph(graph).ok()) << check_graph(graph).text();
    choose_unpacked(&graph, cache_bytes, [](const std::string&) { return true; });
    EXPECT_FALSE(graph.nodes[1].is_unpacked);
    return graph.nodes[0].is_unpacked;
  };
  EXPECT_FALSE(chosen(2 * kBytes + (1 << 20), 1));
  EXPECT_TRUE(chosen(2 * kBytes, 1));
  EXPECT_FALSE(chosen(32 << 20, 4000));
  // A twentieth of the time is in other products of 17 million multiply-adds.
  EXPECT_TRUE(chosen(32 << 20, 4200));
}

}  // namespace
}  // namespace petrel::backends::xnnpack
