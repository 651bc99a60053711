// SPDX-License-Identifier: Apache-2.0
//
// Inverses, determinants, factors and systems of equations: of floats, as torch has them for
// CPUs.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// The named argument, which must be square matrices of f32 or f64.
absl::StatusOr<TensorType> squares(const BoundArguments& in, const char* name) {
  const TensorType& x = in.tensor(name);
  if (x.rank() < 2 || x.sizes[x.rank() - 1] != x.sizes[x.rank() - 2]) {
    return invalid("argument '", name, "' [", absl::StrJoin(x.sizes, ","),
                   "] is not made of square matrices");
  }
  if (x.dtype != ScalarType::kFloat && x.dtype != ScalarType::kDouble) {
    return invalid("argument '", name, "' is ", std::string(scalar_type_name(x.dtype)),
                   ", must be f32 or f64");
  }
  return x;
}

Sizes batch_of(const TensorType& x) { return Sizes(x.sizes.begin(), x.sizes.end() - 2); }

Inferred same_squares(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType x, squares(in, in.has("A") ? "A" : "self"));
  return one(x);
}

Inferred squares_and_info(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType x, squares(in, in.has("A") ? "A" : "self"));
  return std::vector<Type>{x, TensorType::contiguous(ScalarType::kInt, batch_of(x))};
}

Inferred determinant(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType x, squares(in, in.has("A") ? "A" : "self"));
  return one(x.dtype, batch_of(x));
}

Inferred sign_and_log(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType x, squares(in, in.has("A") ? "A" : "self"));
  const TensorType each = TensorType::contiguous(x.dtype, batch_of(x));
  return std::vector<Type>{each, each};
}

// Several right sides `b` as columns of matrices; as rows unless `columns`.
Inferred columns_of(const TensorType& a, const TensorType& b, const char* name, bool columns) {
  if (b.dtype != a.dtype) return invalid("argument '", name, "' differs in dtype");
  if (b.rank() < 2 || b.sizes[b.rank() - (columns ? 2 : 1)] != a.sizes.back()) {
    return invalid("argument '", name, "' [", absl::StrJoin(b.sizes, ","), "] does not fit [",
                   absl::StrJoin(a.sizes, ","), "]");
  }
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast_sizes({batch_of(a), batch_of(b)}));
  sizes.insert(sizes.end(), b.sizes.end() - 2, b.sizes.end());
  return one(a.dtype, std::move(sizes));
}

Inferred triangular_solution(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType a, squares(in, "self"));
  return columns_of(a, in.tensor("B"), "B", in.flag("left"));
}

// Also the matrices, once for each system.
Inferred triangular_solution_and_matrices(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType a, squares(in, "A"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, columns_of(a, in.tensor("self"), "self", true));
  PETREL_ASSIGN_OR_RETURN(a.sizes, broadcast_sizes({batch_of(a), batch_of(in.tensor("self"))}));
  const Size n = in.tensor("A").sizes.back();
  a.sizes.insert(a.sizes.end(), {n, n});
  types.push_back(a);
  return types;
}

Inferred cholesky_solution(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType a, squares(in, "input2"));
  return columns_of(a, in.tensor("self"), "self", true);
}

// One right side of each system is a vector; several are the columns of a matrix.
Inferred solution(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType a, squares(in, "A"));
  const TensorType& right = in.tensor("B");
  if (right.dtype != a.dtype) return invalid("arguments 'A' and 'B' differ in dtype");
  Sizes rows(a.sizes.begin(), a.sizes.end() - 1);
  if (right.rank() == 1 || (right.rank() + 1 == a.rank() && right.sizes == rows)) {
    if (right.sizes.back() != a.sizes.back()) {
      return invalid("argument 'B' has ", right.sizes.back(), " elements, must have ",
                     a.sizes.back());
    }
    return one(a.dtype, std::move(rows));
  }
  return columns_of(a, right, "B", in.flag("left"));
}

Inferred solution_and_info(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, solution(in));
  types.push_back(TensorType::contiguous(ScalarType::kInt, batch_of(in.tensor("A"))));
  return types;
}

// What the operators behind others also tell: the factors of each matrix, and which rows were
// exchanged.
void add_factors(const TensorType& a, std::vector<Type>& types) {
  types.push_back(TensorType::contiguous(a.dtype, a.sizes));
  types.push_back(
      TensorType::contiguous(ScalarType::kInt, Sizes(a.sizes.begin(), a.sizes.end() - 1)));
}

Inferred determinant_and_factors(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, determinant(in));
  add_factors(in.tensor("A"), types);
  return types;
}

Inferred sign_log_and_factors(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, sign_and_log(in));
  add_factors(in.tensor("A"), types);
  return types;
}

Inferred solution_and_factors(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, solution(in));
  const TensorType& a = in.tensor("A");
  add_factors(a, types);
  types.push_back(TensorType::contiguous(ScalarType::kInt, batch_of(a)));
  return types;
}

constexpr OpRow kRows[] = {
    {"aten::inverse(Tensor self) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::linalg_inv(Tensor A) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
     "", kPure, infer<squares_and_info>},
    {"aten::det(Tensor self) -> Tensor", "", kPure, infer<determinant>},
    {"aten::linalg_det(Tensor A) -> Tensor", "", kPure, infer<determinant>},
    {"aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", "", kPure,
     infer<determinant_and_factors>},
    {"aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", "", kPure,
     infer<solution>},
    {"aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
     "(Tensor result, Tensor info)",
     "", kPure, infer<solution_and_info>},
    {"aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
     "(Tensor result, Tensor LU, Tensor pivots, Tensor info)",
     "", kPure, infer<solution_and_factors>},
    {"aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", "", kPure,
     infer<sign_and_log>},
    {"aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", "", kPure,
     infer<sign_and_log>},
    {"aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
     "", kPure, infer<sign_log_and_factors>},
    {"aten::logdet(Tensor self) -> Tensor", "", kPure, infer<determinant>},
    {"aten::matrix_power(Tensor self, int n) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::linalg_matrix_power(Tensor self, int n) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::matrix_exp(Tensor self) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::linalg_matrix_exp(Tensor self) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::cholesky(Tensor self, bool upper=False) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", "", kPure,
     infer<same_squares>},
    {"aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> "
     "(Tensor L, Tensor info)",
     "", kPure, infer<squares_and_info>},
    {"aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", "", kPure,
     infer<cholesky_solution>},
    {"aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor", "", kPure,
     infer<same_squares>},
    {"aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
     "unitriangular=False) -> Tensor",
     "", kPure, infer<triangular_solution>},
    {"aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
     "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
     "", kPure, infer<triangular_solution_and_matrices>},
};

}  // namespace

absl::Span<const OpRow> linalg_ops() { return kRows; }

}  // namespace petrel::exir::rules
