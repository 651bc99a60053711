// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/remove_identities.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "exir/pass/rewrite.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// The operator computes its argument. A result whose dim order differs stays:
// the border of the method asks for it.
Rewritten same(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  if (x == nullptr || x->type() != node.result()->type()) return false;
  return done(b, node, x);
}

Rewritten dropout(Builder& b, Node& node) {
  // None is training, too.
  if (node.argument("train") != Argument(false) && node.argument("p").as_number() != 0) {
    return false;
  }
  if (node.num_results() > 1 && node.result(1)->is_used()) return false;
  return same(b, node);
}

Rewritten cast(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  if (x == nullptr) return false;
  const Type& type = node.result()->type();
  if (x->type() == type) return done(b, node, x);
  if (node.op().name == "aten::_to_copy") {
    // Everything but the dtype says how, not what.
    bool plain = true;
    for (size_t i = 2; i < node.arguments().size(); ++i) {
      plain = plain && node.argument(i) == node.op().args[i].default_value;
    }
    if (plain && node.argument(1) == Argument(type.tensor.dtype)) return false;
  }
  if (x->tensor().dtype == type.tensor.dtype) return false;
  const Type wanted = type;
  PETREL_ASSIGN_OR_RETURN(Value * made, b.call("aten._to_copy.default", {x, wanted.tensor.dtype}));
  made->set_type(wanted);  // keeps the dim order of the border
  return done(b, node, made);
}

Rewritten view(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const TensorType& type = node.result()->tensor();
  if (x->tensor() == type) return done(b, node, x);
  const Node* inner = x->producer();
  if (inner == nullptr || inner->op().name != "aten::view" || !inner->op().overload.empty() ||
      !type.is_contiguous()) {
    return false;
  }
  return done(b, node, b.view(tensor_at(*inner, 0), type.sizes));
}

Rewritten permute(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  if (!node.result()->tensor().is_contiguous()) return false;
  const Sizes& sizes = x->tensor().sizes;
  Ints dims = ints_at(node, "dims", 1);
  if (dims == all_dims(dims.size())) return same(b, node);
  const Node* inner = x->producer();
  if (inner != nullptr && &inner->op() == &node.op()) {
    const Ints first = ints_at(*inner, "dims", 1);
    for (int64_t& dim : dims) dim = first[static_cast<size_t>(dim)];
    return done(b, node, b.permute(tensor_at(*inner, 0), dims));
  }
  // Moving dims of size 1 about moves no element.
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (sizes[static_cast<size_t>(dim)] == 1) continue;
    if (dim < last) return false;
    last = dim;
  }
  return done(b, node, b.view(x, node.result()->tensor().sizes));
}

Rewritten slice(Builder& b, Node& node) {
  if (node.argument(4) != Argument(int64_t{1})) return false;
  return same(b, node);
}

Rewritten pad(Builder& b, Node& node) {
  for (int64_t amount : ints_at(node, "pad", 1)) {
    if (amount != 0) return false;
  }
  return same(b, node);
}

Rewritten repeat(Builder& b, Node& node) {
  for (int64_t times : ints_at(node, "repeats", 1)) {
    if (times != 1) return false;
  }
  return done(b, node, b.view(tensor_at(node, 0), node.result()->tensor().sizes));
}

// cat: empty operands of rank 1 join anything and add nothing.
Rewritten cat(Builder& b, Node& node) {
  const std::vector<Value*> all = node.argument(0).values();
  std::vector<Value*> parts;
  for (Value* part : all) {
    if (part->tensor().numel() > 0) parts.push_back(part);
  }
  const TensorType& type = node.result()->tensor();
  if (parts.size() == 1 && parts[0]->tensor() == type) {
    return done(b, node, parts[0]);
  }
  const int64_t dim = wrap_dim(node.argument(1).as_int(), type.rank());
  const bool normal = parts.size() == all.size() && node.op().name == "aten::cat" &&
                      node.argument(1) == Argument(dim);
  if (parts.empty() || normal) return false;
  // What was left out may have decided the dtype.
  for (Value*& part : parts) {
    PETREL_ASSIGN_OR_RETURN(part, b.cast(part, type.dtype));
  }
  return done(b, node, b.call("aten.cat.default", {parts, dim}));
}

constexpr Rewrite kRows[] = {
    {"aten.alias.default", same},
    {"aten.detach.default", same},
    {"aten.detach_.default", same},
    {"aten.lift.default", same},
    {"aten.lift_fresh.default", same},
    {"aten.lift_fresh_copy.default", same},
    {"aten.contiguous.default", same},
    {"aten.clone.default", same},
    {"aten.positive.default", same},
    {"aten.requires_grad_.default", same},
    {"aten.resolve_conj.default", same},
    {"aten.resolve_neg.default", same},
    {"aten.dropout.default", dropout},
    {"aten.dropout_.default", dropout},
    {"aten.feature_dropout.default", dropout},
    {"aten.feature_dropout_.default", dropout},
    {"aten.alpha_dropout.default", dropout},
    {"aten.native_dropout.default", dropout},
    {"aten._to_copy.default", cast},
    {"aten.to.dtype", cast},
    {"aten.to.dtype_layout", cast},
    {"aten.to.device", cast},
    {"aten.to.other", cast},
    {"aten.type_as.default", cast},
    {"aten.view.default", view},
    {"aten.permute.default", permute},
    {"aten.expand.default", same},
    {"aten.slice.Tensor", slice},
    {"aten.constant_pad_nd.default", pad},
    {"aten.repeat.default", repeat},
    {"aten.cat.default", cat},
    {"aten.concat.default", cat},
    {"aten.concatenate.default", cat},
};

constexpr Rewrites kTables[] = {Rewrites(kRows)};

}  // namespace

absl::StatusOr<bool> remove_identities(Graph& graph, const PassContext&) {
  return apply_rewrites(graph, kTables);
}

}  // namespace petrel::exir
