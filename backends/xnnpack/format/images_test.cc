// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/images.h"

#include <gtest/gtest.h>

#include <utility>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr uint32_t kThreads = 3;

// [1,3,h,w] is turned to [1,h,w,3], and a convolution of 3 x 3 at a stride of 2 reads that.
struct FirstLayer {
  GraphBuilder b;
  uint32_t planes = 0, image = 0;

  explicit FirstLayer(uint32_t side = 30) {
    planes = b.input({1, 3, side, side});
    image = b.inner({1, side, side, 3});
    b.node(NodeKind::StaticTranspose, {planes}, {image}).list = {0, 2, 3, 1};
    read(b.constant({8, 3, 3, 3}, "filter"));
  }

  void read(uint32_t filter) {
    const uint32_t side = b.graph.values[image].dims[1] / 2;
    Node& node = b.node(NodeKind::Conv2d, {image, filter, kNoId}, {b.output({1, side, side, 8})});
    node.window = {1, 1, 1, 1, 3, 3, 2, 2, 1, 1};
    node.channels = {1, 3, 8, 0, 0};
  }
};

bool any(size_t, bool) { return true; }

Graph chosen(Graph graph, TakesImages* takes_images = &any) {
  EXPECT_TRUE(check_graph(graph).ok()) << check_graph(graph).text();
  choose_images(&graph, kThreads, takes_images);
  EXPECT_TRUE(check_graph(graph).ok()) << check_graph(graph).text();
  return graph;
}

TEST(Images, ConvolutionsTurnPlanesThemselves) {
  const FirstLayer layer;
  const Graph graph = chosen(layer.b.graph);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].image_threads, kThreads);
  EXPECT_TRUE(graph.nodes[0].reads_planes);
  EXPECT_EQ(graph.nodes[0].inputs[0], layer.planes);
}

TEST(Images, SeveralConvolutionsTurnOneInput) {
  FirstLayer layer;
  layer.read(layer.b.constant({8, 3, 3, 3}, "another"));
  const Graph graph = chosen(layer.b.graph);
  ASSERT_EQ(graph.nodes.size(), 2u);
  for (const Node& node : graph.nodes) EXPECT_TRUE(node.reads_planes);
}

TEST(Images, WhatOthersReadIsTurned) {
  FirstLayer layer;
  layer.b.node(NodeKind::Negate, {layer.image}, {layer.b.output({1, 30, 30, 3})});
  const Graph graph = chosen(layer.b.graph);
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[1].image_threads, kThreads);
  EXPECT_FALSE(graph.nodes[1].reads_planes);
  EXPECT_EQ(graph.nodes[1].inputs[0], layer.image);
}

TEST(Images, OtherConvolutionsNeedPointers) {
  const auto threads = [](uint32_t side, const auto& change) {
    Graph graph = FirstLayer(side).b.graph;
    change(&graph.nodes[1], &graph);
    choose_images(&graph, kThreads, &any);
    EXPECT_EQ(graph.nodes.size(), graph.nodes[0].kind == NodeKind::Conv2d ? 1u : 2u);
    return graph.nodes.back().image_threads;
  };
  EXPECT_EQ(threads(28, [](Node*, Graph*) {}), kThreads);
  EXPECT_EQ(threads(26, [](Node*, Graph*) {}), 0u);
  EXPECT_EQ(threads(30, [](Node* n, Graph*) { n->window.kernel_width = 1; }), 0u);
  EXPECT_EQ(threads(30, [](Node* n, Graph*) { n->window.dilation_height = 2; }), 0u);
  EXPECT_EQ(threads(30, [](Node* n, Graph*) { n->channels.groups = 3; }), 0u);
  EXPECT_EQ(threads(30, [](Node* n, Graph*) { n->channels.group_input_channels = 5; }), 0u);
  EXPECT_EQ(threads(30, [](Node* n, Graph*) { n->channels.group_output_channels = 7; }), 0u);
  EXPECT_EQ(threads(30, [](Node* n, Graph*) { n->winograd.threads = 1; }), 0u);
  EXPECT_EQ(threads(30, [](Node* n, Graph*) { n->is_split = true; }), 0u);
  for (const size_t input : {0, 1}) {
    EXPECT_EQ(
        threads(30, [input](Node* n,
                            Graph* g) { g->values[n->inputs[input]].datatype = Datatype::FP16; }),
        0u);
  }
}

TEST(Images, LevelsOfEightBitsAreImagesToo) {
  Graph graph = FirstLayer().b.graph;
  const Node node = graph.nodes[1];
  const auto is_chosen = [&](Datatype in, Datatype filter, Datatype out) {
    Graph copy = graph;
    copy.values[node.inputs[0]].datatype = in;
    copy.values[node.inputs[1]].datatype = filter;
    copy.values[node.outputs[0]].datatype = out;
    choose_images(&copy, kThreads, [](size_t, bool is_float) { return !is_float; });
    return copy.nodes.back().image_threads != 0;
  };
  EXPECT_TRUE(is_chosen(Datatype::QINT8, Datatype::QINT8, Datatype::QINT8));
  EXPECT_TRUE(is_chosen(Datatype::QINT8, Datatype::QCINT8, Datatype::QINT8));
  EXPECT_FALSE(is_chosen(Datatype::QINT8, Datatype::QCINT8, Datatype::FP32));
  EXPECT_FALSE(is_chosen(Datatype::FP32, Datatype::QCINT8, Datatype::FP32));
  EXPECT_FALSE(is_chosen(Datatype::QDINT8, Datatype::QCINT8, Datatype::FP32));
  EXPECT_FALSE(is_chosen(Datatype::FP32, Datatype::FP32, Datatype::FP32));
}

TEST(Images, KernelsDecide) {
  const Graph graph =
      chosen(FirstLayer().b.graph, [](size_t outputs, bool) { return outputs != 8; });
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[1].image_threads, 0u);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
