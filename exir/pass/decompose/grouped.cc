// SPDX-License-Identifier: Apache-2.0
//
// Products of rows in groups. A row is in the group that as many ends stand before:
//
//   %y = aten._grouped_mm.default(%x, %w, %ends)           x [S,K], w [G,K,N]
// ->
//   %g = searchsorted(%ends, arange(S), right=true)        [S]
//
// No more rows than groups take their matrices, which are then no larger than all:
//
//   %y = bmm(%x[:, None], index_select(%w, 0, %g))
//
// More of them are multiplied by each matrix, and take the product of theirs. Backends
// know these layers, and nothing is larger than a result:
//
//   %y = where(%g == 0, %x @ %w[0], where(%g == 1, %x @ %w[1], ... 0))
#include <cstdint>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// The weights [G,N,K] whose transpositions `matrices` are; null when there are none.
Value* transposed_weights(Value* matrices) {
  Node* producer = matrices->producer();
  if (producer == nullptr || !producer->is(aten::permute) ||
      ints_at(*producer, arg::dims, 1) != Ints{0, 2, 1}) {
    return nullptr;
  }
  return tensor_at(*producer, arg::self);
}

// The group of each row, as a column; the number of groups behind the last.
BuiltValue groups_of(Builder& b, const Size& rows, Value* ends) {
  PETREL_ASSIGN_OR_RETURN(Value * nth,
                          b.call(aten::arange_start_step, {0, rows, 1, ScalarType::kLong}));
  PETREL_ASSIGN_OR_RETURN(ends, b.cast(ends, ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(Value * group,
                          b.call(aten::searchsorted_Tensor, {ends, nth, false, true}));
  return b.view(group, {rows, 1});
}

// Each row by the matrix of its group.
BuiltValue by_own_matrix(Builder& b, Value* x, Value* matrices, Value* group) {
  const Sizes sizes = sizes_of(x);
  const Sizes weights = sizes_of(matrices);
  Value* const stored = transposed_weights(matrices);
  PETREL_ASSIGN_OR_RETURN(Value * place, b.call(aten::clamp, {group, 0, weights[0] - 1}));
  PETREL_ASSIGN_OR_RETURN(place, b.view(place, {sizes[0]}));
  PETREL_ASSIGN_OR_RETURN(
      Value * own, b.call(aten::index_select, {stored != nullptr ? stored : matrices, 0, place}));
  Value* y = nullptr;
  if (stored != nullptr) {
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, {sizes[0], sizes[1], 1}));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::bmm, own, x));
  } else {
    PETREL_ASSIGN_OR_RETURN(x, b.view(x, {sizes[0], 1, sizes[1]}));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::bmm, x, own));
  }
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, {sizes[0], weights[2]}));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, y->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(Value * inside, b.call(aten::lt_Scalar, {group, weights[0]}));
  return b.call(aten::where_self, {inside, y, zero});
}

// All rows by each matrix.
BuiltValue by_all_matrices(Builder& b, Value* x, Value* matrices, Value* group) {
  Value* const stored = transposed_weights(matrices);
  const int64_t count = sizes_of(matrices)[0];
  PETREL_ASSIGN_OR_RETURN(Value * y, b.scalar(0, x->tensor().dtype));
  for (int64_t i = 0; i < count; ++i) {
    PETREL_ASSIGN_OR_RETURN(
        Value * matrix, b.call(aten::select_int, {stored != nullptr ? stored : matrices, 0, i}));
    PETREL_ASSIGN_OR_RETURN(Value * product, stored != nullptr
                                                 ? b.call(aten::linear, {x, matrix, none()})
                                                 : b.binary(aten::matmul, x, matrix));
    PETREL_ASSIGN_OR_RETURN(Value * here, b.call(aten::eq_Scalar, {group, i}));
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {here, product, y}));
  }
  return y;
}

Rewritten grouped_mm(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self, arg::input);
  Value* matrices = tensor_at(node, arg::mat2, arg::weight);
  Value* ends = tensor_at(node, arg::offs);
  if (ends == nullptr) return done(b, node, b.binary(aten::bmm, x, matrices));
  const Size rows = sizes_of(x)[0];
  const Size groups = sizes_of(matrices)[0];
  if (!groups.expression().is_constant() || groups.is(0)) return false;
  PETREL_ASSIGN_OR_RETURN(Value * group, groups_of(b, rows, ends));
  return done(b, node,
              is_at_most(rows, groups) ? by_own_matrix(b, x, matrices, group)
                                       : by_all_matrices(b, x, matrices, group));
}

constexpr Rewrite kRows[] = {
    {aten::_grouped_mm, grouped_mm},
    {transformers::grouped_mm_fallback, grouped_mm},
};

}  // namespace

Rewrites grouped_decompositions() { return kRows; }

}  // namespace petrel::exir
