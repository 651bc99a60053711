// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/joined_attention.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/attention.h"
#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/live_bytes.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/random_steps.h"
#include "backends/xnnpack/format/test_graphs.h"
#include "backends/xnnpack/format/work.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string text_of(const AttentionStep& step) {
  const char* const stages[] = {"queries", "scores", "shares"};
  const char* const functions[] = {"add", "subtract", "multiply", "divide"};
  std::string text = std::string(stages[step.stage]) + " " + functions[step.function] + " " +
                     std::to_string(step.input);
  if (step.operand_is_first) text += " first";
  if (!step.view.empty()) text += " as " + to_string(step.view);
  if (step.has_range) text += " in a range";
  return text;
}

// "Attention 0, 1, 2, 3 -> 9: queries multiply 3", or a kind for each other node.
std::string text_of(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    if (!text.empty()) text += "; ";
    if (node.attention == nullptr) {
      text += find_node_kind(node.kind)->name;
      continue;
    }
    text += "Attention";
    for (const uint32_t id : node.inputs) text += " " + std::to_string(id);
    text += " -> " + std::to_string(node.outputs[0]);
    if (node.attention->turns_keys) text += ", keys turned";
    if (node.attention->turns_values) text += ", values turned";
    for (const AttentionStep& step : node.attention->steps) text += ", " + text_of(step);
  }
  return text;
}

// Queries 0, keys 1 and values 2, of `rows` and 48 columns, and what tests add between them.
class AttentionGraph {
 public:
  explicit AttentionGraph(uint32_t rows = 32) : rows_(rows) {
    queries_ = b.input({2, 3, rows, 16});
    keys_ = b.input({2, 3, 48, 16});
    values_ = b.input({2, 3, 48, 24});
  }

  Dims score_dims() const { return {2, 3, rows_, 48}; }

  uint32_t pair(NodeKind kind, uint32_t a, uint32_t y_like, uint32_t b_id, bool is_first = true) {
    const uint32_t y = b.inner(b.graph.values[y_like].dims);
    b.node(kind, is_first ? std::vector<uint32_t>{a, b_id} : std::vector<uint32_t>{b_id, a}, {y});
    return y;
  }
  uint32_t scores(uint32_t queries) {
    const uint32_t y = b.inner(score_dims());
    b.node(NodeKind::BatchMatrixMultiply, {queries, keys_}, {y}).flags = kTransposeWeights;
    return y;
  }
  uint32_t softmax(uint32_t x) {
    const uint32_t y = b.inner(b.graph.values[x].dims);
    b.node(NodeKind::Softmax, {x}, {y});
    return y;
  }
  uint32_t reshape(uint32_t x, Dims dims) {
    const uint32_t y = b.inner(std::move(dims));
    reshape_node(&b, x, y);
    return y;
  }
  void finish(uint32_t shares) {
    b.node(NodeKind::BatchMatrixMultiply, {shares, values_}, {b.output({2, 3, rows_, 24})});
  }

  // Checks the graph, too.
  std::string joined(bool sizes_are_fixed = false, size_t threads = 1) {
    EXPECT_EQ(check_graph(b.graph).text(), "");
    Graph graph = b.graph;
    join_attention(&graph, sizes_are_fixed, threads);
    EXPECT_EQ(check_graph(graph).text(), "");
    return text_of(graph);
  }

  GraphBuilder b;
  uint32_t queries_, keys_, values_;

 private:
  const uint32_t rows_;
};

TEST(JoinedAttention, JoinsProductsWithASoftmaxBetweenThem) {
  AttentionGraph g;
  g.finish(g.softmax(g.scores(g.queries_)));
  EXPECT_EQ(g.joined(), "Attention 0 1 2 -> 5, keys turned");
}

// As export writes an attention with a mask.
TEST(JoinedAttention, TakesScaleMaskAndWhatIsSeen) {
  Graph graph = masked_attention();
  EXPECT_EQ(check_graph(graph).text(), "");
  join_attention(&graph, false, 1);
  EXPECT_EQ(check_graph(graph).text(), "");
  EXPECT_EQ(
      text_of(graph),
      "Attention 0 1 2 3 4 5 -> 11, keys turned, queries multiply 5, scores add 3 in a range, "
      "shares multiply 4");
}

TEST(JoinedAttention, TakesWhatPeopleWriteByHand) {
  AttentionGraph g;
  const uint32_t root = g.b.constant({1}, "root"), heads = g.b.constant({3, 1, 1}, "heads");
  const uint32_t bias = g.b.constant({3, 32, 48}, "bias");
  const uint32_t scores = g.scores(g.queries_);
  const uint32_t divided = g.pair(NodeKind::Div, scores, scores, root);
  const uint32_t scaled = g.pair(NodeKind::Multiply, divided, scores, heads, false);
  g.finish(g.softmax(g.pair(NodeKind::Add, scaled, scores, bias, false)));
  EXPECT_EQ(g.joined(),
            "Attention 0 1 2 3 4 5 -> 11, keys turned, scores divide 3, scores multiply 4 first, "
            "scores add 5 first");
}

// Both have the sizes of scores, and both are made by nodes.
TEST(JoinedAttention, FindsWhichOperandIsMadeOfTheProduct) {
  AttentionGraph g;
  const uint32_t bias = g.b.input(g.score_dims()), half = g.b.constant({1}, "half");
  const uint32_t scores = g.scores(g.queries_);
  const uint32_t halved = g.pair(NodeKind::Multiply, bias, scores, half);
  g.finish(g.softmax(g.pair(NodeKind::Add, halved, scores, scores)));
  EXPECT_EQ(g.joined(), "Multiply; Attention 0 1 2 6 -> 9, keys turned, scores add 3 first");
}

// As windows that were shifted have it, which are [groups x windows, heads, ..].
TEST(JoinedAttention, LooksThroughReshapesWhereSizesNeverVary) {
  AttentionGraph g;
  const uint32_t mask = g.b.constant({2, 1, 32, 48}, "mask");
  const uint32_t scores = g.reshape(g.scores(g.queries_), {1, 2, 3, 32, 48});
  const uint32_t masked = g.pair(NodeKind::Add, scores, scores, mask);
  g.finish(g.softmax(g.reshape(masked, {2, 3, 32, 48})));
  EXPECT_EQ(g.joined(true), "Attention 0 1 2 3 -> 9, keys turned, scores add 3 as [1,2,3,32,48]");
  EXPECT_EQ(g.joined(false).find("Attention"), std::string::npos);
}

TEST(JoinedAttention, LeavesWhatIsReadElsewhere) {
  for (const int which : {0, 1, 2}) {
    AttentionGraph g;
    const uint32_t scale = g.b.constant({1}, "scale");
    const uint32_t queries = g.pair(NodeKind::Multiply, g.queries_, g.queries_, scale);
    const uint32_t scores = g.scores(queries);
    const uint32_t shares = g.softmax(scores);
    g.finish(shares);
    const uint32_t read = which == 0 ? queries : which == 1 ? scores : shares;
    g.b.node(NodeKind::Abs, {read}, {g.b.output(g.b.graph.values[read].dims)});
    const std::string expected =
        which == 0 ? "Multiply; Attention 4 1 2 -> 7, keys turned; Abs"
                   : "Multiply; BatchMatrixMultiply; Softmax; BatchMatrixMultiply; Abs";
    EXPECT_EQ(g.joined(), expected);
  }
}

TEST(JoinedAttention, LeavesOutputsOfTheGraph) {
  AttentionGraph g;
  const uint32_t scores = g.scores(g.queries_);
  const uint32_t shares = g.b.output(g.score_dims());
  g.b.node(NodeKind::Softmax, {scores}, {shares});
  g.finish(shares);
  EXPECT_EQ(g.joined(), "BatchMatrixMultiply; Softmax; BatchMatrixMultiply");
}

TEST(JoinedAttention, LeavesFewRowsOfManyColumns) {
  for (const uint32_t columns : {200, 600}) {
    GraphBuilder b;
    const uint32_t q = b.input({2, 1, 16}), k = b.input({2, columns, 16});
    const uint32_t v = b.input({2, columns, 16});
    const uint32_t scores = b.inner({2, 1, columns}), shares = b.inner({2, 1, columns});
    b.node(NodeKind::BatchMatrixMultiply, {q, k}, {scores}).flags = kTransposeWeights;
    b.node(NodeKind::Softmax, {scores}, {shares});
    b.node(NodeKind::BatchMatrixMultiply, {shares, v}, {b.output({2, 1, 16})});
    join_attention(&b.graph, true, 1);
    EXPECT_EQ(b.graph.nodes.size(), columns == 200 ? 1u : 3u);
  }
}

TEST(JoinedAttention, LeavesConstantKeys) {
  AttentionGraph g;
  g.keys_ = g.b.constant({2, 3, 48, 16}, "keys");
  g.finish(g.softmax(g.scores(g.queries_)));
  EXPECT_EQ(g.joined(), "BatchMatrixMultiply; Softmax; BatchMatrixMultiply");
}

TEST(JoinedAttention, LeavesMoreOperandsThanANodeHasInputs) {
  AttentionGraph g;
  uint32_t masks[3];
  for (uint32_t& mask : masks) mask = g.b.input({32, 48});
  uint32_t scores = g.scores(g.queries_);
  for (const uint32_t mask : masks) scores = g.pair(NodeKind::Add, scores, scores, mask);
  g.finish(g.softmax(scores));
  EXPECT_EQ(g.joined(), "BatchMatrixMultiply; Add; Add; Add; Softmax; BatchMatrixMultiply");
}

TEST(JoinedAttention, LeavesRangesThatXnnpackReadsOtherwise) {
  AttentionGraph g;
  const uint32_t scale = g.b.constant({1}, "scale");
  const uint32_t scores = g.scores(g.queries_);
  const uint32_t scaled = g.pair(NodeKind::Multiply, scores, scores, scale);
  g.b.graph.nodes.back().output_min = 0;
  g.b.graph.nodes.back().output_max = kInfinity;
  g.finish(g.softmax(scaled));
  EXPECT_EQ(g.joined(), "BatchMatrixMultiply; Multiply; Softmax; BatchMatrixMultiply");
}

// Scores that are repeated for an operand.
TEST(JoinedAttention, LeavesOperandsOfMoreElements) {
  GraphBuilder b;
  const uint32_t q = b.input({1, 1, 32, 16}), k = b.input({1, 1, 48, 16});
  const uint32_t v = b.input({1, 3, 48, 24}), mask = b.input({3, 32, 48});
  const uint32_t scores = b.inner({1, 1, 32, 48}), sum = b.inner({1, 3, 32, 48});
  const uint32_t shares = b.inner({1, 3, 32, 48});
  b.node(NodeKind::BatchMatrixMultiply, {q, k}, {scores}).flags = kTransposeWeights;
  b.node(NodeKind::Add, {scores, mask}, {sum});
  b.node(NodeKind::Softmax, {sum}, {shares});
  b.node(NodeKind::BatchMatrixMultiply, {shares, v}, {b.output({1, 3, 32, 24})});
  EXPECT_EQ(check_graph(b.graph).text(), "");
  join_attention(&b.graph, true, 1);
  EXPECT_EQ(text_of(b.graph), "BatchMatrixMultiply; Add; Softmax; BatchMatrixMultiply");
}

// The second product of one is the first of the next.
TEST(JoinedAttention, JoinsOneOfTwoThatShareAProduct) {
  GraphBuilder b;
  const uint32_t q = b.input({1, 32, 16}), k = b.input({1, 48, 16});
  const uint32_t v = b.input({1, 48, 40}), w = b.input({1, 40, 8});
  const uint32_t scores = b.inner({1, 32, 48}), shares = b.inner({1, 32, 48});
  const uint32_t product = b.inner({1, 32, 40}), more = b.inner({1, 32, 40});
  b.node(NodeKind::BatchMatrixMultiply, {q, k}, {scores}).flags = kTransposeWeights;
  b.node(NodeKind::Softmax, {scores}, {shares});
  b.node(NodeKind::BatchMatrixMultiply, {shares, v}, {product});
  b.node(NodeKind::Softmax, {product}, {more});
  b.node(NodeKind::BatchMatrixMultiply, {more, w}, {b.output({1, 32, 8})});
  join_attention(&b.graph, true, 1);
  EXPECT_EQ(check_graph(b.graph).text(), "");
  EXPECT_EQ(text_of(b.graph), "Attention 0 1 2 -> 6, keys turned; Softmax; BatchMatrixMultiply");
}

// Of a vision transformer's three heads two threads would have to share one.
TEST(JoinedAttention, LeavesFewScoresToThreadsThatShareThem) {
  for (const uint32_t heads : {3, 16}) {
    for (const size_t threads : {1, 2}) {
      GraphBuilder b;
      const uint32_t q = b.input({heads, 197, 64}), k = b.input({heads, 197, 64});
      const uint32_t v = b.input({heads, 197, 64});
      const uint32_t scores = b.inner({heads, 197, 197}), shares = b.inner({heads, 197, 197});
      b.node(NodeKind::BatchMatrixMultiply, {q, k}, {scores}).flags = kTransposeWeights;
      b.node(NodeKind::Softmax, {scores}, {shares});
      b.node(NodeKind::BatchMatrixMultiply, {shares, v}, {b.output({heads, 197, 64})});
      join_attention(&b.graph, true, threads);
      EXPECT_EQ(b.graph.nodes.size(), heads == 3 && threads == 2 ? 3u : 1u);
    }
  }
}

TEST(JoinedAttention, NeedsLittleMemoryForManyRows) {
  GraphBuilder b;
  const uint32_t q = b.input({6, 1500, 64}), k = b.input({6, 1500, 64}), v = b.input({6, 1500, 64});
  const uint32_t scores = b.inner({6, 1500, 1500}), shares = b.inner({6, 1500, 1500});
  b.node(NodeKind::BatchMatrixMultiply, {q, k}, {scores}).flags = kTransposeWeights;
  b.node(NodeKind::Softmax, {scores}, {shares});
  b.node(NodeKind::BatchMatrixMultiply, {shares, v}, {b.output({6, 1500, 64})});
  const uint64_t before = peak_workspace_bytes(b.graph);
  const uint64_t work = count_multiply_adds(b.graph);
  join_attention(&b.graph, true, 1);
  choose_attention_blocks(&b.graph, 2, 1 << 20);
  EXPECT_GE(before, 2 * 54'000'000u);
  EXPECT_LT(peak_workspace_bytes(b.graph), 6'000'000u);
  EXPECT_EQ(count_multiply_adds(b.graph), work);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
