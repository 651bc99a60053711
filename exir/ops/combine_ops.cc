// SPDX-License-Identifier: Apache-2.0
//
// Tensors made of all pairs, places or parts of others, and statistics of elements in order.
// They exist in programs only: each is written as others before anything runs.
#include <algorithm>
#include <string>
#include <utility>

#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// As far as a table of places may go.
constexpr int64_t kMostPlaces = int64_t{1} << 25;

Inferred block_diag(const BoundArguments& in) {
  Size rows = 0;
  Size columns = 0;
  for (const TensorType* block : in.tensors("tensors")) {
    if (block == nullptr || block->rank() > 2) {
      return invalid("argument 'tensors' has one of rank ", block == nullptr ? 0 : block->rank(),
                     ", must be at most 2");
    }
    rows += block->rank() == 2 ? block->sizes[0] : Size(1);
    columns += block->rank() == 0 ? Size(1) : block->sizes.back();
  }
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promoted_dtype(in));
  return one(dtype, {rows, columns});
}

Inferred cartesian_prod(const BoundArguments& in) {
  const std::vector<const TensorType*> lines = in.tensors("tensors");
  Size rows = 1;
  for (const TensorType* line : lines) {
    if (line == nullptr || line->rank() != 1 || line->dtype != lines[0]->dtype) {
      return invalid("argument 'tensors' must be lines of one dtype");
    }
    rows *= line->sizes[0];
  }
  if (lines.empty()) return invalid("argument 'tensors' is empty");
  if (lines.size() == 1) return one(*lines[0]);
  return one(lines[0]->dtype, {rows, lines.size()});
}

Inferred kron(const BoundArguments& in) {
  Sizes a = in.tensor("self").sizes;
  Sizes b = in.tensor("other").sizes;
  const size_t rank = std::max(a.size(), b.size());
  // Each dim becomes two on the way.
  if (rank > kMaxRank / 2) {
    return invalid("arguments have rank ", rank, ", must be at most ", kMaxRank / 2);
  }
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  for (size_t i = 0; i < rank; ++i) a[i] *= b[i];
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promoted_dtype(in));
  return one(dtype, std::move(a));
}

Inferred diagflat(const BoundArguments& in) {
  const int64_t shift = in.integer("offset");
  if (shift < -(int64_t{1} << 30) || shift > int64_t{1} << 30) {
    return invalid("argument 'offset' is ", shift, ", must be within 2^30");
  }
  const Size size = in.tensor("self").numel() + std::abs(shift);
  return one(in.tensor("self").dtype, {size, size});
}

// The sum of clamp(row + shift, 0, columns) over all rows: first none, then one more each, then
// all. Not walked: an archive may ask for 2^25 rows of no columns in each of its calls.
int64_t left_of_diagonal(int64_t rows, int64_t columns, int64_t shift) {
  const int64_t some = std::clamp<int64_t>(-shift, 0, rows);
  const int64_t all = std::clamp<int64_t>(columns - shift, some, rows);
  return (all - some) * (some + shift + all - 1 + shift) / 2 + (rows - all) * columns;
}

// The places on and below a diagonal, or on and above one.
Inferred triangle_indices(const BoundArguments& in) {
  const int64_t rows = in.integer("row");
  const int64_t columns = in.integer("col");
  const int64_t shift = in.integer("offset");
  if (rows < 0 || columns < 0 || rows > kMostPlaces || columns > kMostPlaces ||
      shift < -2 * kMostPlaces || shift > 2 * kMostPlaces) {
    return invalid("a matrix of ", rows, " x ", columns, " and 'offset' ", shift,
                   ", must be within ", kMostPlaces);
  }
  const int64_t count = in.op().name == "aten::tril_indices"
                            ? left_of_diagonal(rows, columns, shift + 1)
                            : rows * columns - left_of_diagonal(rows, columns, shift);
  if (count > kMostPlaces) return invalid("there are ", count, " places, at most ", kMostPlaces);
  return one(in.dtype("dtype").value_or(ScalarType::kLong), {2, count});
}

Inferred quantile(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.dtype != ScalarType::kFloat && self.dtype != ScalarType::kDouble) {
    return invalid("argument 'self' is ", std::string(scalar_type_name(self.dtype)),
                   ", must be float or double");
  }
  const std::string how = in.text("interpolation");
  if (how != "linear" && how != "lower" && how != "higher" && how != "midpoint" &&
      how != "nearest") {
    return invalid("argument 'interpolation' is '", how,
                   "', must be linear, lower, higher, midpoint or nearest");
  }
  const bool is_tensor = in.op().overload.empty();
  if (is_tensor && (in.tensor("q").rank() > 1 || in.tensor("q").dtype != self.dtype)) {
    return invalid("argument 'q' must be of one dim at most and have the dtype of 'self'");
  }
  if (!is_tensor && !(in.number("q") >= 0 && in.number("q") <= 1)) {
    return invalid("argument 'q' is ", in.number("q"), ", must be in [0, 1]");
  }
  Sizes sizes = self.sizes;
  const bool keeps = in.flag("keepdim");
  if (!in.given("dim")) {
    if (self.numel() == 0) return invalid("argument 'self' has no elements");
    sizes.assign(keeps ? self.rank() : 0, 1);
  } else {
    PETREL_ASSIGN_OR_RETURN(const int64_t dim, in.dim("dim", self.rank()));
    if (!sizes.empty() && sizes[static_cast<size_t>(dim)] == 0) {
      return invalid("argument 'self' has no elements along dim ", dim);
    }
    if (!sizes.empty() && keeps) {
      sizes[static_cast<size_t>(dim)] = 1;
    } else if (!sizes.empty()) {
      sizes.erase(sizes.begin() + dim);
    }
  }
  if (is_tensor && in.tensor("q").rank() == 1) sizes.insert(sizes.begin(), in.tensor("q").sizes[0]);
  return one(self.dtype, std::move(sizes));
}

Inferred dist(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(broadcast(in.all_tensors()).status());
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promoted_dtype(in));
  if (!is_floating_point(dtype)) {
    return invalid("arguments are ", std::string(scalar_type_name(dtype)), ", must be of floats");
  }
  return one(dtype, {});
}

Inferred renorm(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() < 2 || !is_floating_point(self.dtype)) {
    return invalid("argument 'self' must be of floats and two dims at least");
  }
  PETREL_RETURN_IF_ERROR(in.dim("dim", self.rank()).status());
  if (!(in.number("p") > 0)) {
    return invalid("argument 'p' is ", in.number("p"), ", must be above 0");
  }
  if (!(in.number("maxnorm") >= 0)) {
    return invalid("argument 'maxnorm' is ", in.number("maxnorm"), ", must be at least 0");
  }
  return one(self);
}

Inferred sum_to_size(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  Sizes sizes = in.ints("size");
  if (sizes.size() > self.rank()) {
    return invalid("argument 'size' has ", sizes.size(), " items, must have at most ", self.rank());
  }
  // To no dims is a sum of all, even of one element.
  bool is_summed = sizes.empty() || sizes.size() < self.rank();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Size& whole = self.sizes[self.rank() - sizes.size() + i];
    if (sizes[i] == whole) continue;
    if (sizes[i] != 1) {
      return invalid("argument 'size' is ", sizes[i], " for a dim of ", whole,
                     ", must be that or 1");
    }
    is_summed = true;
  }
  const bool is_wide = is_summed && !is_floating_point(self.dtype);
  return one(is_wide ? ScalarType::kLong : self.dtype, std::move(sizes));
}

constexpr OpRow kRows[] = {
    {"aten::block_diag(Tensor[] tensors) -> Tensor", "", kPure, infer<block_diag>},
    {"aten::cartesian_prod(Tensor[] tensors) -> Tensor", "", kPure, infer<cartesian_prod>},
    {"aten::kron(Tensor self, Tensor other) -> Tensor", "", kPure, infer<kron>},
    {"aten::diagflat(Tensor self, int offset=0) -> Tensor", "", kPure, infer<diagflat>},
    {"aten::tril_indices(int row, int col, int offset=0, *, ScalarType? "
     "dtype=4, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     "", kPure, infer<triangle_indices>},
    {"aten::triu_indices(int row, int col, int offset=0, *, ScalarType? "
     "dtype=4, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     "", kPure, infer<triangle_indices>},
    {"aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, "
     "*, str interpolation=\"linear\") -> Tensor",
     "", kPure, infer<quantile>},
    {"aten::quantile.scalar(Tensor self, float q, int? dim=None, bool "
     "keepdim=False, *, str interpolation=\"linear\") -> Tensor",
     "", kPure, infer<quantile>},
    {"aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool "
     "keepdim=False, *, str interpolation=\"linear\") -> Tensor",
     "", kPure, infer<quantile>},
    {"aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool "
     "keepdim=False, *, str interpolation=\"linear\") -> Tensor",
     "", kPure, infer<quantile>},
    {"aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", "", kPure, infer<dist>},
    {"aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", "", kPure,
     infer<renorm>},
    {"aten::renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)", "",
     kInPlace, infer<renorm>, "aten::renorm"},
    {"aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor", "", kPure, infer<sum_to_size>},
};

}  // namespace

absl::Span<const OpRow> combine_ops() { return kRows; }

}  // namespace petrel::exir::rules
