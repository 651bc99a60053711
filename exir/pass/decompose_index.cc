// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <utility>

#include "exir/pass/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

// [none, ..., index]: `index` selects along `dim`.
Argument along(int64_t dim, Value* index) {
  Argument::List indices(static_cast<size_t>(dim));
  indices.emplace_back(index);
  return Argument(std::move(indices));
}

int64_t dim_of(const Node& node) {
  return wrap_dim(node.argument("dim").as_int(),
                  tensor_at(node, 0)->tensor().rank());
}

Rewritten put(Builder& b, Node& node, Value* values, bool accumulate) {
  return done(b, node,
              b.call("aten.index_put.default",
                     {tensor_at(node, 0),
                      along(dim_of(node), tensor_at(node, "index")), values,
                      accumulate}));
}

Rewritten index_copy(Builder& b, Node& node) {
  if (tensor_at(node, 0)->tensor().rank() == 0) return false;
  return put(b, node, tensor_at(node, "source"), false);
}

Rewritten index_add(Builder& b, Node& node) {
  if (tensor_at(node, 0)->tensor().rank() == 0) return false;
  Value* source = tensor_at(node, "source");
  const Argument& alpha = node.argument("alpha");
  if (alpha.as_number() != 1) {
    PETREL_ASSIGN_OR_RETURN(source,
                            b.call("aten.mul.Scalar", {source, alpha}));
  }
  return put(b, node, source, true);
}

Rewritten index_fill(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  if (x->tensor().rank() == 0) return false;
  PETREL_ASSIGN_OR_RETURN(
      Value * value,
      b.scalar(node.argument("value").as_number(), x->tensor().dtype));
  return put(b, node, value, false);
}

Rewritten masked_fill(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  PETREL_ASSIGN_OR_RETURN(Value * value,
                          b.cast(tensor_at(node, 2), x->tensor().dtype));
  return done(b, node,
              b.call("aten.where.self", {tensor_at(node, 1), value, x}));
}

Rewritten take(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {x->tensor().numel()}));
  return done(b, node,
              b.call("aten.index.Tensor", {x, along(0, tensor_at(node, 1))}));
}

Rewritten take_along_dim(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  Value* index = tensor_at(node, 1);
  int64_t dim = 0;
  if (node.argument(2).is_none()) {
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, {x->tensor().numel()}));
    PETREL_ASSIGN_OR_RETURN(index, b.view(index, {index->tensor().numel()}));
  } else {
    dim = wrap_dim(node.argument(2).as_int(), x->tensor().rank());
    // gather takes a smaller index, not a broadcast one.
    Sizes x_sizes = node.result()->tensor().sizes;
    PETREL_ASSIGN_OR_RETURN(index, b.expand(index, x_sizes));
    x_sizes[static_cast<size_t>(dim)] =
        x->tensor().sizes[static_cast<size_t>(dim)];
    PETREL_ASSIGN_OR_RETURN(x, b.expand(x, x_sizes));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y,
                          b.call("aten.gather.default", {x, dim, index}));
  return done(b, node, b.view(y, node.result()->tensor().sizes));
}

constexpr Rewrite kRows[] = {
    {"aten.index_copy.default", index_copy},
    {"aten.index_add.default", index_add},
    {"aten.index_fill.int_Scalar", index_fill},
    {"aten.masked_fill.Tensor", masked_fill},
    {"aten.take.default", take},
    {"aten.take_along_dim.default", take_along_dim},
};

}  // namespace

Rewrites index_decompositions() { return kRows; }

}  // namespace petrel::exir
