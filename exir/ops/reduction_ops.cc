// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// `self` without the dimensions in argument `dim`, all of them when it is none
// or empty; with `keepdim` they stay with size 1.
absl::StatusOr<Sizes> reduced_sizes(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(Sizes dims, in.dims("dim", self.rank()));
  Sizes sizes;
  for (size_t i = 0; i < self.rank(); ++i) {
    const bool gone =
        dims.empty() || std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    if (!gone) sizes.push_back(self.sizes[i]);
    if (gone && in.flag("keepdim")) sizes.push_back(1);
  }
  return sizes;
}

// Sums of integers and truth values count in i64.
ScalarType sum_dtype(const BoundArguments& in) {
  const ScalarType dtype = in.tensor("self").dtype;
  return in.dtype("dtype").value_or(is_floating_point(dtype) ? dtype : ScalarType::kLong);
}

Inferred sum(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, reduced_sizes(in));
  return one(sum_dtype(in), std::move(sizes));
}

Inferred floating_reduction(const BoundArguments& in, ScalarType dtype) {
  if (!is_floating_point(dtype)) {
    return invalid("argument 'self' is ", std::string(scalar_type_name(dtype)),
                   ", must be floating point");
  }
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, reduced_sizes(in));
  return one(dtype, std::move(sizes));
}

Inferred mean(const BoundArguments& in) {
  return floating_reduction(in, in.dtype("dtype").value_or(in.tensor("self").dtype));
}

Inferred variance(const BoundArguments& in) {
  return floating_reduction(in, in.tensor("self").dtype);
}

Inferred variance_and_mean(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, variance(in));
  types.push_back(types[0]);
  return types;
}

Inferred float_reduction(const BoundArguments& in) {
  return floating_reduction(in, as_floating(in.tensor("self").dtype));
}

Inferred vector_norm(const BoundArguments& in) {
  return floating_reduction(in, in.dtype("dtype").value_or(in.tensor("self").dtype));
}

Inferred extremum(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, reduced_sizes(in));
  return one(in.tensor("self").dtype, std::move(sizes));
}

Inferred aminmax(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(std::vector<Type> types, extremum(in));
  types.push_back(types[0]);
  return types;
}

// Values and the i64 indices they come from.
std::vector<Type> with_indices(ScalarType dtype, const Sizes& sizes) {
  return {TensorType::contiguous(dtype, sizes), TensorType::contiguous(ScalarType::kLong, sizes)};
}

Inferred extremum_along(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, reduced_sizes(in));
  return with_indices(in.tensor("self").dtype, sizes);
}

Inferred arg_extremum(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, reduced_sizes(in));
  return one(ScalarType::kLong, std::move(sizes));
}

Inferred any_all(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, reduced_sizes(in));
  const bool is_byte = in.tensor("self").dtype == ScalarType::kByte;
  return one(is_byte ? ScalarType::kByte : ScalarType::kBool, std::move(sizes));
}

Inferred truths(const BoundArguments& in) {
  const ScalarType dtype = in.tensor("self").dtype;
  if (dtype == ScalarType::kBool) return one(dtype, {});
  return invalid("argument 'self' is ", std::string(scalar_type_name(dtype)), ", must be bool");
}

Inferred cumulative(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_RETURN_IF_ERROR(in.dim("dim", self.rank()).status());
  return one(sum_dtype(in), self.sizes);
}

Inferred cumulative_extremum(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_RETURN_IF_ERROR(in.dim("dim", self.rank()).status());
  return with_indices(self.dtype, self.sizes);
}

Inferred topk(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank()));
  const Size available = out.rank() == 0 ? Size(1) : out.sizes[dim];
  const Size k = in.integer("k");
  if (k < 0 || k > available) {
    return invalid("argument 'k' is ", k, ", must be in [0, ", available, "]");
  }
  if (out.rank() > 0) out.sizes[dim] = k;
  return with_indices(out.dtype, out.sizes);
}

Inferred nonzero(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  return one(ScalarType::kLong, {size_by_data(self.numel()), self.rank()});
}

// The columns of nonzero.
Inferred nonzero_by_dim(const BoundArguments& in) {
  const TensorType& self = in.tensor(in.has("self") ? "self" : "condition");
  if (self.rank() == 0) return invalid("argument '", in.op().args[0].name, "' has rank 0");
  const TensorType places = TensorType::contiguous(ScalarType::kLong, {size_by_data(self.numel())});
  return std::vector<Type>(self.rank(), places);
}

Inferred argsort(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_RETURN_IF_ERROR(in.dim("dim", self.rank()).status());
  return one(ScalarType::kLong, self.sizes);
}

Inferred logcumsumexp(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_floats(in));
  return same_as_self(in);
}

// How many elements lie in each of `bins` parts of [min, max]; where both are one number, of
// what lies between the least and the largest element.
Inferred histogram(const BoundArguments& in) {
  const ScalarType dtype = in.tensor("self").dtype;
  const Size bins = in.integer("bins");
  const double least = in.number("min");
  const double most = in.number("max");
  if (!is_floating_point(dtype)) {
    return invalid("argument 'self' is ", std::string(scalar_type_name(dtype)),
                   ", must be floating point");
  }
  // One more is counted than asked for.
  if (bins < 1 || bins >= (int64_t{1} << 31) - 1) {
    return invalid("argument 'bins' is ", bins, ", must be in [1, 2^31 - 1)");
  }
  const double limit = dtype == ScalarType::kDouble ? std::numeric_limits<double>::max()
                                                    : std::numeric_limits<float>::max();
  if (!(std::fabs(least) <= limit && std::fabs(most) <= limit && least <= most)) {
    return invalid("argument 'max' is ", most, ", must be finite and at least 'min', ", least);
  }
  return one(dtype, {bins});
}

constexpr OpRow kRows[] = {
    {"aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", "", kPure | kReduction,
     infer<sum>},
    {"aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     "aten::sum.IntList_out", kPure | kReduction, infer<sum>},
    {"aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", "aten::mean.dtype_out",
     kPure | kReduction, infer<mean>},
    {"aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     "aten::mean.out", kPure | kReduction, infer<mean>},
    {"aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", "aten::prod.out",
     kPure | kReduction, infer<sum>},
    {"aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     "aten::prod.int_out", kPure | kReduction, infer<sum>},
    {"aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", "aten::amax.out",
     kPure | kReduction, infer<extremum>},
    {"aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", "aten::amin.out",
     kPure | kReduction, infer<extremum>},
    {"aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> "
     "(Tensor min, Tensor max)",
     "", kPure | kReduction, infer<aminmax>},
    {"aten::max(Tensor self) -> Tensor", "aten::max.unary_out", kPure | kReduction,
     infer<extremum>},
    {"aten::min(Tensor self) -> Tensor", "aten::min.unary_out", kPure | kReduction,
     infer<extremum>},
    {"aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor "
     "values, Tensor indices)",
     "aten::max.dim_max", kPure | kReduction, infer<extremum_along>},
    {"aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor "
     "values, Tensor indices)",
     "aten::min.dim_min", kPure | kReduction, infer<extremum_along>},
    {"aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "aten::argmax.out",
     kPure | kReduction, infer<arg_extremum>},
    {"aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "aten::argmin.out",
     kPure | kReduction, infer<arg_extremum>},
    {"aten::any(Tensor self) -> Tensor", "aten::any.all_out", kPure | kReduction, infer<any_all>},
    {"aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", "aten::any.out",
     kPure | kReduction, infer<any_all>},
    {"aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> "
     "Tensor",
     "aten::any.dims_out", kPure | kReduction, infer<any_all>},
    {"aten::all(Tensor self) -> Tensor", "", kPure | kReduction, infer<any_all>},
    {"aten::_is_all_true(Tensor self) -> Tensor", "", kPure | kReduction, infer<truths>},
    {"aten::_is_any_true(Tensor self) -> Tensor", "aten::any.all_out", kPure | kReduction,
     infer<truths>},
    {"aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", "", kPure | kReduction,
     infer<any_all>},
    {"aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> "
     "Tensor",
     "", kPure | kReduction, infer<any_all>},
    {"aten::var(Tensor self, bool unbiased=True) -> Tensor", "", kPure | kReduction,
     infer<variance>},
    {"aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
     "keepdim=False) -> Tensor",
     "aten::var.out", kPure | kReduction, infer<variance>},
    {"aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? "
     "correction=None, bool keepdim=False) -> Tensor",
     "aten::var.correction_out", kPure | kReduction, infer<variance>},
    {"aten::std(Tensor self, bool unbiased=True) -> Tensor", "", kPure | kReduction,
     infer<variance>},
    {"aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
     "keepdim=False) -> Tensor",
     "", kPure | kReduction, infer<variance>},
    {"aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? "
     "correction=None, bool keepdim=False) -> Tensor",
     "", kPure | kReduction, infer<variance>},
    {"aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? "
     "correction=None, bool keepdim=False) -> (Tensor, Tensor)",
     "aten::var_mean.correction_out", kPure | kReduction, infer<variance_and_mean>},
    {"aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
     "keepdim=False) -> (Tensor, Tensor)",
     "", kPure | kReduction, infer<variance_and_mean>},
    {"aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "", kPure | kReduction,
     infer<variance_and_mean>},
    {"aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", "", kPure | kReduction,
     infer<variance_and_mean>},
    {"aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
     "keepdim=False) -> (Tensor, Tensor)",
     "", kPure | kReduction, infer<variance_and_mean>},
    {"aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     "", kPure | kReduction, infer<sum>},
    {"aten::count_nonzero(Tensor self, int? dim=None) -> Tensor", "", kPure | kReduction,
     infer<arg_extremum>},
    {"aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? "
     "correction=None, bool keepdim=False) -> (Tensor, Tensor)",
     "", kPure | kReduction, infer<variance_and_mean>},
    {"aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", "",
     kPure | kReduction, infer<float_reduction>},
    {"aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool "
     "keepdim=False) -> Tensor",
     "", kPure | kReduction, infer<float_reduction>},
    {"aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", "", kPure | kReduction,
     infer<float_reduction>},
    {"aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, "
     "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     "", kPure | kReduction, infer<vector_norm>},
    {"aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool "
     "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     "", kPure | kReduction, infer<vector_norm>},
    {"aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool "
     "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     "", kPure | kReduction, infer<vector_norm>},
    {"aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] "
     "dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     "", kPure | kReduction, infer<vector_norm>},
    {"aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) "
     "-> Tensor",
     "", kPure | kReduction, infer<float_reduction>},
    {"aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", "", kPure | kReduction,
     infer<arg_extremum>},
    {"aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "aten::cumsum.out",
     kPure, infer<cumulative>},
    {"aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> "
     "Tensor",
     "", kPure, infer<cumulative>},
    {"aten::cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> "
     "Tensor(a!)",
     "", kInPlace, infer<same_as_self>, "aten::cumsum"},
    {"aten::logcumsumexp(Tensor self, int dim) -> Tensor", "", kPure, infer<logcumsumexp>},
    {"aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", "", kPure,
     infer<cumulative_extremum>},
    {"aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", "", kPure,
     infer<cumulative_extremum>},
    {"aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool "
     "sorted=True) -> (Tensor values, Tensor indices)",
     "aten::topk.values", kPure, infer<topk>},
    {"aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor "
     "values, Tensor indices)",
     "", kPure, infer<cumulative_extremum>},
    {"aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool "
     "descending=False) -> (Tensor values, Tensor indices)",
     "", kPure, infer<cumulative_extremum>},
    {"aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", "", kPure,
     infer<argsort>},
    {"aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool "
     "descending=False) -> Tensor",
     "", kPure, infer<argsort>},
    {"aten::median(Tensor self) -> Tensor", "", kPure | kReduction, infer<extremum>},
    {"aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor "
     "values, Tensor indices)",
     "", kPure | kReduction, infer<extremum_along>},
    {"aten::nonzero(Tensor self) -> Tensor", "aten::nonzero.out", kPure | kDataSized,
     infer<nonzero>},
    {"aten::argwhere(Tensor self) -> Tensor", "", kPure | kDataSized, infer<nonzero>},
    {"aten::nonzero_numpy(Tensor self) -> Tensor[]", "", kPure | kDataSized, infer<nonzero_by_dim>},
    {"aten::where(Tensor condition) -> Tensor[]", "", kPure | kDataSized, infer<nonzero_by_dim>},
    {"aten::unique_consecutive(Tensor self, bool return_inverse=False, bool "
     "return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
     "", kPure, infer<refuse_data_dependent>},
    {"aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
     "-> Tensor",
     "", kPure | kReduction, infer<mean>},
    {"aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", "",
     kPure | kReduction, infer<float_reduction>},
    {"aten::cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)", "",
     kInPlace, infer<same_as_self>, "aten::cumprod"},
    {"aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", "", kPure,
     infer<histogram>},
};

}  // namespace

absl::Span<const OpRow> reduction_ops() { return kRows; }

}  // namespace petrel::exir::rules
