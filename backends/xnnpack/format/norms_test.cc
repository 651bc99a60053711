// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/norms.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/shape_rules.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

using List = std::vector<uint32_t>;

class NormsTest : public ::testing::Test {
 protected:
  uint32_t floats(Dims dims, std::vector<float> values) {
    const uint32_t id = b.constant(std::move(dims), "c" + std::to_string(floats_.size()));
    floats_[id] = std::move(values);
    return id;
  }

  uint32_t add(NodeKind kind, List inputs, Dims dims) {
    const uint32_t out = b.inner(std::move(dims));
    b.node(kind, std::move(inputs), {out});
    return out;
  }

  uint32_t reshape(uint32_t x, List list) {
    Node node;
    node.kind = NodeKind::StaticReshape;
    node.list = list;
    Dims dims;
    EXPECT_TRUE(infer_output_dims(node, {&b.graph.values[x].dims}, &dims).ok());
    const uint32_t out = add(NodeKind::StaticReshape, {x}, dims);
    b.graph.nodes.back().list = std::move(list);
    return out;
  }

  const Dims& dims(uint32_t id) const { return b.graph.values[id].dims; }

  uint32_t mean(uint32_t x) {
    Dims of = dims(x);
    const uint32_t count = of.back();
    of.back() = 1;
    return add(NodeKind::FullyConnected,
               {x, floats({1, count}, std::vector<float>(count, part_factor_ / count)), kNoId}, of);
  }

  uint32_t mean_of_pixels(uint32_t x) {
    Dims of = dims(x);
    of[1] = of[2] = 1;
    const uint32_t out = add(NodeKind::GlobalAvgPooling2d, {x}, of);
    b.graph.nodes.back().flags = kKeepDims;
    return out;
  }

  uint32_t spread(uint32_t variance) {
    const uint32_t sum = add(NodeKind::Add, {variance, floats({1}, {epsilon_})}, dims(variance));
    return add(NodeKind::ReciprocalSquareRoot, {sum}, dims(variance));
  }

  uint32_t factors(uint32_t y) {
    const uint32_t channels = dims(y).back();
    weight_ = floats({channels}, std::vector<float>(channels, 2));
    bias_ = floats({channels}, std::vector<float>(channels, 3));
    y = add(NodeKind::Multiply, {weight_, y}, dims(y));
    return add(NodeKind::Add, {y, bias_}, dims(y));
  }

  // The rows of x.
  uint32_t layer_norm(uint32_t x) {
    rest_ = add(NodeKind::Subtract, {x, mean(x)}, dims(x));
    const uint32_t factor = spread(mean(add(NodeKind::Square, {rest_}, dims(x))));
    return add(NodeKind::Multiply, {rest_, factor}, dims(x));
  }

  // An image in several groups; `list` are its sizes as reshapes say them.
  uint32_t group_norm(uint32_t x, uint32_t groups, const List& list) {
    const Dims of = dims(x);
    const uint32_t c = of[3] / groups;
    const List cut = {list[0], list[1] * list[2], groups, c}, means = {list[0], 1, groups, c};
    const auto mean_of_group = [&](uint32_t from) {
      return mean(reshape(mean_of_pixels(from), means));
    };
    const uint32_t center = mean_of_group(x);
    const uint32_t in_groups = reshape(x, cut);
    rest_ = add(NodeKind::Subtract, {in_groups, center}, dims(in_groups));
    const uint32_t squares = reshape(add(NodeKind::Square, {rest_}, dims(rest_)), list);
    const uint32_t factor = spread(mean_of_group(squares));
    return reshape(add(NodeKind::Multiply, {factor, rest_}, dims(rest_)), list);
  }

  // Each channel of an image, or all, for themselves.
  uint32_t norm_of_pixels(uint32_t x, bool by_channel) {
    const auto mean_of = [&](uint32_t from) {
      return by_channel ? mean_of_pixels(from) : mean(mean_of_pixels(from));
    };
    rest_ = add(NodeKind::Subtract, {x, mean_of(x)}, dims(x));
    const uint32_t factor = spread(mean_of(add(NodeKind::Square, {rest_}, dims(x))));
    return add(NodeKind::Multiply, {rest_, factor}, dims(x));
  }

  void negate(uint32_t x) { b.node(NodeKind::Negate, {x}, {b.output(dims(x))}); }

  // "Norm Negate": what is left.
  std::string kinds() {
    EXPECT_TRUE(check_graph(b.graph).ok()) << check_graph(b.graph).text();
    join_norms(
        &b.graph, [this](uint32_t id) { return floats_.at(id).data(); }, sizes_are_fixed_);
    EXPECT_TRUE(check_graph(b.graph).ok()) << check_graph(b.graph).text();
    std::string kinds;
    for (const Node& node : b.graph.nodes) {
      kinds += (kinds.empty() ? "" : " ") + std::string(find_node_kind(node.kind)->name);
    }
    return kinds;
  }

  size_t count_norms() {
    const std::string text = kinds();
    size_t count = 0;
    for (size_t at = text.find("Norm"); at != std::string::npos; at = text.find("Norm", at + 1)) {
      ++count;
    }
    return count;
  }

  GraphBuilder b;
  std::map<uint32_t, std::vector<float>> floats_;
  float part_factor_ = 1, epsilon_ = 1e-5f;
  bool sizes_are_fixed_ = true;
  uint32_t rest_ = 0, weight_ = kNoId, bias_ = kNoId;
};

TEST_F(NormsTest, ALayerNormIsOneNode) {
  const uint32_t x = b.input({2, 5, 12});
  negate(factors(layer_norm(x)));
  EXPECT_EQ(kinds(), "Norm Negate");
  const Node& node = b.graph.nodes[0];
  EXPECT_EQ(node.inputs, (List{x, weight_, bias_}));
  EXPECT_EQ(node.axis, 2u);
  EXPECT_EQ(node.channels.groups, 1u);
  EXPECT_EQ(node.channels.group_input_channels, 12u);
  EXPECT_EQ(node.scalar, epsilon_);
  EXPECT_TRUE(node.list2.empty());
}

TEST_F(NormsTest, TheGraphOfOtherTestsHasBoth) {
  b.graph = graph_of_norms();
  for (uint32_t id = 0; id < b.graph.values.size(); ++id) {
    if (!b.graph.values[id].is_constant()) continue;
    const uint32_t count = dims(id).back();
    floats_[id].assign(count, 1.0f / static_cast<float>(count));
  }
  EXPECT_EQ(kinds(), "Norm Norm");
}

TEST_F(NormsTest, FactorsAreNotNeeded) {
  negate(layer_norm(layer_norm(b.input({5, 12}))));
  EXPECT_EQ(kinds(), "Norm Norm Negate");
  EXPECT_EQ(b.graph.nodes[1].inputs[1], kNoId);
  EXPECT_EQ(b.graph.nodes[1].inputs[2], kNoId);
}

// As a model writes it out, and mean of dim 1 of an image becomes it.
TEST_F(NormsTest, ALayerNormOfPixelsMayHaveConvolutionsAndARoot) {
  const uint32_t x = b.input({2, 3, 5, 12});
  negate(factors(layer_norm(x)));
  const Graph graph = b.graph;
  const auto rewrite = [&] {
    b.graph = graph;
    for (Node& node : b.graph.nodes) {
      if (node.kind == NodeKind::ReciprocalSquareRoot) node.kind = NodeKind::SquareRoot;
      if (node.kind == NodeKind::Multiply && node.inputs[0] == rest_) node.kind = NodeKind::Div;
      if (node.kind != NodeKind::FullyConnected) continue;
      node.kind = NodeKind::Conv2d;
      node.channels = {1, 12, 1, 0, 0};
      b.graph.values[node.inputs[1]].dims = {1, 1, 1, 12};
    }
  };
  rewrite();
  EXPECT_EQ(kinds(), "Norm Negate");
  EXPECT_EQ(b.graph.nodes[0].inputs, (List{x, weight_, bias_}));
  EXPECT_EQ(b.graph.nodes[0].axis, 3u);
  // A root that is divided by the rest is another function.
  rewrite();
  for (Node& node : b.graph.nodes) {
    if (node.kind == NodeKind::Div) std::swap(node.inputs[0], node.inputs[1]);
  }
  EXPECT_EQ(count_norms(), 0u);
}

TEST_F(NormsTest, AGroupNormIsOneNode) {
  const uint32_t x = b.input({2, 3, 5, 12});
  negate(factors(group_norm(x, 4, {2, 3, 5, 12})));
  EXPECT_EQ(kinds(), "Norm Negate");
  const Node& node = b.graph.nodes[0];
  EXPECT_EQ(node.inputs, (List{x, weight_, bias_}));
  EXPECT_EQ(node.axis, 1u);
  EXPECT_EQ(node.channels.groups, 4u);
  EXPECT_EQ(node.channels.group_input_channels, 3u);
  EXPECT_EQ(node.list2, (List{2, 3, 5, 12}));
}

TEST_F(NormsTest, OneGroupAndChannelsForThemselvesNeedNoReshapes) {
  negate(factors(norm_of_pixels(norm_of_pixels(b.input({2, 3, 5, 12}), false), true)));
  EXPECT_EQ(kinds(), "Norm Norm Negate");
  EXPECT_EQ(b.graph.nodes[0].channels.groups, 1u);
  EXPECT_EQ(b.graph.nodes[1].channels.groups, 12u);
  EXPECT_EQ(b.graph.nodes[1].axis, 1u);
}

// Sizes that the reshapes take are those that the norm takes.
TEST_F(NormsTest, OneSizeOfAnImageMayVary) {
  const uint32_t x = b.input({2, 3, 5, 12});
  negate(group_norm(x, 4, {0, 3, 5, 12}));
  EXPECT_EQ(kinds(), "Norm Negate");
  const Node& node = b.graph.nodes[0];
  Dims dims;
  for (const auto& [input, fits] : {std::pair(Dims{7, 3, 5, 12}, true),
                                    {Dims{2, 6, 5, 12}, false},
                                    {Dims{2, 3, 5, 24}, false}}) {
    EXPECT_EQ(infer_output_dims(node, {&input, nullptr, nullptr}, &dims).ok(), fits);
  }
}

TEST_F(NormsTest, AReshapeThatVariesElsewhereIsNone) {
  const uint32_t x = b.input({2, 3, 5, 12});
  negate(group_norm(x, 4, {2, 0, 5, 12}));
  for (Node& node : b.graph.nodes) {
    if (node.kind == NodeKind::StaticReshape && node.list[2] == 4) node.list = {0, 15, 4, 3};
  }
  for (Node& node : b.graph.nodes) {
    if (node.kind == NodeKind::StaticReshape && dims(node.outputs[0])[1] == 1) {
      node.list = {2, 1, 4, 3};
    }
  }
  EXPECT_EQ(count_norms(), 0u);
}

TEST_F(NormsTest, ChannelsForThemselvesAreOneNodeWhereTheirNumberIsKnown) {
  sizes_are_fixed_ = false;
  negate(norm_of_pixels(b.input({2, 3, 5, 12}), true));
  EXPECT_EQ(count_norms(), 0u);
}

TEST_F(NormsTest, ChannelsOfAConvolutionAreKnown) {
  sizes_are_fixed_ = false;
  const uint32_t x = b.inner({2, 3, 5, 12});
  Node& node = b.node(NodeKind::Conv2d,
                      {b.input({2, 3, 5, 4}), b.constant({12, 1, 1, 4}, "filter"), kNoId}, {x});
  node.channels.group_input_channels = 4;
  node.channels.group_output_channels = 12;
  negate(norm_of_pixels(add(NodeKind::Abs, {x}, dims(x)), true));
  EXPECT_EQ(count_norms(), 1u);
}

TEST_F(NormsTest, WhatOthersReadStays) {
  negate(layer_norm(b.input({5, 12})));
  negate(rest_);
  EXPECT_EQ(count_norms(), 0u);
}

TEST_F(NormsTest, ProductsThatAreNoMeansStay) {
  part_factor_ = 2;
  negate(layer_norm(b.input({5, 12})));
  EXPECT_EQ(count_norms(), 0u);
}

TEST_F(NormsTest, NumbersThatNobodyHasAreNoMeans) {
  negate(layer_norm(b.input({5, 12})));
  join_norms(
      &b.graph, [](uint32_t) { return nullptr; }, true);
  EXPECT_EQ(b.graph.nodes.size(), 8u);
}

TEST_F(NormsTest, AnEpsilonBelowZeroIsNone) {
  epsilon_ = -1;
  negate(layer_norm(b.input({5, 12})));
  EXPECT_EQ(count_norms(), 0u);
}

TEST_F(NormsTest, ValuesOfOtherTypesStay) {
  negate(layer_norm(b.input({5, 12})));
  for (Value& value : b.graph.values) value.datatype = Datatype::FP16;
  EXPECT_EQ(count_norms(), 0u);
}

// Each node of the chain in turn.
TEST_F(NormsTest, NodesWithARangeStay) {
  const uint32_t x = b.input({5, 12});
  negate(factors(layer_norm(x)));
  const Graph graph = b.graph;
  for (size_t i = 0; i + 1 < graph.nodes.size(); ++i) {
    b.graph = graph;
    b.graph.nodes[i].output_max = 4;
    const bool is_factor = i + 3 >= graph.nodes.size();
    EXPECT_EQ(count_norms(), is_factor ? 1u : 0u) << i;
    EXPECT_GT(b.graph.nodes.size(), 2u) << i;
  }
}

// A value that is no chain of this kind has the same nodes with other operands.
TEST_F(NormsTest, OtherOperandsAreOtherFunctions) {
  const uint32_t x = b.input({5, 12}), other = b.input({5, 12});
  negate(layer_norm(x));
  negate(other);
  const Graph graph = b.graph;
  for (size_t i = 0; i + 2 < graph.nodes.size(); ++i) {
    for (size_t j = 0; j < graph.nodes[i].inputs.size(); ++j) {
      const uint32_t id = graph.nodes[i].inputs[j];
      if (id == kNoId || graph.values[id].dims != dims(other) || id == x) continue;
      b.graph = graph;
      b.graph.nodes[i].inputs[j] = other;
      EXPECT_EQ(count_norms(), 0u) << i;
    }
  }
  b.graph = graph;
  EXPECT_EQ(count_norms(), 1u);
}

TEST_F(NormsTest, FactorsThatAreNotByChannelStay) {
  const uint32_t x = b.input({12, 12}), by_row = floats({12, 1}, std::vector<float>(12, 2));
  const uint32_t y = add(NodeKind::Multiply, {layer_norm(x), by_row}, {12, 12});
  negate(add(NodeKind::Add, {y, b.input({12})}, {12, 12}));
  EXPECT_EQ(kinds(), "Norm Multiply Add Negate");
}

TEST_F(NormsTest, TheRuleOfShapesChecksItsParameters) {
  Node node;
  node.kind = kNorm;
  node.axis = 1;
  node.channels.groups = 3;
  node.channels.group_input_channels = 4;
  const Dims x = {2, 12}, weight = {12}, short_weight = {11}, wide = {2, 13};
  Dims out;
  EXPECT_TRUE(infer_output_dims(node, {&x, &weight, nullptr}, &out).ok());
  EXPECT_EQ(out, x);
  EXPECT_FALSE(infer_output_dims(node, {&x, &short_weight, nullptr}, &out).ok());
  EXPECT_FALSE(infer_output_dims(node, {&x, nullptr, &short_weight}, &out).ok());
  EXPECT_FALSE(infer_output_dims(node, {&wide, nullptr, nullptr}, &out).ok());
  node.axis = 2;
  EXPECT_FALSE(infer_output_dims(node, {&x, nullptr, nullptr}, &out).ok());
  node.axis = 1;
  node.channels.groups = 0;
  EXPECT_FALSE(infer_output_dims(node, {&x, nullptr, nullptr}, &out).ok());
}

}  // namespace
}  // namespace petrel::backends::xnnpack
