// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/join_cache_attention.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/once_per_constant.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

bool is_zero(const Argument& argument) { return argument == Argument(int64_t{0}); }
bool is_one(const Argument& argument) { return argument == Argument(int64_t{1}); }

// Of elements first, first + 1, ...
struct Run {
  bool counts = false;
  std::optional<double> first;  // none where there are no elements
};

Run run_of(const Constant& constant) {
  const absl::StatusOr<std::vector<double>> elements = decode_constant(constant);
  if (!elements.ok()) return {};
  if (elements->empty()) return {true, {}};
  const double first = elements->front();
  for (size_t i = 0; i < elements->size(); ++i) {
    if ((*elements)[i] != first + static_cast<double>(i)) return {};
  }
  return {true, first};
}

using Runs = OncePerConstant<Run>;

// A constant that holds first, first + 1, ...
bool counts_from(const Value& value, int64_t first, Runs& runs) {
  if (!value.is_constant() || value.constant()->is_mutable()) return false;
  const Run& run = runs.of(value.constant());
  return run.counts && (!run.first || *run.first == static_cast<double>(first));
}

bool counts_from_zero(const Value* value, Runs& runs) {
  const Node* made = value->producer();
  if (made == nullptr) return counts_from(*value, 0, runs);
  return made->is(aten::arange_start_step) && is_zero(made->argument(arg::start)) &&
         is_one(made->argument(arg::step));
}

// `places` are start, start + 1, ...
bool counts_from(const Value* places, const Argument& start, Runs& runs) {
  if (places->tensor().dtype != ScalarType::kLong || places->tensor().rank() != 1) return false;
  if (start.is_int() && counts_from(*places, start.as_int(), runs)) return true;
  if (is_zero(start)) return counts_from_zero(places, runs);
  const Node* sum = places->producer();
  return sum != nullptr && sum->is(aten::add_Scalar) && sum->argument(arg::other) == start &&
         is_one(sum->argument(arg::alpha)) && counts_from_zero(sum->input(arg::self), runs);
}

// How many rows go to `places`, which count_from() a start.
Argument number_of(const Value* places) {
  const TensorType& type = places->tensor();
  if (!type.varies(0)) return Argument(type.sizes[0]);
  const Node* made = places->producer();
  if (made->is(aten::add_Scalar)) made = made->input(arg::self)->producer();
  return made->argument(arg::end);
}

// A cache and the rows that a node writes to it.
struct Update {
  Node* node = nullptr;  // null when it cannot be part of the attention
  Value* cache = nullptr;
  Value* rows = nullptr;
  Value* places = nullptr;
};

Update update_of(const Graph& graph, const Value* written, const Argument& start, Runs& runs) {
  Node* node = written->producer();
  if (node == nullptr || !node->is(aten::index_put) ||
      node->argument(arg::accumulate) != Argument(false)) {
    return {};
  }
  Value* cache = node->input(arg::self);
  Value* rows = node->input(arg::values);
  const Argument& indices = node->argument(arg::indices);
  if (!cache->is_constant() || !cache->constant()->is_mutable() || !indices.is_list() ||
      indices.as_list().size() != 2 || !indices.as_list()[0].is_none() ||
      !indices.as_list()[1].is_value()) {
    return {};
  }
  Value* places = indices.as_list()[1].value();
  // The write-back is the one use as output of both.
  if (cache->users().size() != 1 || cache->output_uses() != 1 || written->users().size() != 1 ||
      written->output_uses() != 1 || !counts_from(places, start, runs)) {
    return {};
  }
  for (const BufferWrite& write : graph.buffer_writes()) {
    if (write.buffer != cache || write.value != written) continue;
    const TensorType& type = rows->tensor();
    const bool fits = type.rank() == 4 && cache->tensor().rank() == 4 &&
                      type.size(0) == cache->tensor().size(0) &&
                      type.size(2) == cache->tensor().size(2) &&
                      type.size(3) == cache->tensor().size(3);
    return fits ? Update{node, cache, rows, places} : Update{};
  }
  return {};
}

absl::StatusOr<bool> join(Graph& graph, Node* attention, Runs& runs) {
  const Argument start = attention->argument(arg::start_pos);
  const Update keys = update_of(graph, attention->input(arg::key), start, runs);
  const Update values = update_of(graph, attention->input(arg::value), start, runs);
  if (keys.node == nullptr || values.node == nullptr || keys.cache == values.cache) return false;
  Value* query = attention->input(arg::query);
  const SizeExpression count = query->tensor().size(1);
  if (keys.rows->tensor().size(1) != count || values.rows->tensor().size(1) != count) return false;
  std::vector<BufferWrite> writes;
  for (const BufferWrite& write : graph.buffer_writes()) {
    if (write.buffer != keys.cache && write.buffer != values.cache) writes.push_back(write);
  }
  graph.set_buffer_writes(std::move(writes));
  Builder b(graph, attention);
  PETREL_ASSIGN_OR_RETURN(
      Value * made, b.call(llama::sdpa_with_kv_cache,
                           {query, keys.rows, values.rows, keys.cache, values.cache, start,
                            number_of(keys.places), attention->argument(arg::attn_mask),
                            attention->argument(arg::drpout_p), attention->argument(arg::is_causal),
                            attention->argument(arg::scale)}));
  PETREL_RETURN_IF_ERROR(b.replace(*attention, made));
  graph.erase(keys.node);
  graph.erase(values.node);
  return true;
}

}  // namespace

absl::StatusOr<bool> join_cache_attention(Graph& graph, const PassContext&) {
  bool changed = false;
  Runs runs(run_of);
  for (Node* node : graph.node_pointers()) {
    if (!node->is(llama::custom_sdpa)) continue;
    PETREL_ASSIGN_OR_RETURN(const bool joined, join(graph, node, runs));
    changed |= joined;
  }
  return changed;
}

}  // namespace petrel::exir
