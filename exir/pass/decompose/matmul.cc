// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// The weight whose transposition `x` is; null when it is none.
Value* transposed_weight(Value* x) {
  Node* producer = x->producer();
  if (producer == nullptr || !producer->is(aten::permute) ||
      ints_at(*producer, arg::dims, 1) != Ints{1, 0}) {
    return nullptr;
  }
  return tensor_at(*producer, arg::self);
}

// One matrix on the right for all rows on the left.
Rewritten rows_by_matrix(Builder& b, Node& node, Value* x, Value* y) {
  const Sizes& out = sizes_of(node.result());
  const Size inner = sizes_of(x).back();
  if (Value* weight = transposed_weight(y); weight != nullptr && x->tensor().rank() >= 2) {
    return done(b, node, b.call(aten::linear, {x, weight, none()}));
  }
  if (y->tensor().rank() == 1) {
    PETREL_ASSIGN_OR_RETURN(y, b.view(y, {inner, 1}));
  }
  const Size rows = product(leading(sizes_of(x), 1));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {rows, inner}));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::mm, {x, y}));
  return done(b, node, b.view(x, out));
}

Rewritten matmul(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* y = tensor_at(node, arg::other);
  if (y->tensor().rank() <= 2) return rows_by_matrix(b, node, x, y);
  const Sizes out = sizes_of(node.result());
  const Sizes batch = leading(out, x->tensor().rank() == 1 ? 1 : 2);
  if (x->tensor().rank() == 1) {
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, {1, sizes_of(x)[0]}));
  }
  const Sizes x_sizes = sizes_of(x);
  const Sizes y_sizes = sizes_of(y);
  const Size m = x_sizes[x_sizes.size() - 2];
  const Size k = x_sizes.back();
  const Size n = y_sizes.back();
  Sizes x_full = batch;
  x_full.insert(x_full.end(), {m, k});
  Sizes y_full = batch;
  y_full.insert(y_full.end(), {k, n});
  const Size count = product(batch);
  PETREL_ASSIGN_OR_RETURN(x, b.expand(x, x_full));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {count, m, k}));
  PETREL_ASSIGN_OR_RETURN(y, b.expand(y, y_full));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, {count, k, n}));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::bmm, {x, y}));
  return done(b, node, b.view(x, out));
}

Rewritten mv(Builder& b, Node& node) {
  return rows_by_matrix(b, node, tensor_at(node, arg::self),
                        tensor_at(node, arg::tensor, arg::vec, arg::other));
}

Rewritten outer(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* y = tensor_at(node, arg::vec2);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {numel_of(x), 1}));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, {1, numel_of(y)}));
  return done(b, node, b.binary(aten::mul_Tensor, x, y));
}

// Factors of integers are integers, as in torch, and those of truth values are, too.
Argument factor_of(const Value* x, const Argument& factor) {
  if (is_floating_point(x->tensor().dtype) || !factor.is_float()) return factor;
  const double number = std::trunc(fixed_number(factor));
  return std::abs(number) < 1e15 ? Argument(static_cast<int64_t>(number)) : factor;
}

BuiltValue scaled(Builder& b, Value* x, const Argument& factor) {
  if (factor.is_number() && fixed_number(factor) == 1) return x;
  return b.call(aten::mul_Scalar, {x, factor});
}

// beta * self + alpha * product; beta 0 ignores self, NaN included.
Rewritten add_product(Builder& b, Node& node, Value* product_value) {
  const Argument beta = factor_of(product_value, node.argument(arg::beta));
  const Argument alpha = factor_of(product_value, node.argument(arg::alpha));
  PETREL_ASSIGN_OR_RETURN(product_value, scaled(b, product_value, alpha));
  if (fixed_number(beta) != 0) {
    PETREL_ASSIGN_OR_RETURN(Value * self, scaled(b, tensor_at(node, arg::self), beta));
    PETREL_ASSIGN_OR_RETURN(product_value, b.binary(aten::add_Tensor, self, product_value));
  }
  PETREL_ASSIGN_OR_RETURN(product_value, b.expand(product_value, sizes_of(node.result())));
  // Of truth values: the factors were integers.
  return done(b, node, b.cast(product_value, node.result()->tensor().dtype));
}

Rewritten baddbmm(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.binary(aten::bmm, tensor_at(node, arg::batch1), tensor_at(node, arg::batch2)));
  return add_product(b, node, y);
}

Rewritten addmv(Builder& b, Node& node) {
  Value* matrix = tensor_at(node, arg::mat);
  Value* vector = tensor_at(node, arg::vec);
  PETREL_ASSIGN_OR_RETURN(vector, b.view(vector, {numel_of(vector), 1}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::mm, matrix, vector));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, {sizes_of(matrix)[0]}));
  return add_product(b, node, y);
}

Rewritten addr(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.call(aten::outer, {tensor_at(node, arg::vec1), tensor_at(node, arg::vec2)}));
  return add_product(b, node, y);
}

Rewritten addbmm(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.binary(aten::bmm, tensor_at(node, arg::batch1), tensor_at(node, arg::batch2)));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::sum_dim_IntList, {y, Ints{0}, false, y->tensor().dtype}));
  return add_product(b, node, y);
}

// Over the last dims; a number multiplies.
Rewritten inner(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* y = tensor_at(node, arg::other);
  if (x->tensor().rank() == 0 || y->tensor().rank() == 0) {
    return done(b, node, b.binary(aten::mul_Tensor, x, y));
  }
  return done(b, node, b.call(aten::tensordot, {x, y, Ints{-1}, Ints{-1}}));
}

Rewritten vecdot(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.binary(aten::mul_Tensor, tensor_at(node, arg::x), tensor_at(node, arg::y)));
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), y->tensor().rank());
  return done(b, node, b.call(aten::sum_dim_IntList, {y, Ints{dim}}));
}

Rewritten chain(Builder& b, Node& node) {
  const std::vector<Value*> parts = node.argument(arg::matrices, arg::tensors).values();
  Value* y = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::matmul, y, parts[i]));
  }
  return done(b, node, y);
}

// sqrt(|x|^2 + |y|^2 - 2 x y), at least 0.
BuiltValue euclidean_by_product(Builder& b, Value* x, Value* y) {
  const auto squares = [&](Value* rows) -> BuiltValue {
    const auto last = static_cast<int64_t>(rows->tensor().rank()) - 1;
    PETREL_ASSIGN_OR_RETURN(rows, b.binary(aten::mul_Tensor, rows, rows));
    return b.call(aten::sum_dim_IntList, {rows, Ints{last}, true});
  };
  PETREL_ASSIGN_OR_RETURN(Value * from_x, squares(x));
  PETREL_ASSIGN_OR_RETURN(Value * from_y, squares(y));
  PETREL_ASSIGN_OR_RETURN(from_y, b.swap_last_two(from_y));
  PETREL_ASSIGN_OR_RETURN(y, b.swap_last_two(y));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::mul_Scalar, {x, 2}));
  PETREL_ASSIGN_OR_RETURN(Value * z, b.binary(aten::matmul, x, y));
  PETREL_ASSIGN_OR_RETURN(Value * sum, b.binary(aten::add_Tensor, from_x, from_y));
  PETREL_ASSIGN_OR_RETURN(z, b.binary(aten::sub_Tensor, sum, z));
  PETREL_ASSIGN_OR_RETURN(z, b.call(aten::clamp, {z, 0}));
  return b.call(aten::sqrt, {z});
}

// The p-norms of all differences of rows; Euclidean ones of many rows (more than
// 25 of either, if the program does not say) by one product, as torch does. Where it
// is not known how many there are, without one: that is the more exact way.
Rewritten cdist(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::x1);
  Value* y = tensor_at(node, arg::x2);
  const Argument& mode = node.argument(arg::compute_mode);
  const bool is_large = is_at_least(sizes_of(x)[x->tensor().rank() - 2], 26) ||
                        is_at_least(sizes_of(y)[y->tensor().rank() - 2], 26);
  const bool by_product = mode.is_int() && fixed_int(mode) != 0 ? fixed_int(mode) == 1 : is_large;
  if (fixed_number(node.argument(arg::p)) == 2 && by_product) {
    return done(b, node, euclidean_by_product(b, x, y));
  }
  Sizes sizes = sizes_of(x);
  sizes.insert(sizes.end() - 1, 1);
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, sizes));
  sizes = sizes_of(y);
  sizes.insert(sizes.end() - 2, 1);
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, sizes));
  PETREL_ASSIGN_OR_RETURN(Value * d, b.binary(aten::sub_Tensor, x, y));
  const auto last = static_cast<int64_t>(d->tensor().rank()) - 1;
  return done(b, node, b.call(aten::linalg_vector_norm, {d, node.argument(arg::p), Ints{last}}));
}

// The dims of x that are not in `taken`, in order.
Ints other_dims(const Value& x, const Ints& taken) {
  Ints others;
  for (int64_t dim : all_dims(x.tensor().rank())) {
    if (std::find(taken.begin(), taken.end(), dim) == taken.end()) {
      others.push_back(dim);
    }
  }
  return others;
}

// One product of matrices: [others of self, taken] by [taken, others of other].
Rewritten tensordot(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* y = tensor_at(node, arg::other);
  Ints from_x = ints_at(node, arg::dims_self, 1);
  Ints from_y = ints_at(node, arg::dims_other, 1);
  for (int64_t& dim : from_x) dim = wrap_dim(dim, x->tensor().rank());
  for (int64_t& dim : from_y) dim = wrap_dim(dim, y->tensor().rank());
  for (size_t i = 0; i < from_x.size(); ++i) {
    // One element goes with all of the other side: those are summed first.
    const bool is_one = sizes_of(x)[static_cast<size_t>(from_x[i])].is(1);
    const bool is_other_one = sizes_of(y)[static_cast<size_t>(from_y[i])].is(1);
    if (is_one == is_other_one) continue;
    Value*& whole = is_one ? y : x;
    const int64_t dim = is_one ? from_y[i] : from_x[i];
    PETREL_ASSIGN_OR_RETURN(
        whole, b.call(aten::sum_dim_IntList, {whole, Ints{dim}, true, whole->tensor().dtype}));
  }
  Size inner = 1;
  for (int64_t dim : from_x) inner *= sizes_of(x)[static_cast<size_t>(dim)];
  Size rows = 1;
  Size columns = 1;
  Ints order = other_dims(*x, from_x);
  for (int64_t dim : order) rows *= sizes_of(x)[static_cast<size_t>(dim)];
  order.insert(order.end(), from_x.begin(), from_x.end());
  PETREL_ASSIGN_OR_RETURN(x, b.permute(x, order));
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {rows, inner}));
  const Ints last = other_dims(*y, from_y);
  for (int64_t dim : last) columns *= sizes_of(y)[static_cast<size_t>(dim)];
  order = from_y;
  order.insert(order.end(), last.begin(), last.end());
  PETREL_ASSIGN_OR_RETURN(y, b.permute(y, order));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, {inner, columns}));
  PETREL_ASSIGN_OR_RETURN(Value * z, b.call(aten::mm, {x, y}));
  return done(b, node, b.view(z, sizes_of(node.result())));
}

constexpr Rewrite kRows[] = {
    {aten::tensordot, tensordot},
    {aten::cdist, cdist},
    {aten::_cdist_forward, cdist},
    {aten::matmul, matmul},
    {aten::mv, mv},
    {aten::dot, mv},
    {aten::outer, outer},
    {aten::baddbmm, baddbmm},
    {aten::addmv, addmv},
    {aten::ger, outer},
    {aten::vdot, mv},
    {aten::addr, addr},
    {aten::addbmm, addbmm},
    {aten::inner, inner},
    {aten::linalg_vecdot, vecdot},
    {aten::chain_matmul, chain},
    {aten::linalg_multi_dot, chain},
};

}  // namespace

Rewrites matmul_decompositions() { return kRows; }

}  // namespace petrel::exir
