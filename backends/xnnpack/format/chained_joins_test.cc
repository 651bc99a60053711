// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/chained_joins.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

class ChainedJoinsTest : public ::testing::Test {
 protected:
  uint32_t input(uint32_t channels) { return b.input({1, 3, 5, channels}); }

  uint32_t join(const std::vector<uint32_t>& parts) {
    uint32_t channels = 0;
    for (const uint32_t id : parts) channels += b.graph.values[id].dims[3];
    const uint32_t out = b.inner({1, 3, 5, channels});
    const NodeKind kinds[] = {NodeKind::Concatenate2, NodeKind::Concatenate3,
                              NodeKind::Concatenate4, NodeKind::Concatenate5};
    const NodeKind kind = kinds[parts.size() - 2];
    b.node(kind, parts, {out}).axis = 3;
    return out;
  }

  // x * k + c, at least `least`.
  uint32_t scale(uint32_t x, float least = 0) {
    const Dims dims = b.graph.values[x].dims;
    const uint32_t product = b.inner(dims), sum = b.inner(dims);
    b.node(NodeKind::Multiply, {x, b.constant({1, 1, 1, dims[3]}, "k")}, {product});
    b.node(NodeKind::Add, {product, b.constant({dims[3]}, "c")}, {sum}).output_min = least;
    return sum;
  }

  void negate(uint32_t x) { b.node(NodeKind::Negate, {x}, {b.output(b.graph.values[x].dims)}); }

  // "Concatenate2 4 5; Negate 6", of what is left to run.
  std::string text() {
    EXPECT_TRUE(check_graph(b.graph).ok()) << check_graph(b.graph).text();
    chain_joins(&b.graph);
    EXPECT_TRUE(check_graph(b.graph).ok()) << check_graph(b.graph).text();
    std::string text;
    for (const Node& node : b.graph.nodes) {
      text += (text.empty() ? "" : "; ") + std::string(find_node_kind(node.kind)->name);
      for (const uint32_t id : node.inputs) {
        if (!b.graph.values[id].is_constant()) text += " " + std::to_string(id);
      }
    }
    return text;
  }

  GraphBuilder b;
};

TEST_F(ChainedJoinsTest, TakeTheLongestThatBeginsAlike) {
  std::vector<uint32_t> x;
  for (uint32_t i = 0; i < 7; ++i) x.push_back(input(i + 1));
  const uint32_t two = join({x[0], x[1]});                     // 7
  const uint32_t four = join({x[0], x[1], x[2], x[3]});        // 8
  const uint32_t five = join({x[0], x[1], x[2], x[3], x[4]});  // 9, inside of the next
  const uint32_t all = join({five, x[5], x[6]});               // 10
  for (const uint32_t id : {two, four, all}) negate(id);
  EXPECT_EQ(text(),
            "Concatenate2 0 1; Concatenate3 7 2 3; Concatenate2 8 4; Concatenate3 9 5 6; "
            "Negate 7; Negate 8; Negate 10");
}

TEST_F(ChainedJoinsTest, LeaveOthersAsTheyAre) {
  const uint32_t x = input(2), y = input(3), z = input(4);
  negate(join({x, y, z}));  // 3
  negate(join({x, z, y}));
  negate(join({y, x, z}));
  negate(join({x, y}));
  EXPECT_EQ(text(),
            "Concatenate3 0 1 2; Negate 3; Concatenate3 0 2 1; Negate 5; Concatenate3 1 0 2; "
            "Negate 7; Concatenate2 0 1; Negate 9");
}

TEST_F(ChainedJoinsTest, ScaleWhatIsJoinedInOneNode) {
  const uint32_t x = input(2), y = input(3);
  negate(scale(join({x, y}), 0.5f));
  EXPECT_EQ(text(), "Concatenate2 0 1; DepthwiseConv2d 2; Negate 4");
  const Node& scaled = b.graph.nodes[1];
  EXPECT_EQ(scaled.output_min, 0.5f);
  EXPECT_EQ(scaled.channels.groups, 5u);
  EXPECT_EQ(b.graph.values[scaled.inputs[1]].dims, (Dims{1, 1, 1, 5}));
  EXPECT_EQ(b.graph.constants[b.graph.values[scaled.inputs[1]].constant].key, "k");
  EXPECT_EQ(b.graph.constants[b.graph.values[scaled.inputs[2]].constant].key, "c");
}

TEST_F(ChainedJoinsTest, LeaveProductsThatOthersReadOrThatHaveARange) {
  const uint32_t x = input(2), y = input(3);
  const uint32_t joined = join({x, y});
  negate(scale(joined));
  negate(scale(joined));
  negate(scale(x));  // it is joined
  const uint32_t lone = input(4);
  negate(scale(lone));
  b.graph.nodes[1].output_max = 6;
  b.node(NodeKind::Negate, {b.graph.nodes[4].outputs[0]}, {b.output({1, 3, 5, 5})});
  const std::string found = text();
  EXPECT_EQ(found.find("DepthwiseConv2d"), found.rfind("DepthwiseConv2d")) << found;
  EXPECT_NE(found.find("DepthwiseConv2d 0"), std::string::npos) << found;
}

}  // namespace
}  // namespace petrel::backends::xnnpack
