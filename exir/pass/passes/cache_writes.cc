// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/cache_writes.h"

#include <utility>

#include "exir/pass/framework/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// The numbers 0, 1, ... of the rows of `value`.
BuiltValue numbers_of_rows(Builder& b, Value* value) {
  if (!value->type().is_dynamic()) return b.call(aten::arange, {value->tensor().sizes[1]});
  PETREL_ASSIGN_OR_RETURN(Value * rows, b.call(aten::sym_size_int, {value, 1}));
  return b.call(aten::arange, {rows});
}

}  // namespace

bool writes_cache(const Node& node) {
  return node.is(llama::update_cache, llama::update_cache_with_indices);
}

BuiltValue cache_after(Builder& b, const Node& node, Value* cache) {
  Value* value = tensor_in(node.argument(arg::value));
  Argument::List places(1);
  if (node.is(llama::update_cache)) {
    PETREL_ASSIGN_OR_RETURN(Value * rows, numbers_of_rows(b, value));
    PETREL_ASSIGN_OR_RETURN(rows, b.call(aten::add_Scalar, {rows, node.argument(arg::start_pos)}));
    places.emplace_back(rows);
  } else {
    Value* indices = tensor_in(node.argument(arg::indices));
    const int64_t batches = cache->tensor().sizes[0];
    if (batches == 1) {
      PETREL_ASSIGN_OR_RETURN(indices, b.call(aten::squeeze_dim, {indices, 0}));
    } else {
      PETREL_ASSIGN_OR_RETURN(Value * batch, b.call(aten::arange, {batches}));
      PETREL_ASSIGN_OR_RETURN(batch, b.view(batch, {batches, 1}));
      places[0] = Argument(batch);
    }
    places.emplace_back(indices);
  }
  return b.call(aten::index_put, {cache, Argument(std::move(places)), value, false});
}

absl::StatusOr<bool> split_cache_attention(Graph& graph) {
  bool changed = false;
  for (Node* node : graph.node_pointers()) {
    if (!node->is(llama::sdpa_with_kv_cache)) continue;
    Builder b(graph, node);
    const Argument& start = node->argument(arg::start_pos);
    const Argument& keys = node->argument(arg::key_cache);
    const Argument& values = node->argument(arg::value_cache);
    PETREL_RETURN_IF_ERROR(
        b.call(llama::update_cache, {node->argument(arg::key), keys, start}).status());
    PETREL_RETURN_IF_ERROR(
        b.call(llama::update_cache, {node->argument(arg::value), values, start}).status());
    PETREL_ASSIGN_OR_RETURN(
        Value * made,
        b.call(llama::custom_sdpa, {node->argument(arg::query), keys, values, start,
                                    node->argument(arg::attn_mask), node->argument(arg::drpout_p),
                                    node->argument(arg::is_causal), node->argument(arg::scale)}));
    PETREL_RETURN_IF_ERROR(b.replace(*node, made));
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
