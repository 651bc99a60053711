// SPDX-License-Identifier: Apache-2.0
//
// Delegates compute attention as one node, to the bits of its nodes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/joined_attention.h"
#include "backends/xnnpack/format/random_steps.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/test_support.h"
#include "runtime/threads/thread_count.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  uint32_t heads, rows, depth, columns, width;
  bool has_mask, is_reshaped;
  bool are_nodes = false;  // shares are an output, too
};

// Inputs are queries, keys, values and, if there is one, a mask; scales are "scale" and "heads".
Graph graph_of(const Case& c) {
  GraphBuilder b;
  const uint32_t q = b.input({1, c.heads, c.rows, c.depth});
  const uint32_t k = b.input({1, c.heads, c.columns, c.depth});
  const uint32_t v = b.input({1, c.heads, c.columns, c.width});
  const Dims dims = {1, c.heads, c.rows, c.columns};
  const Dims deep = {1, 1, c.heads, c.rows, c.columns};
  const uint32_t mask = c.has_mask ? b.input({c.rows, c.columns}) : kNoId;
  const uint32_t scale = b.constant({1}, "scale");
  const uint32_t scaled = b.inner(b.graph.values[q].dims);
  b.node(NodeKind::Multiply, {q, scale}, {scaled});
  uint32_t scores = b.inner(dims);
  b.node(NodeKind::BatchMatrixMultiply, {scaled, k}, {scores}).flags = kTransposeWeights;
  const auto reshape = [&b](uint32_t from, const Dims& to) {
    const uint32_t result = b.inner(to);
    reshape_node(&b, from, result);
    return result;
  };
  if (c.is_reshaped) scores = reshape(scores, deep);
  if (c.has_mask) {
    const uint32_t sum = b.inner(b.graph.values[scores].dims);
    b.node(NodeKind::Add, {scores, mask}, {sum}).output_min = std::numeric_limits<float>::lowest();
    scores = sum;
  }
  uint32_t shares = b.inner(b.graph.values[scores].dims);
  b.node(NodeKind::Softmax, {scores}, {shares});
  if (c.is_reshaped) shares = reshape(shares, dims);
  b.node(NodeKind::BatchMatrixMultiply, {shares, v}, {b.output({1, c.heads, c.rows, c.width})});
  if (c.are_nodes) b.node(NodeKind::Abs, {shares}, {b.output(dims)});
  EXPECT_EQ(check_graph(b.graph).text(), "");
  return std::move(b.graph);
}

bool has_attention(Graph graph, bool sizes_are_fixed) {
  join_attention(&graph, sizes_are_fixed, runtime::thread_count());
  for (const Node& node : graph.nodes) {
    if (node.attention != nullptr) return true;
  }
  return false;
}

class Runner {
 public:
  Runner(const Case& c, const TestMap& map, bool sizes_are_fixed) {
    Delegate::Options options;
    options.sizes_are_fixed = sizes_are_fixed;
    auto made = Delegate::create(graph_of(c), 0, &map, options);
    EXPECT_TRUE(made.ok());
    delegate_ = *std::move(made);
  }

  // With sizes of `c`, which may be others than those of the graph.
  Floats run(const Case& c, Error expected = Error::Ok) {
    Arguments args;
    const auto size = [](uint32_t n) { return static_cast<int32_t>(n); };
    const int32_t heads = size(c.heads), rows = size(c.rows), columns = size(c.columns);
    fill(args.add({1, heads, rows, size(c.depth)}), c.heads * c.rows * c.depth, 1);
    fill(args.add({1, heads, columns, size(c.depth)}), c.heads * c.columns * c.depth, 2);
    fill(args.add({1, heads, columns, size(c.width)}), c.heads * c.columns * c.width, 3);
    if (c.has_mask) {
      float* const mask = args.add({rows, columns});
      for (uint32_t i = 0; i < c.rows * c.columns; ++i) {
        mask[i] = i % 5 == 0 || i / c.columns == 1 ? -kInfinity : 0.1f;
      }
    }
    const float* const out = args.add({1, heads, rows, size(c.width)});
    if (c.are_nodes) args.add({1, heads, rows, columns});
    EXPECT_EQ(args.run(*delegate_), expected);
    return Floats(out, out + c.heads * c.rows * c.width);
  }

 private:
  static void fill(float* data, uint32_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> range(-1, 1);
    for (uint32_t i = 0; i < count; ++i) data[i] = range(random);
  }

  std::unique_ptr<Delegate> delegate_;
};

TestMap scales() {
  TestMap map;
  map.data["scale"] = {0.3f};
  return map;
}

bool are_same(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

Case as_nodes(Case c) {
  c.are_nodes = true;
  return c;
}

TEST(JoinedAttention, HasTheBitsOfItsNodes) {
  const TestMap map = scales();
  for (const uint32_t heads : {1, 3, 40}) {
    for (const uint32_t rows : {17, 49, 197}) {
      for (const uint32_t columns : {33, 197, 256}) {
        for (const bool has_mask : {false, true}) {
          const Case c = {heads, rows, 32, columns, 48, has_mask, columns == 33};
          SCOPED_TRACE(std::to_string(heads) + " x " + std::to_string(rows) + " x " +
                       std::to_string(columns) + (has_mask ? " with a mask" : ""));
          ASSERT_TRUE(has_attention(graph_of(c), true));
          ASSERT_FALSE(has_attention(graph_of(as_nodes(c)), true));
          Runner joined(c, map, true), nodes(as_nodes(c), map, true);
          const Floats expected = nodes.run(as_nodes(c));
          EXPECT_TRUE(are_same(joined.run(c), expected));
          EXPECT_TRUE(are_same(joined.run(c), expected));
        }
      }
    }
  }
}

TEST(JoinedAttention, HasTheBitsOfItsNodesWhereSizesVary) {
  const TestMap map = scales();
  const Case most = {4, 120, 32, 130, 48, true, false};
  ASSERT_TRUE(has_attention(graph_of(most), false));
  Runner joined(most, map, false), nodes(as_nodes(most), map, false);
  for (const uint32_t rows : {120u, 1u, 37u, 119u, 2u, 120u}) {
    Case c = most;
    c.rows = rows;
    c.columns = rows + 10;
    EXPECT_TRUE(are_same(joined.run(c), nodes.run(as_nodes(c)))) << rows;
  }
}

TEST(JoinedAttention, RefusesSizesThatDoNotFit) {
  const TestMap map = scales();
  const Case most = {4, 120, 32, 130, 48, false, false};
  Arguments args;
  for (const std::vector<int32_t>& sizes :
       std::vector<std::vector<int32_t>>{{1, 4, 120, 32}, {1, 4, 130, 31}, {1, 4, 130, 48}}) {
    args.add(sizes);
  }
  args.add({1, 4, 120, 48});
  const auto delegate = Delegate::create(graph_of(most), 0, &map, {});
  ASSERT_TRUE(delegate.ok());
  EXPECT_EQ(args.run(**delegate), Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
