// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/joined_attention.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/attention.h"
#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr size_t kNone = SIZE_MAX;
// Nodes between a product and the softmax, at most.
constexpr size_t kMostBetween = 8;
constexpr size_t kFirstOperand = 3;
// Threads that share a matrix are as fast with nodes where products of so many elements take most
// of the time, and few scores are not missed in a cache.
constexpr uint64_t kDeepProducts = 128;
constexpr uint64_t kCachedScores = 1 << 19;

std::optional<petrel_attention_function> function_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Add:
      return petrel_attention_add;
    case NodeKind::Subtract:
      return petrel_attention_subtract;
    case NodeKind::Multiply:
      return petrel_attention_multiply;
    case NodeKind::Div:
      return petrel_attention_divide;
    default:
      return std::nullopt;
  }
}

// XNNPACK makes something else of a range from zero on.
bool has_known_range(const Node& node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return node.output_min < node.output_max &&
         !(node.output_min == 0 && node.output_max == kInfinity);
}

// What was found: nodes that go, and what the new one has.
struct Match {
  std::vector<size_t> nodes;
  std::vector<uint32_t> inputs = std::vector<uint32_t>(kFirstOperand);
  Attention attention;
  Dims scores;
  uint32_t output = kNoId;
};

class AttentionJoiner {
 public:
  AttentionJoiner(Graph* graph, bool sizes_are_fixed, size_t threads)
      : graph_(*graph), sizes_are_fixed_(sizes_are_fixed), threads_(threads) {}

  void run() {
    find_uses();
    std::vector<Match> matches;
    std::vector<bool> is_taken(graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].kind != NodeKind::Softmax) continue;
      std::optional<Match> match = match_softmax(i);
      if (!match) continue;
      // A product behind a softmax may be that before the next one.
      const bool overlaps = std::any_of(match->nodes.begin(), match->nodes.end(),
                                        [&](size_t node) { return is_taken[node]; });
      if (overlaps) continue;
      for (const size_t node : match->nodes) is_taken[node] = true;
      matches.push_back(*std::move(match));
    }
    if (matches.empty()) return;
    for (Match& match : matches) replace(&match);
    graph_.nodes.erase(std::remove_if(graph_.nodes.begin(), graph_.nodes.end(),
                                      [](const Node& node) { return node.kind == NodeKind::NONE; }),
                       graph_.nodes.end());
  }

 private:
  const Dims& dims(uint32_t id) const { return graph_.values[id].dims; }
  const Node& node_at(size_t index) const { return graph_.nodes[index]; }

  bool is_float(uint32_t id) const {
    const Value& value = graph_.values[id];
    return value.datatype == Datatype::FP32 && value.quantization == Quantization::kNone;
  }

  void find_uses() {
    maker_.assign(graph_.values.size(), kNone);
    reader_.assign(graph_.values.size(), kNone);
    uses_.assign(graph_.values.size(), 0);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const uint32_t id : node_at(i).inputs) {
        if (id == kNoId) continue;
        ++uses_[id];
        reader_[id] = i;
      }
      for (const uint32_t id : node_at(i).outputs) maker_[id] = i;
    }
  }

  // Between two nodes and read by nothing else.
  bool is_inner(uint32_t id) const {
    return is_float(id) && graph_.values[id].flags == 0 && maker_[id] != kNone && uses_[id] == 1;
  }

  std::optional<Match> match_softmax(size_t index) const {
    const Node& softmax = node_at(index);
    const uint32_t scores = softmax.inputs[0];
    if (dims(scores).size() < 3) return std::nullopt;
    Match match;
    if (!follow_scores(scores, 0, &match)) return std::nullopt;
    match.nodes.push_back(index);
    if (!follow_shares(softmax.outputs[0], &match)) return std::nullopt;
    add_query_step(&match);
    return is_possible(match) && pays(match) ? std::optional<Match>(std::move(match))
                                             : std::nullopt;
  }

  // From the softmax to the product before it. Steps are added in the order of their run.
  bool follow_scores(uint32_t id, size_t depth, Match* match) const {
    if (!is_inner(id) || depth == kMostBetween) return false;
    const size_t index = maker_[id];
    const Node& node = node_at(index);
    if (node.kind == NodeKind::BatchMatrixMultiply) {
      match->inputs[0] = node.inputs[0];
      match->inputs[1] = node.inputs[1];
      match->scores = dims(node.outputs[0]);
      match->attention.turns_keys = (node.flags & kTransposeWeights) != 0;
    } else if (node.kind == NodeKind::StaticReshape) {
      if (!keeps_matrices(node) || !follow_scores(node.inputs[0], depth + 1, match)) return false;
    } else if (function_of(node.kind)) {
      const bool is_step =
          follow_operand(node, 0, depth, match) || follow_operand(node, 1, depth, match);
      if (!is_step) return false;
    } else {
      return false;
    }
    match->nodes.push_back(index);
    return true;
  }

  // As if input `place` of a pair was made of the scores.
  bool follow_operand(const Node& node, size_t place, size_t depth, Match* match) const {
    Match followed = *match;
    const bool is_step = is_step_of(node, place) &&
                         follow_scores(node.inputs[place], depth + 1, &followed) &&
                         add_step(node, place, petrel_attention_scores, &followed);
    if (is_step) *match = std::move(followed);
    return is_step;
  }

  // From the softmax to the product behind it.
  bool follow_shares(uint32_t id, Match* match) const {
    for (size_t depth = 0; depth <= kMostBetween; ++depth) {
      if (!is_inner(id)) return false;
      const size_t index = reader_[id];
      const Node& node = node_at(index);
      match->nodes.push_back(index);
      if (node.kind == NodeKind::BatchMatrixMultiply) {
        match->inputs[2] = node.inputs[1];
        match->attention.turns_values = (node.flags & kTransposeWeights) != 0;
        match->output = node.outputs[0];
        return node.inputs[0] == id;
      }
      if (node.kind == NodeKind::StaticReshape) {
        if (!keeps_matrices(node)) return false;
      } else {
        if (!function_of(node.kind)) return false;
        const size_t place = node.inputs[0] == id ? 0 : 1;
        if (!is_step_of(node, place) || !add_step(node, place, petrel_attention_shares, match)) {
          return false;
        }
      }
      id = node.outputs[0];
    }
    return false;
  }

  bool keeps_matrices(const Node& node) const {
    const Dims& in = dims(node.inputs[0]);
    const Dims& out = dims(node.outputs[0]);
    return sizes_are_fixed_ && in.size() >= 2 && out.size() >= 2 &&
           std::equal(in.end() - 2, in.end(), out.end() - 2);
  }

  // Whether its result has the sizes of that input, and can be computed.
  bool is_step_of(const Node& node, size_t place) const {
    return dims(node.inputs[place]) == dims(node.outputs[0]) && is_float(node.inputs[1 - place]) &&
           node.inputs[0] != node.inputs[1] && has_known_range(node);
  }

  bool add_step(const Node& node, size_t place, petrel_attention_stage stage, Match* match) const {
    const uint32_t operand = node.inputs[1 - place];
    auto found = std::find(match->inputs.begin() + kFirstOperand, match->inputs.end(), operand);
    if (found == match->inputs.end()) {
      match->inputs.push_back(operand);
      found = match->inputs.end() - 1;
    }
    AttentionStep step;
    step.stage = stage;
    step.function = *function_of(node.kind);
    step.operand_is_first = place == 1;
    step.input = static_cast<uint32_t>(found - match->inputs.begin());
    const bool is_reshaped =
        stage != petrel_attention_queries && dims(node.outputs[0]) != match->scores;
    if (is_reshaped) step.view = dims(node.outputs[0]);
    step.has_range = !node.is_unbounded();
    step.min = node.output_min;
    step.max = node.output_max;
    match->attention.steps.push_back(std::move(step));
    return match->attention.steps.size() <= PETREL_ATTENTION_MAX_STEPS;
  }

  // A scale of the queries, which are read by nothing else.
  void add_query_step(Match* match) const {
    const uint32_t queries = match->inputs[0];
    if (!is_inner(queries) || match->attention.steps.size() == PETREL_ATTENTION_MAX_STEPS) return;
    const Node& node = node_at(maker_[queries]);
    if (!function_of(node.kind)) return;
    for (size_t place = 0; place < 2; ++place) {
      const uint32_t scale = node.inputs[1 - place];
      const bool is_scale = graph_.values[scale].is_constant() && count_elements(dims(scale)) == 1;
      if (!is_scale || !is_step_of(node, place) || !is_float(node.inputs[place])) continue;
      add_step(node, place, petrel_attention_queries, match);
      std::vector<AttentionStep>& steps = match->attention.steps;
      std::rotate(steps.begin(), steps.end() - 1, steps.end());
      match->nodes.push_back(maker_[queries]);
      match->inputs[0] = node.inputs[place];
      return;
    }
  }

  bool is_possible(const Match& match) const {
    const auto is_constant = [this](uint32_t id) { return graph_.values[id].is_constant(); };
    const auto made = std::count_if(match.inputs.begin(), match.inputs.end(),
                                    [&](uint32_t id) { return !is_constant(id); });
    const bool are_made = !is_constant(match.inputs[0]) && !is_constant(match.inputs[1]) &&
                          !is_constant(match.inputs[2]);
    if (!are_made || made > PETREL_ATTENTION_MAX_INPUTS) return false;
    std::vector<const Dims*> inputs;
    for (const uint32_t id : match.inputs) {
      if (!is_float(id)) return false;
      inputs.push_back(&dims(id));
    }
    Dims out;
    return infer_attention(match.attention, inputs, &out).ok() && out == dims(match.output);
  }

  bool pays(const Match& match) const {
    const Dims& queries = dims(match.inputs[0]);
    const Dims& scores = match.scores;
    const uint64_t rows = queries[queries.size() - 2];
    const uint64_t matrices = count_elements(queries) / (rows * queries.back());
    const uint64_t depth = uint64_t{queries.back()} + dims(match.output).back();
    const uint64_t work = rows * scores.back() * depth;
    return packs_little(match, rows, matrices) &&
           (petrel_attention_shares_batches(matrices, rows, threads_, work) ||
            depth < kDeepProducts || count_elements(scores) > kCachedScores);
  }

  // Of few rows, keys and values that are packed at the same time may be more than scores, unless
  // each thread packs those of a matrix.
  bool packs_little(const Match& match, uint64_t rows, uint64_t matrices) const {
    constexpr uint64_t kLeastRows = 16;
    constexpr uint64_t kLeastMatrices = 8;
    constexpr uint64_t kFewElements = 1 << 14;
    const uint64_t packed =
        count_elements(dims(match.inputs[1])) + count_elements(dims(match.inputs[2]));
    return rows >= kLeastRows || packed <= kFewElements || matrices >= kLeastMatrices;
  }

  // In the place of the last of its nodes, where all inputs are made.
  void replace(Match* match) {
    Node node;
    node.kind = NodeKind::ScaledDotProductAttention;
    node.inputs = std::move(match->inputs);
    node.outputs = {match->output};
    node.debug_handle = node_at(maker_[match->output]).debug_handle;
    node.attention = std::make_shared<const Attention>(std::move(match->attention));
    for (const size_t index : match->nodes) graph_.nodes[index] = Node();
    graph_.nodes[maker_[match->output]] = std::move(node);
  }

  Graph& graph_;
  const bool sizes_are_fixed_;
  const size_t threads_;
  // By value: nodes, and how often it is read.
  std::vector<size_t> maker_;
  std::vector<size_t> reader_;
  std::vector<uint32_t> uses_;
};

}  // namespace

void join_attention(Graph* graph, bool sizes_are_fixed, size_t threads) {
  AttentionJoiner(graph, sizes_are_fixed, threads).run();
}

}  // namespace petrel::backends::xnnpack
