// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/attention.h"

#include <algorithm>
#include <memory>
#include <string>

#include "backends/xnnpack/format/byte_bounds.h"

namespace petrel::backends::xnnpack {
namespace {

// What kernels read behind the last element, and rounding.
constexpr uint64_t kBehind = 512;

uint64_t round_up(uint64_t a, uint64_t b) { return (a + b - 1) / b * b; }

struct Sizes {
  uint64_t batches = 1;
  uint64_t rows, depth, columns, width;
};

Sizes sizes_of(const Graph& graph, const Node& node) {
  const Dims& queries = graph.values[node.inputs[0]].dims;
  const Dims& keys = graph.values[node.inputs[1]].dims;
  Sizes sizes;
  for (size_t i = 0; i + 2 < queries.size(); ++i) {
    sizes.batches = product({sizes.batches, queries[i]});
  }
  sizes.rows = queries[queries.size() - 2];
  sizes.depth = queries.back();
  sizes.columns = keys[keys.size() - (node.attention->turns_keys ? 2 : 1)];
  sizes.width = graph.values[node.outputs[0]].dims.back();
  return sizes;
}

bool fits(const Dims& operand, const Dims& dims) {
  if (operand.size() > dims.size()) return false;
  const size_t left_out = dims.size() - operand.size();
  for (size_t i = 0; i < operand.size(); ++i) {
    if (operand[i] != 1 && operand[i] != dims[left_out + i]) return false;
  }
  return true;
}

Problem do_not_fit(const char* what, const Dims& a, const Dims& b) {
  return Problem::invalid(std::string(what) + " " + to_string(a) + " and " + to_string(b) +
                          " do not fit");
}

petrel_attention_dims dims_of(const Dims& dims) {
  petrel_attention_dims result = {};
  result.rank = dims.size();
  std::copy(dims.begin(), dims.end(), result.sizes);
  return result;
}

// A column is `depth` elements and a bias.
uint64_t packed_bytes(uint64_t columns, uint64_t depth) {
  return product(
      {round_up(columns, kTileColumns), sum({round_up(depth, kTileDepth), 1}), sizeof(float)});
}

}  // namespace

void choose_attention_blocks(Graph* graph, uint32_t threads, uint64_t cache_bytes) {
  // Keys and values that are read beside them have the rest of the cache.
  constexpr uint64_t kLeast = 64 << 10;
  constexpr uint64_t kMost = 128 << 10;
  for (Node& node : graph->nodes) {
    if (node.attention == nullptr) continue;
    Attention attention = *node.attention;
    attention.threads = threads;
    attention.block_bytes = std::clamp(cache_bytes / 4, kLeast, kMost);
    node.attention = std::make_shared<const Attention>(std::move(attention));
  }
}

petrel_attention attention_program(const Graph& graph, const Node& node,
                                   const std::vector<const void*>& constants,
                                   const std::vector<uint32_t>& places) {
  const Attention& attention = *node.attention;
  petrel_attention program = {};
  program.num_inputs =
      static_cast<uint32_t>(std::count(constants.begin(), constants.end(), nullptr));
  program.turns_keys = attention.turns_keys;
  program.turns_values = attention.turns_values;
  program.block_bytes = static_cast<size_t>(attention.block_bytes);
  for (const AttentionStep& from : attention.steps) {
    petrel_attention_step& step = program.steps[program.num_steps++];
    step.stage = from.stage;
    step.function = from.function;
    step.operand_is_first = from.operand_is_first;
    step.constant = static_cast<const float*>(constants[from.input]);
    step.input = places[from.input];
    if (step.constant != nullptr) {
      step.constant_dims = dims_of(graph.values[node.inputs[from.input]].dims);
    }
    step.view = dims_of(from.view);
    step.has_range = from.has_range;
    step.min = from.min;
    step.max = from.max;
  }
  return program;
}

Problem infer_attention(const Attention& attention, const std::vector<const Dims*>& in, Dims* out) {
  const Dims& queries = *in[0];
  const size_t rank = queries.size();
  if (rank < 3) return Problem::invalid("queries are " + to_string(queries) + ", of rank below 3");
  for (size_t i = 1; i < 3; ++i) {
    const bool fit =
        in[i]->size() == rank && std::equal(in[i]->begin(), in[i]->end() - 2, queries.begin());
    if (!fit)
      return do_not_fit(i == 1 ? "queries and keys" : "queries and values", queries, *in[i]);
  }
  const Dims& keys = *in[1];
  const Dims& values = *in[2];
  const size_t keys_turned = attention.turns_keys ? 1 : 0;
  const size_t values_turned = attention.turns_values ? 1 : 0;
  if (keys[rank - 2 + keys_turned] != queries.back()) {
    return do_not_fit("queries and keys", queries, keys);
  }
  const uint32_t columns = keys[rank - 1 - keys_turned];
  if (values[rank - 2 + values_turned] != columns) {
    return do_not_fit("keys and values", keys, values);
  }
  Dims scores = queries;
  scores.back() = columns;
  for (const AttentionStep& step : attention.steps) {
    const bool is_of_queries = step.stage == petrel_attention_queries;
    const Dims& dims = !step.view.empty() ? step.view : is_of_queries ? queries : scores;
    if (!fits(*in[step.input], dims))
      return do_not_fit("an operand and scores", *in[step.input], dims);
  }
  *out = queries;
  out->back() = values[rank - 1 - values_turned];
  return Problem::none();
}

uint64_t attention_scratch_bytes(const Graph& graph, const Node& node) {
  const Sizes s = sizes_of(graph, node);
  const uint64_t threads = node.attention->threads;
  const uint64_t packed =
      sum({packed_bytes(s.columns, s.depth), packed_bytes(s.width, s.columns), kBehind});
  const uint64_t row = product({petrel_attention_row(s.columns), sizeof(float)});
  const uint64_t rows = std::min(std::max(kTileRows, node.attention->block_bytes / row), s.rows);
  const uint64_t block =
      sum({product({rows, row}), product({rows, s.depth, sizeof(float)}), kBehind});
  const uint64_t work_of_one = product({s.rows, s.columns, s.depth + s.width});
  // With one thread it computes whole matrices, which it has if there is little to do.
  const uint64_t packed_at_once =
      petrel_attention_shares_batches(s.batches, s.rows, threads, work_of_one) ? threads
                                                                               : s.batches;
  return sum({product({threads, block}), product({packed_at_once, packed})});
}

uint64_t attention_multiply_adds(const Graph& graph, const Node& node) {
  const Sizes s = sizes_of(graph, node);
  const uint64_t of_score = sum({s.depth, s.width, node.attention->steps.size(), 1});
  return product({s.batches, s.rows, s.columns, of_score});
}

}  // namespace petrel::backends::xnnpack
