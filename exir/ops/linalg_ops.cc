// SPDX-License-Identifier: Apache-2.0
//
// Inverses, determinants and systems of equations: of floats, as torch has them for CPUs.
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

Inferred inverse_and_info(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType x, squares(in, "A"));
  return std::vector<Type>{x, TensorType::contiguous(ScalarType::kInt, batch_of(x))};
}

Inferred determinant(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(TensorType x, squares(in, in.has("A") ? "A" : "self"));
  return one(x.dtype, batch_of(x));
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
  const size_t along = in.flag("left") ? 2 : 1;
  if (right.rank() < 2 || right.sizes[right.rank() - along] != a.sizes.back()) {
    return invalid("argument 'B' [", absl::StrJoin(right.sizes, ","), "] does not fit 'A' [",
                   absl::StrJoin(a.sizes, ","), "]");
  }
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast_sizes({batch_of(a), batch_of(right)}));
  sizes.insert(sizes.end(), right.sizes.end() - 2, right.sizes.end());
  return one(a.dtype, std::move(sizes));
}

constexpr OpRow kRows[] = {
    {"aten::inverse(Tensor self) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::linalg_inv(Tensor A) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
     "", kPure, infer<inverse_and_info>},
    {"aten::det(Tensor self) -> Tensor", "", kPure, infer<determinant>},
    {"aten::linalg_det(Tensor A) -> Tensor", "", kPure, infer<determinant>},
    {"aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", "", kPure,
     infer<solution>},
    {"aten::matrix_power(Tensor self, int n) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::linalg_matrix_power(Tensor self, int n) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::cholesky(Tensor self, bool upper=False) -> Tensor", "", kPure, infer<same_squares>},
    {"aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", "", kPure,
     infer<same_squares>},
};

}  // namespace

absl::Span<const OpRow> linalg_ops() { return kRows; }

}  // namespace petrel::exir::rules
