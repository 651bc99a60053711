// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/channels_last.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/test_graphs.h"

namespace petrel::backends::xnnpack {
namespace {

// "StaticSlice Negate": what is left to run.
std::string kinds_of(Graph* graph) {
  EXPECT_TRUE(check_graph(*graph).ok());
  keep_channels_last(graph);
  EXPECT_TRUE(check_graph(*graph).ok()) << check_graph(*graph).text();
  std::string kinds;
  for (const Node& node : graph->nodes) {
    kinds += (kinds.empty() ? "" : " ") + std::string(find_node_kind(node.kind)->name);
  }
  return kinds;
}

class ChannelsLastTest : public ::testing::Test {
 protected:
  uint32_t transpose(uint32_t x, std::vector<uint32_t> order, bool is_output = false) {
    Dims dims;
    for (const uint32_t place : order) dims.push_back(b.graph.values[x].dims[place]);
    const uint32_t out = is_output ? b.output(dims) : b.inner(dims);
    b.node(NodeKind::StaticTranspose, {x}, {out}).list = std::move(order);
    return out;
  }
  uint32_t to_first(uint32_t x) { return transpose(x, {0, 3, 1, 2}); }
  uint32_t to_last(uint32_t x) { return transpose(x, {0, 2, 3, 1}); }

  uint32_t reshape(uint32_t x, Dims dims) {
    const uint32_t out = b.inner(dims);
    b.node(NodeKind::StaticReshape, {x}, {out}).list = dims;
    return out;
  }

  uint32_t channels(uint32_t x, uint32_t first, uint32_t count) {
    Dims dims = b.graph.values[x].dims;
    dims[1] = count;
    const uint32_t out = b.inner(dims);
    Node& node = b.node(NodeKind::StaticSlice, {x}, {out});
    node.list = {0, first, 0, 0};
    node.list2 = {0, count, 0, 0};
    return out;
  }

  uint32_t join(uint32_t x, uint32_t y) {
    Dims dims = b.graph.values[x].dims;
    dims[1] += b.graph.values[y].dims[1];
    const uint32_t out = b.inner(dims);
    b.node(NodeKind::Concatenate2, {x, y}, {out}).axis = 1;
    return out;
  }

  uint32_t shuffle(uint32_t x, uint32_t groups) {
    const Dims dims = b.graph.values[x].dims;
    const uint32_t each = dims[1] / groups;
    const uint32_t spread = reshape(x, {dims[0], groups, each, dims[2], dims[3]});
    return reshape(transpose(spread, {0, 2, 1, 3, 4}), dims);
  }

  void negate(uint32_t x) { b.node(NodeKind::Negate, {x}, {b.output(b.graph.values[x].dims)}); }

  GraphBuilder b;
};

TEST_F(ChannelsLastTest, ShufflesCutsAndJoinsThere) {
  const uint32_t x = to_first(b.input({2, 5, 7, 6}));
  const uint32_t shuffled = shuffle(x, 2);
  const uint32_t low = channels(shuffled, 0, 2), high = channels(shuffled, 2, 4);
  negate(to_last(join(high, low)));
  EXPECT_EQ(kinds_of(&b.graph),
            "StaticReshape StaticTranspose StaticReshape StaticSlice StaticSlice Concatenate2 "
            "Negate");
  const Node& spread = b.graph.nodes[0];
  EXPECT_EQ(spread.list, (std::vector<uint32_t>{2, 5, 7, 2, 3}));
  EXPECT_EQ(b.graph.nodes[1].list, (std::vector<uint32_t>{0, 1, 2, 4, 3}));
  EXPECT_EQ(b.graph.nodes[4].list, (std::vector<uint32_t>{0, 0, 0, 2}));
  EXPECT_EQ(b.graph.nodes[4].list2, (std::vector<uint32_t>{0, 0, 0, 4}));
  EXPECT_EQ(b.graph.nodes[5].axis, 3u);
}

TEST_F(ChannelsLastTest, TurnsBackWhatSomebodyReadsWithChannelsFirst) {
  const uint32_t x = to_first(b.input({1, 5, 7, 6}));
  const uint32_t cut = channels(x, 1, 3);
  negate(to_last(cut));
  negate(cut);
  EXPECT_EQ(kinds_of(&b.graph), "StaticSlice StaticTranspose Negate Negate");
  EXPECT_EQ(b.graph.values[b.graph.nodes[1].outputs[0]].dims, (Dims{1, 3, 5, 7}));
}

TEST_F(ChannelsLastTest, LeavesWhatIsNotTurnedBack) {
  const uint32_t x = to_first(b.input({1, 5, 7, 6}));
  negate(channels(x, 1, 3));
  EXPECT_EQ(kinds_of(&b.graph), "StaticTranspose StaticSlice Negate");
}

TEST_F(ChannelsLastTest, LeavesWhatIsJoinedToOthers) {
  const uint32_t x = to_first(b.input({1, 5, 7, 6}));
  const uint32_t other = b.input({1, 2, 5, 7});
  negate(to_last(join(x, other)));
  EXPECT_EQ(kinds_of(&b.graph), "StaticTranspose Concatenate2 StaticTranspose Negate");
}

TEST_F(ChannelsLastTest, LeavesReshapesThatAreNoShuffle) {
  const uint32_t x = to_first(b.input({1, 4, 4, 4}));
  // Rows are shuffled into channels.
  const uint32_t spread = reshape(x, {1, 2, 4, 2, 4});
  negate(to_last(reshape(transpose(spread, {0, 2, 1, 3, 4}), {1, 4, 4, 4})));
  EXPECT_EQ(kinds_of(&b.graph),
            "StaticTranspose StaticReshape StaticTranspose StaticReshape StaticTranspose Negate");
}

TEST_F(ChannelsLastTest, TurnsOutputsThatAreTurned) {
  const uint32_t x = to_first(b.input({1, 5, 7, 6}));
  transpose(channels(x, 0, 2), {0, 2, 3, 1}, /*is_output=*/true);
  EXPECT_EQ(kinds_of(&b.graph), "StaticSlice StaticTranspose StaticTranspose");
}

}  // namespace
}  // namespace petrel::backends::xnnpack
