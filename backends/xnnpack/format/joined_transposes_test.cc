// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/joined_transposes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
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

// Elements by the number of the place that they had in the input.
struct Elements {
  Dims dims;
  List places;
};

List strides_of(const Dims& dims) {
  List strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

List transpose_places(const Elements& x, const List& order, const Dims& dims) {
  const List from = strides_of(x.dims), to = strides_of(dims);
  List out(x.places.size());
  for (uint32_t i = 0; i < out.size(); ++i) {
    uint32_t place = 0;
    for (size_t d = 0; d < dims.size(); ++d) place += i / to[d] % dims[d] * from[order[d]];
    out[i] = x.places[place];
  }
  return out;
}

// What each output is made of, by its id; nothing where a node cannot have such an input.
std::map<uint32_t, Elements> evaluate(const Graph& graph, const Dims& input) {
  std::map<uint32_t, Elements> values, outputs;
  List places(count_elements(input));
  std::iota(places.begin(), places.end(), 0u);
  values[0] = {input, std::move(places)};
  for (const Node& node : graph.nodes) {
    const Elements& x = values.at(node.inputs[0]);
    Elements& out = values[node.outputs[0]];
    if (!infer_output_dims(node, {&x.dims}, &out.dims).ok()) return {};
    const bool moves = node.kind == NodeKind::StaticTranspose;
    out.places = moves ? transpose_places(x, node.list, out.dims) : x.places;
  }
  for (auto& [id, elements] : values) {
    if (graph.values[id].is_output()) outputs[id] = std::move(elements);
  }
  return outputs;
}

void expect_same(const Graph& before, const Graph& after, const Dims& input) {
  const auto expected = evaluate(before, input), actual = evaluate(after, input);
  ASSERT_EQ(actual.size(), expected.size()) << to_string(input);
  for (const auto& [id, elements] : expected) {
    EXPECT_EQ(actual.at(id).dims, elements.dims) << to_string(input);
    EXPECT_EQ(actual.at(id).places, elements.places) << to_string(input);
  }
}

class JoinedTransposesTest : public ::testing::Test {
 protected:
  uint32_t transpose(uint32_t x, List order) {
    Dims dims;
    for (const uint32_t place : order) dims.push_back(b.graph.values[x].dims[place]);
    const uint32_t out = b.inner(dims);
    b.node(NodeKind::StaticTranspose, {x}, {out}).list = std::move(order);
    return out;
  }
  uint32_t reshape(uint32_t x, List list) {
    Node node;
    node.kind = NodeKind::StaticReshape;
    node.list = list;
    Dims dims;
    EXPECT_TRUE(infer_output_dims(node, {&b.graph.values[x].dims}, &dims).ok());
    const uint32_t out = b.inner(dims);
    b.node(NodeKind::StaticReshape, {x}, {out}).list = std::move(list);
    return out;
  }
  void negate(uint32_t x) { b.node(NodeKind::Negate, {x}, {b.output(b.graph.values[x].dims)}); }

  // "StaticReshape Negate": what is left to run, with the same results.
  std::string kinds() {
    EXPECT_TRUE(check_graph(b.graph).ok());
    const Graph before = b.graph;
    join_transposes(&b.graph);
    EXPECT_TRUE(check_graph(b.graph).ok()) << check_graph(b.graph).text();
    expect_same(before, b.graph, before.values[0].dims);
    std::string kinds;
    for (const Node& node : b.graph.nodes) {
      kinds += (kinds.empty() ? "" : " ") + std::string(find_node_kind(node.kind)->name);
    }
    return kinds;
  }

  GraphBuilder b;
};

TEST_F(JoinedTransposesTest, RowsThatBecomeAnImageStayInPlace) {
  const uint32_t x = b.input({2, 12, 5});
  negate(transpose(reshape(transpose(x, {0, 2, 1}), {2, 5, 3, 4}), {0, 2, 3, 1}));
  EXPECT_EQ(kinds(), "StaticReshape Negate");
  EXPECT_EQ(b.graph.nodes[0].list, (List{2, 3, 4, 5}));
  EXPECT_EQ(b.graph.nodes[0].list2, (List{2, 12, 5}));
}

TEST_F(JoinedTransposesTest, AnImageThatBecomesRowsStaysInPlace) {
  const uint32_t x = b.input({2, 3, 4, 5});
  negate(transpose(reshape(transpose(x, {0, 3, 1, 2}), {2, 5, 12}), {0, 2, 1}));
  EXPECT_EQ(kinds(), "StaticReshape Negate");
}

TEST_F(JoinedTransposesTest, BatchesMayVary) {
  for (const uint32_t batch : {1u, 3u}) {
    b = {};
    const uint32_t x = b.input({batch, 12, 5});
    negate(transpose(reshape(transpose(x, {0, 2, 1}), {0, 5, 3, 4}), {0, 2, 3, 1}));
    const Graph before = b.graph;
    EXPECT_EQ(kinds(), "StaticReshape Negate");
    EXPECT_EQ(b.graph.nodes[0].list, (List{0, 3, 4, 5}));
    for (const uint32_t other : {1u, 2u, 7u}) expect_same(before, b.graph, {other, 12, 5});
    // There it would be something else.
    EXPECT_TRUE(evaluate(b.graph, {batch, 24, 5}).empty());
  }
}

TEST_F(JoinedTransposesTest, SizesMayVaryWithoutReshapes) {
  const uint32_t x = b.input({2, 3, 4});
  negate(transpose(transpose(x, {0, 2, 1}), {0, 2, 1}));
  const Graph before = b.graph;
  EXPECT_EQ(kinds(), "Copy Negate");
  expect_same(before, b.graph, {5, 1, 9});
}

TEST_F(JoinedTransposesTest, TwoAreOne) {
  const uint32_t x = b.input({2, 3, 4, 5});
  negate(transpose(transpose(x, {0, 2, 1, 3}), {0, 1, 3, 2}));
  const Graph before = b.graph;
  EXPECT_EQ(kinds(), "StaticTranspose Negate");
  EXPECT_EQ(b.graph.nodes[0].list, (List{0, 2, 3, 1}));
  expect_same(before, b.graph, {1, 7, 2, 3});
}

TEST_F(JoinedTransposesTest, TwoAreOneAcrossAReshape) {
  const uint32_t x = b.input({6, 4, 5});
  negate(transpose(reshape(transpose(x, {2, 0, 1}), {5, 3, 8}), {1, 2, 0}));
  EXPECT_EQ(kinds(), "StaticReshape Negate");
  b = {};
  const uint32_t y = b.input({6, 4, 5});
  negate(transpose(reshape(transpose(y, {2, 0, 1}), {5, 3, 8}), {0, 2, 1}));
  EXPECT_EQ(kinds(), "StaticReshape StaticTranspose StaticReshape Negate");
}

TEST_F(JoinedTransposesTest, OneThatMovesNothingIsAReshape) {
  const uint32_t x = b.input({2, 12, 5});
  negate(transpose(reshape(x, {2, 1, 12, 5}), {0, 2, 1, 3}));
  EXPECT_EQ(kinds(), "StaticReshape Negate");
}

TEST_F(JoinedTransposesTest, WhatOthersReadStays) {
  const uint32_t x = b.input({2, 12, 5});
  const uint32_t turned = transpose(x, {0, 2, 1});
  negate(turned);
  negate(transpose(reshape(turned, {2, 5, 3, 4}), {0, 2, 3, 1}));
  EXPECT_EQ(kinds(), "StaticTranspose Negate StaticReshape Negate");
}

TEST_F(JoinedTransposesTest, ReshapesThatMixDimsStay) {
  const uint32_t x = b.input({1, 6, 4});
  negate(transpose(reshape(transpose(x, {0, 2, 1}), {1, 3, 8}), {0, 2, 1}));
  EXPECT_EQ(kinds(), "StaticTranspose StaticReshape StaticTranspose Negate");
}

TEST_F(JoinedTransposesTest, AnInferredSizeThatIsNotTheFirstStays) {
  const uint32_t x = b.input({1, 12, 5});
  negate(transpose(reshape(transpose(x, {0, 2, 1}), {1, 5, 3, 0}), {0, 2, 3, 1}));
  EXPECT_EQ(kinds(), "StaticTranspose StaticReshape StaticTranspose Negate");
}

// Chains of random transposes and reshapes, of which some values are read in between.
TEST_F(JoinedTransposesTest, RandomChains) {
  std::mt19937 random(1);
  size_t fewer = 0;
  for (int round = 0; round < 2000; ++round) {
    b = {};
    const Dims pool = {1, 2, 3, 4, 6};
    Dims dims;
    const size_t rank = 2 + random() % 3;
    for (size_t i = 0; i < rank; ++i) dims.push_back(pool[random() % pool.size()]);
    const bool varies = random() % 2 == 0;
    uint32_t x = b.input(dims);
    for (int step = 0; step < 6; ++step) {
      const Dims& now = b.graph.values[x].dims;
      List list = now;
      if (random() % 2 == 0) {
        List order(now.size());
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin() + (random() % 2), order.end(), random);
        x = transpose(x, order);
      } else if (list.size() < 5 && random() % 2 == 0) {
        const size_t at = random() % list.size();
        const uint32_t size = list[at], outer = size % 2 == 0 ? 2 : 1;
        list[at] = size / outer;
        list.insert(list.begin() + static_cast<int>(at), outer);
        if (varies && at != 0) list[0] = 0;
        x = reshape(x, list);
      } else if (list.size() > 2) {
        const size_t at = 1 + random() % (list.size() - 2);
        list[at] *= list[at + 1];
        list.erase(list.begin() + static_cast<int>(at) + 1);
        if (varies) list[0] = 0;
        x = reshape(x, list);
      }
      if (random() % 4 == 0) negate(x);
    }
    negate(x);
    SCOPED_TRACE(round);
    const Graph before = b.graph;
    kinds();
    fewer += b.graph.nodes.size() < before.nodes.size();
    if (HasFailure()) return;
    // With another first size: the same, or it is refused.
    dims[0] *= 2;
    const auto expected = evaluate(before, dims), actual = evaluate(b.graph, dims);
    if (actual.empty()) continue;
    ASSERT_EQ(actual.size(), expected.size());
    for (const auto& [id, elements] : expected) {
      ASSERT_EQ(actual.at(id).dims, elements.dims);
      ASSERT_EQ(actual.at(id).places, elements.places);
    }
  }
  EXPECT_GE(fewer, 300u);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
