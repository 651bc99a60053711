// SPDX-License-Identifier: Apache-2.0
//
// Inverses, determinants, systems of equations and Cholesky factors of small matrices, by
// elimination that is written out step by step; powers and exponentials by products. As in
// torch the pivot of a column is its largest element below the steps that are done. Where a
// matrix has no inverse torch fails when it runs; here the result is infinite or NaN.
#include <cstddef>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// Each row adds some fifteen nodes.
constexpr int64_t kMostRows = 16;

// Of a matrix whose columns sum to more than 2^16, the exponential is not exact: that of most
// is infinite long before.
constexpr int64_t kMostHalvings = 16;

// 0, 1, ... n-1 as [1, n, 1].
BuiltValue row_numbers(Builder& b, int64_t n) {
  PETREL_ASSIGN_OR_RETURN(Value * rows,
                          b.call(aten::arange_start_step, {0, n, 1, ScalarType::kLong}));
  return b.view(rows, {1, n, 1});
}

// Exchanges row k of a [batch, n, m] with the one of its pivot, whose number [batch, 1, 1]
// goes to *pivot.
BuiltValue pivoted(Builder& b, Value* a, Value* rows, int64_t k, int64_t n, Value** pivot) {
  PETREL_ASSIGN_OR_RETURN(Value * column, b.slice(a, 2, k, k + 1));
  PETREL_ASSIGN_OR_RETURN(column, b.slice(column, 1, k, n));
  PETREL_ASSIGN_OR_RETURN(column, b.call(aten::abs, {column}));
  PETREL_ASSIGN_OR_RETURN(Value * at, b.call(aten::argmax, {column, 1, true}));
  PETREL_ASSIGN_OR_RETURN(at, b.call(aten::add_Scalar, {at, k}));
  PETREL_ASSIGN_OR_RETURN(Value * here, b.scalar(static_cast<double>(k), ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(Value * is_pivot, b.binary(aten::eq_Tensor, rows, at));
  PETREL_ASSIGN_OR_RETURN(Value * is_here, b.call(aten::eq_Scalar, {rows, k}));
  PETREL_ASSIGN_OR_RETURN(Value * order, b.call(aten::where_self, {is_pivot, here, rows}));
  PETREL_ASSIGN_OR_RETURN(order, b.call(aten::where_self, {is_here, at, order}));
  PETREL_ASSIGN_OR_RETURN(order, b.expand(order, sizes_of(a)));
  *pivot = at;
  return b.call(aten::gather, {a, 1, order});
}

// One step of Gauss and Jordan: column k of a becomes that of the unit matrix. What row k
// is divided by goes to *divisor; `keep_zero`: a zero is not.
BuiltValue step(Builder& b, Value* a, Value* rows, int64_t k, bool keep_zero, Value** divisor) {
  PETREL_ASSIGN_OR_RETURN(Value * row, b.slice(a, 1, k, k + 1));
  PETREL_ASSIGN_OR_RETURN(Value * by, b.slice(row, 2, k, k + 1));
  *divisor = by;
  if (keep_zero) {
    PETREL_ASSIGN_OR_RETURN(Value * is_zero, b.call(aten::eq_Scalar, {by, 0}));
    PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, a->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(by, b.call(aten::where_self, {is_zero, one, by}));
  }
  PETREL_ASSIGN_OR_RETURN(row, b.binary(aten::div_Tensor, row, by));
  PETREL_ASSIGN_OR_RETURN(Value * column, b.slice(a, 2, k, k + 1));
  PETREL_ASSIGN_OR_RETURN(Value * taken, b.binary(aten::mul_Tensor, column, row));
  PETREL_ASSIGN_OR_RETURN(Value * rest, b.binary(aten::sub_Tensor, a, taken));
  PETREL_ASSIGN_OR_RETURN(Value * is_here, b.call(aten::eq_Scalar, {rows, k}));
  return b.call(aten::where_self, {is_here, row, rest});
}

// The matrices as [batch, n, n].
BuiltValue as_batch(Builder& b, Value* a, int64_t n) {
  const Sizes& sizes = sizes_of(a);
  return b.view(a, {product(leading(sizes, 2)), n, n});
}

// x of a x = right, both [batch, n, ...].
BuiltValue solved(Builder& b, Value* a, Value* right, int64_t n) {
  PETREL_ASSIGN_OR_RETURN(Value * rows, row_numbers(b, n));
  PETREL_ASSIGN_OR_RETURN(a, b.call(aten::cat, {std::vector<Value*>{a, right}, 2}));
  Value* unused = nullptr;
  for (int64_t k = 0; k < n; ++k) {
    PETREL_ASSIGN_OR_RETURN(a, pivoted(b, a, rows, k, n, &unused));
    PETREL_ASSIGN_OR_RETURN(a, step(b, a, rows, k, false, &unused));
  }
  return b.slice(a, 2, n, sizes_of(a)[2]);
}

// `y`, and zeros for `info` where the node has it, last: torch's "all went well".
Rewritten done_with_info(Builder& b, Node& node, Value* y) {
  if (node.num_results() == 1) return done(b, node, y);
  std::vector<Value*> results(node.num_results(), nullptr);
  results[0] = y;
  const size_t last = results.size() - 1;
  if (node.result(last)->is_used()) {
    PETREL_ASSIGN_OR_RETURN(results[last],
                            b.call(aten::full, {sizes_of(node.result(last)), 0, ScalarType::kInt}));
  }
  PETREL_RETURN_IF_ERROR(b.replace(node, results));
  return true;
}

// Whether anyone reads the factors, result `first`, or the exchanged rows after them. No step
// here keeps them.
bool reads_factors(const Node& node, size_t first) {
  return node.result(first)->is_used() || node.result(first + 1)->is_used();
}

Rewritten inverse(Builder& b, Node& node) {
  Value* a = tensor_at(node, arg::A, arg::self);
  const int64_t n = sizes_of(a).back();
  if (n < 1 || n > kMostRows) return false;
  PETREL_ASSIGN_OR_RETURN(Value * x, as_batch(b, a, n));
  PETREL_ASSIGN_OR_RETURN(Value * unit, b.call(aten::eye, {n, x->tensor().dtype}));
  PETREL_ASSIGN_OR_RETURN(unit, b.expand(unit, sizes_of(x)));
  PETREL_ASSIGN_OR_RETURN(Value * y, solved(b, x, unit, n));
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, sizes_of(a)));
  return done_with_info(b, node, y);
}

// By squares: as many products as n has digits, twice at most.
Rewritten matrix_power(Builder& b, Node& node) {
  Value* square = tensor_at(node, arg::self);
  int64_t n = fixed_int(node.argument(arg::n));
  if (n == 0) {
    PETREL_ASSIGN_OR_RETURN(Value * unit,
                            b.call(aten::eye, {sizes_of(square).back(), square->tensor().dtype}));
    return done(b, node, b.expand(unit, sizes_of(square)));
  }
  if (n < 0) {
    PETREL_ASSIGN_OR_RETURN(square, b.call(aten::linalg_inv, {square}));
  }
  Value* power = nullptr;
  for (uint64_t left = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n); left != 0;
       left >>= 1) {
    if (left % 2 != 0 && power != nullptr) {
      PETREL_ASSIGN_OR_RETURN(power, b.binary(aten::matmul, power, square));
    } else if (left % 2 != 0) {
      power = square;
    }
    if (left > 1) {
      PETREL_ASSIGN_OR_RETURN(square, b.binary(aten::matmul, square, square));
    }
  }
  return done(b, node, power);
}

// What each step divides by, negative where rows were exchanged: [batch, 1, 1] each. None
// where the matrices are too large.
absl::StatusOr<std::vector<Value*>> signed_pivots(Builder& b, Value* a) {
  std::vector<Value*> pivots;
  const Size n = sizes_of(a).back();
  if (n < 1 || n > kMostRows) return pivots;
  PETREL_ASSIGN_OR_RETURN(Value * x, as_batch(b, a, n));
  PETREL_ASSIGN_OR_RETURN(Value * rows, row_numbers(b, n));
  for (int64_t k = 0; k < n; ++k) {
    Value* at = nullptr;
    Value* pivot = nullptr;
    PETREL_ASSIGN_OR_RETURN(x, pivoted(b, x, rows, k, n, &at));
    PETREL_ASSIGN_OR_RETURN(x, step(b, x, rows, k, true, &pivot));
    PETREL_ASSIGN_OR_RETURN(Value * stays, b.call(aten::eq_Scalar, {at, k}));
    PETREL_ASSIGN_OR_RETURN(Value * minus, b.call(aten::neg, {pivot}));
    PETREL_ASSIGN_OR_RETURN(pivot, b.call(aten::where_self, {stays, pivot, minus}));
    pivots.push_back(pivot);
  }
  return pivots;
}

// The product of the pivots.
Rewritten determinant(Builder& b, Node& node) {
  if (node.is(aten::_linalg_det) && reads_factors(node, 1)) return false;
  PETREL_ASSIGN_OR_RETURN(const std::vector<Value*> pivots,
                          signed_pivots(b, tensor_at(node, arg::A, arg::self)));
  if (pivots.empty()) return false;
  Value* det = pivots[0];
  for (size_t i = 1; i < pivots.size(); ++i) {
    PETREL_ASSIGN_OR_RETURN(det, b.binary(aten::mul_Tensor, det, pivots[i]));
  }
  PETREL_ASSIGN_OR_RETURN(det, b.view(det, sizes_of(node.result(0))));
  std::vector<Value*> results = {det};
  results.resize(node.num_results(), nullptr);
  PETREL_RETURN_IF_ERROR(b.replace(node, results));
  return true;
}

// The product of their signs and the sum of their logarithms: 0 and -inf where there is no
// inverse. Of `logdet` the sum alone, NaN where the product is negative.
Rewritten log_determinant(Builder& b, Node& node) {
  if (node.is(aten::_linalg_slogdet) && reads_factors(node, 2)) return false;
  PETREL_ASSIGN_OR_RETURN(const std::vector<Value*> pivots,
                          signed_pivots(b, tensor_at(node, arg::A, arg::self)));
  if (pivots.empty()) return false;
  PETREL_ASSIGN_OR_RETURN(Value * all, b.call(aten::cat, {pivots, 2}));
  PETREL_ASSIGN_OR_RETURN(Value * sign, b.call(aten::sign, {all}));
  PETREL_ASSIGN_OR_RETURN(sign, b.call(aten::prod_dim_int, {sign, 2, false}));
  PETREL_ASSIGN_OR_RETURN(Value * log, b.call(aten::abs, {all}));
  PETREL_ASSIGN_OR_RETURN(log, b.call(aten::log, {log}));
  PETREL_ASSIGN_OR_RETURN(log, b.call(aten::sum_dim_IntList, {log, Ints{2}, false}));
  if (node.is(aten::logdet)) {
    PETREL_ASSIGN_OR_RETURN(sign, b.call(aten::log, {sign}));
    PETREL_ASSIGN_OR_RETURN(log, b.binary(aten::add_Tensor, log, sign));
    return done(b, node, b.view(log, sizes_of(node.result())));
  }
  PETREL_ASSIGN_OR_RETURN(sign, b.view(sign, sizes_of(node.result(0))));
  PETREL_ASSIGN_OR_RETURN(log, b.view(log, sizes_of(node.result(1))));
  std::vector<Value*> results = {sign, log};
  results.resize(node.num_results(), nullptr);
  PETREL_RETURN_IF_ERROR(b.replace(node, results));
  return true;
}

// Unknowns that are rows are columns of the transposed system.
Rewritten solve(Builder& b, Node& node) {
  if (node.is(aten::_linalg_solve_ex) && reads_factors(node, 1)) return false;
  Value* a = tensor_at(node, arg::A);
  Value* right = tensor_at(node, arg::B);
  const Size n = sizes_of(a).back();
  if (n < 1 || n > kMostRows) return false;
  const bool is_left = node.argument(arg::left) == Argument(true);
  const Sizes& out = sizes_of(node.result(0));
  if (!is_left && out.size() < sizes_of(a).size()) return false;
  Sizes sizes = out;
  if (out.size() < sizes_of(a).size()) sizes.push_back(1);  // of vectors
  Sizes squares = leading(sizes, 2);
  const Size batch = product(squares);
  squares.insert(squares.end(), {n, n});
  if (sizes_of(right).size() < sizes.size() && out.size() < sizes.size()) {
    Sizes columns = sizes_of(right);
    columns.push_back(1);
    PETREL_ASSIGN_OR_RETURN(right, b.view(right, columns));
  }
  PETREL_ASSIGN_OR_RETURN(a, b.expand(a, squares));
  PETREL_ASSIGN_OR_RETURN(a, b.view(a, {batch, n, n}));
  PETREL_ASSIGN_OR_RETURN(right, b.expand(right, sizes));
  PETREL_ASSIGN_OR_RETURN(right, b.view(right, {batch, sizes[sizes.size() - 2], sizes.back()}));
  if (!is_left) {
    PETREL_ASSIGN_OR_RETURN(a, b.swap_last_two(a));
    PETREL_ASSIGN_OR_RETURN(right, b.swap_last_two(right));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, solved(b, a, right, n));
  if (!is_left) {
    PETREL_ASSIGN_OR_RETURN(y, b.swap_last_two(y));
  }
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, out));
  return done_with_info(b, node, y);
}

// Column by column: each is what is left of its own, over the root of its first element.
Rewritten cholesky(Builder& b, Node& node) {
  Value* self = tensor_at(node, arg::self);
  const int64_t n = sizes_of(self).back();
  if (n < 1 || n > kMostRows) return false;
  PETREL_ASSIGN_OR_RETURN(Value * left, as_batch(b, self, n));
  PETREL_ASSIGN_OR_RETURN(Value * rows, row_numbers(b, n));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, left->tensor().dtype));
  const bool upper = node.argument(arg::upper) == Argument(true);
  if (upper) {  // torch reads that half
    PETREL_ASSIGN_OR_RETURN(left, b.swap_last_two(left));
  }
  std::vector<Value*> columns;
  for (int64_t k = 0; k < n; ++k) {
    PETREL_ASSIGN_OR_RETURN(Value * column, b.slice(left, 2, k, k + 1));
    PETREL_ASSIGN_OR_RETURN(Value * first, b.slice(column, 1, k, k + 1));
    PETREL_ASSIGN_OR_RETURN(first, b.call(aten::sqrt, {first}));
    PETREL_ASSIGN_OR_RETURN(column, b.binary(aten::div_Tensor, column, first));
    PETREL_ASSIGN_OR_RETURN(Value * above, b.call(aten::lt_Scalar, {rows, k}));
    PETREL_ASSIGN_OR_RETURN(column, b.call(aten::where_self, {above, zero, column}));
    columns.push_back(column);
    PETREL_ASSIGN_OR_RETURN(Value * row, b.swap_last_two(column));
    PETREL_ASSIGN_OR_RETURN(Value * taken, b.binary(aten::mul_Tensor, column, row));
    PETREL_ASSIGN_OR_RETURN(left, b.binary(aten::sub_Tensor, left, taken));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::cat, {columns, 2}));
  if (upper) {
    PETREL_ASSIGN_OR_RETURN(y, b.swap_last_two(y));
  }
  PETREL_ASSIGN_OR_RETURN(y, b.view(y, sizes_of(self)));
  return done_with_info(b, node, y);
}

// How often each matrix is halved, until its columns sum to at most 1: [batch, 1, 1].
BuiltValue halvings(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * sums, b.call(aten::abs, {x}));
  PETREL_ASSIGN_OR_RETURN(sums, b.call(aten::sum_dim_IntList, {sums, Ints{1}, true}));
  PETREL_ASSIGN_OR_RETURN(sums, b.call(aten::amax, {sums, Ints{2}, true}));
  PETREL_ASSIGN_OR_RETURN(Value * count, b.call(aten::log2, {sums}));
  PETREL_ASSIGN_OR_RETURN(count, b.call(aten::ceil, {count}));
  return b.call(aten::clamp, {count, 0, kMostHalvings});
}

// The series of a matrix that is halved first; what comes out is squared as often.
Rewritten matrix_exp(Builder& b, Node& node) {
  Value* self = tensor_at(node, arg::self);
  const ScalarType dtype = self->tensor().dtype;
  const Size n = sizes_of(self).back();
  if (n < 1) return false;
  PETREL_ASSIGN_OR_RETURN(Value * x, as_batch(b, self, n));
  PETREL_ASSIGN_OR_RETURN(Value * count, halvings(b, x));
  PETREL_ASSIGN_OR_RETURN(Value * by, b.call(aten::neg, {count}));
  PETREL_ASSIGN_OR_RETURN(by, b.call(aten::pow_Scalar, {2.0, by}));
  PETREL_ASSIGN_OR_RETURN(x, b.binary(aten::mul_Tensor, x, by));
  PETREL_ASSIGN_OR_RETURN(Value * unit, b.call(aten::eye, {n, dtype}));
  // 1 / 13! and 1 / 19! are below what the types can tell.
  const int64_t terms = dtype == ScalarType::kDouble ? 18 : 12;
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::div_Scalar, {x, terms}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, unit));
  for (int64_t i = terms - 1; i > 0; --i) {
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::bmm, x, y));
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::div_Scalar, {y, i}));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, unit));
  }
  for (int64_t i = 0; i < kMostHalvings; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * square, b.binary(aten::bmm, y, y));
    PETREL_ASSIGN_OR_RETURN(Value * more, b.call(aten::gt_Scalar, {count, i}));
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {more, square, y}));
  }
  return done(b, node, b.view(y, sizes_of(self)));
}

constexpr Rewrite kRows[] = {
    {aten::inverse, inverse},
    {aten::linalg_inv, inverse},
    {aten::linalg_inv_ex, inverse},
    {aten::slogdet, log_determinant},
    {aten::linalg_slogdet, log_determinant},
    {aten::_linalg_slogdet, log_determinant},
    {aten::logdet, log_determinant},
    {aten::matrix_exp, matrix_exp},
    {aten::linalg_matrix_exp, matrix_exp},
    {aten::matrix_power, matrix_power},
    {aten::linalg_matrix_power, matrix_power},
    {aten::det, determinant},
    {aten::linalg_det, determinant},
    {aten::_linalg_det, determinant},
    {aten::linalg_solve, solve},
    {aten::linalg_solve_ex, solve},
    {aten::_linalg_solve_ex, solve},
    {aten::cholesky, cholesky},
    {aten::linalg_cholesky, cholesky},
    {aten::linalg_cholesky_ex, cholesky},
};

}  // namespace

Rewrites linalg_decompositions() { return kRows; }

}  // namespace petrel::exir
