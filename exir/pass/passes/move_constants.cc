// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/move_constants.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/pass/framework/constant_data.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/passes/batch_norm.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// Whether the constant `x` may be another one, which is made of the same.
bool take(FoldCounts& counts, const Value& x) {
  if (!counts.takes_more(*x.constant())) return false;
  double bytes = FoldCounts::bytes_beside(x);
  for (const std::string& source : x.constant()->made_of) {
    bytes += static_cast<double>(sizeof(source) + source.size());
  }
  return counts.take(bytes);
}

Rewritten replace(Builder& b, Node& node, const std::string& name, Blob data, FoldCounts& counts) {
  const Constant& constant = *tensor_at(node, arg::self)->constant();
  Value* made = add_unique_constant(b.graph(), name, node.result()->tensor(), std::move(data),
                                    constant.kind, constant.sources());
  counts.note(constant, *made->constant());
  return done(b, node, made);
}

// A view of a constant is a constant of the same bytes.
Rewritten view(Builder& b, Node& node, FoldCounts& counts) {
  const Value& x = *tensor_at(node, arg::self);
  const TensorType& type = node.result()->tensor();
  if (type.is_dynamic()) return false;
  if (!take(counts, x)) return false;
  const std::string name =
      absl::StrCat(x.constant()->fqn, "@view_", absl::StrJoin(type.sizes, "_"));
  return replace(b, node, name, x.constant()->data, counts);
}

// A permuted constant is the same bytes read in another order.
Rewritten permute(Builder& b, Node& node, FoldCounts& counts) {
  const Value& x = *tensor_at(node, arg::self);
  if (!take(counts, x)) return false;
  Ints dims = ints_at(node, arg::dims, 1);
  for (int64_t& dim : dims) dim = wrap_dim(dim, dims.size());
  const std::string name = absl::StrCat(x.constant()->fqn, "@permute_", absl::StrJoin(dims, "_"));
  // As they lie, the bytes are the result in the order that undoes `dims`.
  TensorType stored = node.result()->tensor();
  for (size_t i = 0; i < dims.size(); ++i) {
    stored.dim_order[static_cast<size_t>(dims[i])] = static_cast<uint8_t>(i);
  }
  return replace(b, node, name, in_row_major_order(x.constant()->data, stored), counts);
}

}  // namespace

absl::StatusOr<bool> move_constants(Graph& graph, FoldCounts& counts) {
  const auto is_mine = [](const OpInfo& op) { return op.is(aten::view) || op.is(aten::permute); };
  if (!graph.any_operator(is_mine)) return false;
  bool changed = false;
  // In the order of the graph, as a view may follow another.
  for (Node* node : graph.node_pointers()) {
    if (!is_mine(node->op()) || !is_fixed(tensor_at(*node, arg::self)) ||
        !node->result()->tensor().is_contiguous()) {
      continue;
    }
    Builder b(graph, node);
    PETREL_ASSIGN_OR_RETURN(const bool moved, node->is(aten::view) ? view(b, *node, counts)
                                                                   : permute(b, *node, counts));
    changed = changed || moved;
  }
  return changed;
}

}  // namespace petrel::exir
