// SPDX-License-Identifier: Apache-2.0
//
// Systems of equations of triangular matrices, row by row: each unknown is taken out of the
// rows that are left. What is beyond the triangle is never read.
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// Each row adds some seven nodes.
constexpr int64_t kMostRows = 64;

bool is_true(const Node& node, ArgHandle name) { return node.argument(name) == Argument(true); }

// Matrices `a` and right sides of one batch: [batch, n, n] and [batch, n, columns].
struct System {
  Value* a = nullptr;
  Value* right = nullptr;
  int64_t n = 0;
  bool is_upper = false;

  // The same of the transposed matrices.
  absl::Status transpose(Builder& b) {
    PETREL_ASSIGN_OR_RETURN(a, b.swap_last_two(a));
    is_upper = !is_upper;
    return absl::OkStatus();
  }
};

// The system of tensors that broadcast to `sizes`, those of all right sides.
absl::StatusOr<System> system_of(Builder& b, Value* a, Value* right, const Sizes& sizes) {
  System system;
  system.n = sizes_of(a).back();
  Sizes squares = leading(sizes, 2);
  const Size batch = product(squares);
  squares.insert(squares.end(), {system.n, system.n});
  PETREL_ASSIGN_OR_RETURN(a, b.expand(a, squares));
  PETREL_ASSIGN_OR_RETURN(system.a, b.view(a, {batch, system.n, system.n}));
  PETREL_ASSIGN_OR_RETURN(right, b.expand(right, sizes));
  PETREL_ASSIGN_OR_RETURN(system.right,
                          b.view(right, {batch, sizes[sizes.size() - 2], sizes.back()}));
  return system;
}

// The unknowns [batch, n, columns].
BuiltValue substituted(Builder& b, const System& system, bool has_unit_diagonal) {
  Value* left = system.right;  // of the rows that have no unknown yet
  std::vector<Value*> unknowns(static_cast<size_t>(system.n));
  for (int64_t i = 0; i < system.n; ++i) {
    const int64_t k = system.is_upper ? system.n - 1 - i : i;
    const int64_t rows = system.n - i;
    const int64_t at = system.is_upper ? rows - 1 : 0;
    PETREL_ASSIGN_OR_RETURN(Value * unknown, b.slice(left, 1, at, at + 1));
    PETREL_ASSIGN_OR_RETURN(Value * column, b.slice(system.a, 2, k, k + 1));
    if (!has_unit_diagonal) {
      PETREL_ASSIGN_OR_RETURN(Value * by, b.slice(column, 1, k, k + 1));
      PETREL_ASSIGN_OR_RETURN(unknown, b.binary(aten::div_Tensor, unknown, by));
    }
    unknowns[static_cast<size_t>(k)] = unknown;
    if (rows == 1) break;
    const int64_t first = system.is_upper ? 0 : k + 1;
    PETREL_ASSIGN_OR_RETURN(column, b.slice(column, 1, first, first + rows - 1));
    PETREL_ASSIGN_OR_RETURN(Value * taken, b.binary(aten::mul_Tensor, column, unknown));
    const int64_t start = system.is_upper ? 0 : 1;
    PETREL_ASSIGN_OR_RETURN(left, b.slice(left, 1, start, start + rows - 1));
    PETREL_ASSIGN_OR_RETURN(left, b.binary(aten::sub_Tensor, left, taken));
  }
  return b.call(aten::cat, {unknowns, 1});
}

// Where unknowns are rows, the system is the transposed one.
Rewritten solve_triangular(Builder& b, Node& node) {
  Value* a = tensor_at(node, arg::self);
  const Size n = sizes_of(a).back();
  if (n < 1 || n > kMostRows) return false;
  const Sizes out = sizes_of(node.result());
  PETREL_ASSIGN_OR_RETURN(System system, system_of(b, a, tensor_at(node, arg::B), out));
  system.is_upper = is_true(node, arg::upper);
  const bool is_left = is_true(node, arg::left);
  if (!is_left) {
    PETREL_RETURN_IF_ERROR(system.transpose(b));
    PETREL_ASSIGN_OR_RETURN(system.right, b.swap_last_two(system.right));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, substituted(b, system, is_true(node, arg::unitriangular)));
  if (!is_left) {
    PETREL_ASSIGN_OR_RETURN(y, b.swap_last_two(y));
  }
  return done(b, node, b.view(y, out));
}

// The older call also gives the matrices that it took.
Rewritten triangular_solve(Builder& b, Node& node) {
  Value* a = tensor_at(node, arg::A);
  const bool transposed = is_true(node, arg::transpose);
  PETREL_ASSIGN_OR_RETURN(Value * all, b.expand(a, sizes_of(node.result(1))));
  if (transposed) {
    PETREL_ASSIGN_OR_RETURN(a, b.swap_last_two(a));
  }
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.call(aten::linalg_solve_triangular,
                        {a, tensor_at(node, arg::self), is_true(node, arg::upper) != transposed,
                         true, is_true(node, arg::unitriangular)}));
  PETREL_RETURN_IF_ERROR(b.replace(node, {y, all}));
  return true;
}

// With the factor and with the transposed one, of which the lower comes first.
BuiltValue solved_by_factor(Builder& b, System system, bool is_upper) {
  system.is_upper = is_upper;
  if (is_upper) PETREL_RETURN_IF_ERROR(system.transpose(b));
  PETREL_ASSIGN_OR_RETURN(system.right, substituted(b, system, false));
  PETREL_RETURN_IF_ERROR(system.transpose(b));
  return substituted(b, system, false);
}

Rewritten cholesky_solve(Builder& b, Node& node) {
  Value* factor = tensor_at(node, arg::input2);
  const Size n = sizes_of(factor).back();
  if (n < 1 || n > kMostRows) return false;
  const Sizes out = sizes_of(node.result());
  PETREL_ASSIGN_OR_RETURN(const System system,
                          system_of(b, factor, tensor_at(node, arg::self), out));
  PETREL_ASSIGN_OR_RETURN(Value * y, solved_by_factor(b, system, is_true(node, arg::upper)));
  return done(b, node, b.view(y, out));
}

Rewritten cholesky_inverse(Builder& b, Node& node) {
  Value* factor = tensor_at(node, arg::self);
  const Sizes out = sizes_of(factor);
  const Size n = out.back();
  if (n < 1 || n > kMostRows) return false;
  PETREL_ASSIGN_OR_RETURN(Value * unit, b.call(aten::eye, {n, factor->tensor().dtype}));
  PETREL_ASSIGN_OR_RETURN(const System system, system_of(b, factor, unit, out));
  PETREL_ASSIGN_OR_RETURN(Value * y, solved_by_factor(b, system, is_true(node, arg::upper)));
  return done(b, node, b.view(y, out));
}

constexpr Rewrite kRows[] = {
    {aten::linalg_solve_triangular, solve_triangular},
    {aten::triangular_solve, triangular_solve},
    {aten::cholesky_solve, cholesky_solve},
    {aten::cholesky_inverse, cholesky_inverse},
};

}  // namespace

Rewrites triangular_decompositions() { return kRows; }

}  // namespace petrel::exir
