// SPDX-License-Identifier: Apache-2.0
//
// Products of rows in groups, each with a matrix of its own: what mixtures of experts
// make of tokens that are sorted by their experts.
//
//   self [S,K], mat2 [G,K,N], offs [G]    row r of group g, offs[g - 1] <= r < offs[g],
//                                         by matrix g; what is behind the last group is 0
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// Rows by matrices; of batches of rows each by its own, without ends.
Inferred product_of_groups(const TensorType& rows, const TensorType& matrices) {
  if (rows.dtype != matrices.dtype || !is_floating_point(rows.dtype)) {
    return invalid("rows are ", std::string(scalar_type_name(rows.dtype)), " and matrices ",
                   std::string(scalar_type_name(matrices.dtype)),
                   ", must be of one dtype of floats");
  }
  if (rows.sizes.back() != matrices.sizes[1] ||
      (rows.rank() == 3 && rows.sizes[0] != matrices.sizes[0])) {
    return invalid("sizes [", absl::StrJoin(rows.sizes, ","), "] and [",
                   absl::StrJoin(matrices.sizes, ","), "] do not multiply in groups");
  }
  Sizes sizes = rows.sizes;
  sizes.back() = matrices.sizes[2];
  return one(rows.dtype, std::move(sizes));
}

absl::Status check_ends(const TensorType& ends, const TensorType& matrices) {
  PETREL_RETURN_IF_ERROR(check_index_dtype(ends));
  if (ends.rank() == 1 && ends.sizes[0] == matrices.sizes[0]) return absl::OkStatus();
  return invalid("argument 'offs' is [", absl::StrJoin(ends.sizes, ","),
                 "], must have one end for each of ", matrices.sizes[0], " groups");
}

Inferred grouped_mm(const BoundArguments& in) {
  const TensorType& rows = in.tensor("self");
  const TensorType& matrices = in.tensor("mat2");
  if (in.given("bias")) return invalid("argument 'bias' must be none, as in PyTorch");
  if (in.dtype("out_dtype").value_or(rows.dtype) != rows.dtype) {
    return invalid("argument 'out_dtype' must be the dtype of 'self', as in PyTorch");
  }
  const size_t rank = in.given("offs") ? 2 : 3;
  if (rows.rank() != rank || matrices.rank() != 3) {
    return invalid("ranks are ", rows.rank(), " and ", matrices.rank(), ", must be ", rank,
                   " and 3 ", rank == 2 ? "with" : "without", " 'offs'");
  }
  if (rank == 2) {
    PETREL_RETURN_IF_ERROR(check_ends(in.tensor("offs"), matrices));
  }
  return product_of_groups(rows, matrices);
}

Inferred fallback(const BoundArguments& in) {
  const TensorType& rows = in.tensor("input");
  const TensorType& matrices = in.tensor("weight");
  if (rows.rank() != 2 || matrices.rank() != 3) {
    return invalid("ranks are ", rows.rank(), " and ", matrices.rank(), ", must be 2 and 3");
  }
  PETREL_RETURN_IF_ERROR(check_ends(in.tensor("offs"), matrices));
  return product_of_groups(rows, matrices);
}

constexpr OpRow kRows[] = {
    {"aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
     "ScalarType? out_dtype=None) -> Tensor",
     "", kPure, infer<grouped_mm>},
    // What models of transformers call where the dtype is none that torch knows how to compile.
    {"transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor", "",
     kPure, infer<fallback>},
};

}  // namespace

absl::Span<const OpRow> grouped_ops() { return kRows; }

}  // namespace petrel::exir::rules
