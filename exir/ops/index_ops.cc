// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"
#include "exir/ops/view_rules.h"

namespace petrel::exir::rules {
namespace {

bool is_mask(const TensorType& index) {
  return index.dtype == ScalarType::kBool || index.dtype == ScalarType::kByte;
}

// A mask stands for one index for each of its dimensions: the places that are true.
absl::Status check_mask(const TensorType& mask, const TensorType& self, size_t dim) {
  if (mask.rank() == 0) return invalid("an index is a mask of rank 0");
  for (size_t i = 0; i < mask.rank(); ++i) {
    if (dim + i < self.rank() && mask.sizes[i] == self.sizes[dim + i]) continue;
    return invalid("a mask is [", absl::StrJoin(mask.sizes, ","), "], dim ", dim,
                   " on of argument 'self' is [", absl::StrJoin(self.sizes, ","), "]");
  }
  return absl::OkStatus();
}

// Sizes of self[indices]. The indexed dimensions give way to the broadcast
// sizes of the indices: at the place of the first one when they are adjacent,
// else at the front. How many places of a mask are true, data decides.
absl::StatusOr<Sizes> indexed_sizes(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const std::vector<const TensorType*> indices = in.tensors("indices");
  if (indices.size() > self.rank()) {
    return invalid("argument 'indices' has ", indices.size(), " items, must have at most ",
                   self.rank());
  }
  std::vector<Sizes> present;
  std::vector<bool> is_gone(self.rank());
  size_t first = 0, last = 0, count = 0, dim = 0;
  for (const TensorType* index : indices) {
    const bool by_mask = index != nullptr && is_mask(*index);
    const size_t dims = by_mask ? index->rank() : 1;
    if (by_mask) {
      PETREL_RETURN_IF_ERROR(check_mask(*index, self, dim));
      present.push_back({size_by_data(index->numel())});
    } else if (dim >= self.rank()) {
      return invalid("argument 'indices' names more than ", self.rank(), " dims");
    } else if (index != nullptr) {
      PETREL_RETURN_IF_ERROR(check_index_dtype(*index));
      present.push_back(index->sizes);
    }
    if (index != nullptr) {
      if (count == 0) first = dim;
      count += dims;
      last = dim + dims - 1;
      for (size_t d = dim; d <= last; ++d) is_gone[d] = true;
    }
    dim += dims;
  }
  if (present.empty()) return self.sizes;
  PETREL_ASSIGN_OR_RETURN(Sizes picked, broadcast_sizes(present));
  const bool adjacent = last - first + 1 == count;
  Sizes sizes;
  if (!adjacent) sizes = picked;
  for (size_t i = 0; i < self.rank(); ++i) {
    if (adjacent && i == first) {
      sizes.insert(sizes.end(), picked.begin(), picked.end());
    }
    if (!is_gone[i]) sizes.push_back(self.sizes[i]);
  }
  return sizes;
}

Inferred index(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, indexed_sizes(in));
  return one(in.tensor("self").dtype, std::move(sizes));
}

Inferred masked_select(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const TensorType& mask = in.tensor("mask");
  if (!is_mask(mask)) {
    return invalid("argument 'mask' is ", std::string(scalar_type_name(mask.dtype)),
                   ", must be bool");
  }
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast({&self, &mask}));
  return one(self.dtype, {size_by_data(TensorType::contiguous(self.dtype, sizes).numel())});
}

Inferred index_put(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  bool by_mask = false;
  size_t dim = 0;
  for (const TensorType* index : in.tensors("indices")) {
    if (index != nullptr && is_mask(*index)) {
      PETREL_RETURN_IF_ERROR(check_mask(*index, self, dim));
      by_mask = true;
      dim += index->rank();
      continue;
    }
    if (index != nullptr) PETREL_RETURN_IF_ERROR(check_index_dtype(*index));
    ++dim;
  }
  if (dim > self.rank()) {
    return invalid("argument 'indices' names more than ", self.rank(), " dims");
  }
  // A mask makes a choice, for which one number of any dtype will do.
  if (!by_mask) {
    if (in.tensor("values").dtype != in.tensor("self").dtype) {
      return invalid("argument 'values' is ",
                     std::string(scalar_type_name(in.tensor("values").dtype)), ", must be ",
                     std::string(scalar_type_name(in.tensor("self").dtype)));
    }
    PETREL_ASSIGN_OR_RETURN(Sizes sizes, indexed_sizes(in));
    PETREL_ASSIGN_OR_RETURN(Sizes both, broadcast_sizes({sizes, in.tensor("values").sizes}));
    if (both != sizes) {
      return invalid("argument 'values' [", absl::StrJoin(in.tensor("values").sizes, ","),
                     "] does not fit [", absl::StrJoin(sizes, ","), "]");
    }
  }
  return one(in.tensor("self"));
}

Inferred index_select(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  const TensorType& index = in.tensor("index");
  PETREL_RETURN_IF_ERROR(check_index_dtype(index));
  if (index.rank() > 1) {
    return invalid("argument 'index' has rank ", index.rank(), ", must be at most 1");
  }
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", out.rank()));
  if (out.rank() > 0) out.sizes[dim] = index.numel();
  return one(out);
}

// index_copy, index_add and index_fill: rows of self along a dim.
Inferred indexed_rows(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const TensorType& index = in.tensor("index");
  PETREL_ASSIGN_OR_RETURN(const int64_t dim, in.dim("dim", self.rank()));
  PETREL_RETURN_IF_ERROR(check_index_dtype(index));
  if (index.rank() > 1) {
    return invalid("argument 'index' has rank ", index.rank(), ", must be at most 1");
  }
  if (!in.has("source")) return one(self);
  const TensorType& source = in.tensor("source");
  Sizes wanted = self.sizes;
  if (!wanted.empty()) wanted[static_cast<size_t>(dim)] = index.numel();
  // One number may have no dimension.
  const bool is_number = source.rank() == 0 && wanted.size() < 2 && index.numel() == 1;
  if (source.dtype != self.dtype || (!is_number && source.sizes != wanted)) {
    return invalid("argument 'source' is ", std::string(scalar_type_name(source.dtype)), "[",
                   absl::StrJoin(source.sizes, ","), "], must be ",
                   std::string(scalar_type_name(self.dtype)), "[", absl::StrJoin(wanted, ","), "]");
  }
  return one(self);
}

// The mask may be larger than what it masks; other tensors take no part.
Inferred masked_fill(const BoundArguments& in) {
  if (in.tensor("value").rank() != 0) {
    return invalid("argument 'value' has rank ", in.tensor("value").rank(), ", must be 0");
  }
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast({&in.tensor("self"), &in.tensor("mask")}));
  return one(in.tensor("self").dtype, std::move(sizes));
}

Inferred masked_scatter(const BoundArguments& in) {
  const ScalarType dtype = in.tensor("source").dtype;
  if (dtype == in.tensor("self").dtype) return masked_fill(in);
  return invalid("argument 'source' is ", std::string(scalar_type_name(dtype)), ", must be ",
                 std::string(scalar_type_name(in.tensor("self").dtype)));
}

// `src` must have the sizes of the part of `self` that it replaces: eager broadcasts nothing.
Inferred replaced(const BoundArguments& in, const Inferred& part) {
  PETREL_RETURN_IF_ERROR(part.status());
  const Sizes& given = in.tensor("src").sizes;
  Sizes sizes = TensorType((*part)[0].tensor).sizes;
  // Where a slice lies that is found at run time is checked there: at a sample point it may be
  // behind the end, where nothing of it is left.
  if (in.is_sample("start") || in.is_sample("end")) {
    PETREL_ASSIGN_OR_RETURN(const int64_t dim, in.dim("dim", sizes.size()));
    const auto at = static_cast<size_t>(dim);
    if (given.size() == sizes.size() && given[at].is(1)) sizes[at] = 1;
  }
  if (given != sizes) {
    return invalid("argument 'src' is [", absl::StrJoin(given, ","), "], must be [",
                   absl::StrJoin(sizes, ","), "]");
  }
  return one(in.tensor("self"));
}

// Eager converts `src` to the dtype of `self`, which no kernel does.
Inferred replaced_alike(const BoundArguments& in, const Inferred& part) {
  const ScalarType given = in.tensor("src").dtype;
  if (given == in.tensor("self").dtype) return replaced(in, part);
  return invalid("argument 'src' is ", std::string(scalar_type_name(given)), ", must be ",
                 std::string(scalar_type_name(in.tensor("self").dtype)));
}

Inferred select_scatter(const BoundArguments& in) { return replaced_alike(in, select(in)); }

Inferred slice_scatter(const BoundArguments& in) { return replaced_alike(in, slice(in)); }

Inferred diagonal_scatter(const BoundArguments& in) { return replaced(in, diagonal(in)); }

Inferred embedding(const BoundArguments& in) {
  const TensorType& weight = in.tensor("weight");
  const TensorType& indices = in.tensor("indices");
  PETREL_RETURN_IF_ERROR(check_index_dtype(indices));
  if (weight.rank() != 2) {
    return invalid("argument 'weight' has rank ", weight.rank(), ", must be 2");
  }
  Sizes sizes = indices.sizes;
  sizes.push_back(weight.sizes[1]);
  return one(weight.dtype, std::move(sizes));
}

// The bags; of which bag each row is, how many rows each has, and which row
// its largest elements come from. The last three are for gradients: torch leaves
// the second empty where it does not need it.
Inferred embedding_bag(const BoundArguments& in) {
  const TensorType& weight = in.tensor("weight");
  const TensorType& indices = in.tensor("indices");
  const TensorType& offsets = in.tensor("offsets");
  PETREL_RETURN_IF_ERROR(check_index_dtype(indices));
  PETREL_RETURN_IF_ERROR(check_index_dtype(offsets));
  if (weight.rank() != 2 || indices.rank() != 1 || offsets.rank() != 1) {
    return invalid("arguments 'weight', 'indices' and 'offsets' have ranks ", weight.rank(), ", ",
                   indices.rank(), " and ", offsets.rank(), ", must be 2, 1 and 1");
  }
  if (in.given("per_sample_weights") && in.tensor("per_sample_weights").sizes != indices.sizes) {
    return invalid("argument 'per_sample_weights' is [",
                   absl::StrJoin(in.tensor("per_sample_weights").sizes, ","), "], must be [",
                   indices.sizes[0], "]");
  }
  const int64_t mode = in.integer("mode");
  if (mode < 0 || mode > 2) {
    return invalid("argument 'mode' is ", mode, ", must be in [0, 2]");
  }
  const Size bags = offsets.sizes[0] - (in.flag("include_last_offset") ? 1 : 0);
  if (bags < 0) return invalid("argument 'offsets' is empty");
  const bool has_padding = in.given("padding_idx") && in.integer("padding_idx") >= 0;
  const bool is_plain_sum =
      mode == 0 && !has_padding &&
      (weight.dtype == ScalarType::kFloat || weight.dtype == ScalarType::kHalf);
  Sizes largest = {bags};
  if (mode == 2) largest.push_back(weight.sizes[1]);
  const ScalarType dtype = offsets.dtype;
  return std::vector<Type>{
      TensorType::contiguous(weight.dtype, {bags, weight.sizes[1]}),
      TensorType::contiguous(dtype, {is_plain_sum ? Size(0) : indices.sizes[0]}),
      TensorType::contiguous(dtype, {bags}), TensorType::contiguous(dtype, std::move(largest))};
}

Inferred take(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_index_dtype(in.tensor("index")));
  return one(in.tensor("self").dtype, in.tensor("index").sizes);
}

Inferred take_along_dim(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  const TensorType& indices = in.tensor("indices");
  PETREL_RETURN_IF_ERROR(check_index_dtype(indices));
  if (!in.given("dim")) return one(self.dtype, {indices.numel()});
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", self.rank()));
  if (indices.rank() != self.rank() || self.rank() == 0) {
    return invalid("argument 'indices' has rank ", indices.rank(), ", must be ", self.rank());
  }
  Sizes open = self.sizes;
  open[dim] = indices.sizes[dim];
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast_sizes({open, indices.sizes}));
  return one(self.dtype, std::move(sizes));
}

Inferred one_hot(const BoundArguments& in) {
  const Size classes = in.integer("num_classes");
  if (classes < 1) return refuse_data_dependent(in);
  Sizes sizes = in.tensor("self").sizes;
  sizes.push_back(classes);
  return one(ScalarType::kLong, std::move(sizes));
}

Inferred bucketize(const BoundArguments& in) {
  if (in.has("boundaries") && in.tensor("boundaries").rank() != 1) {
    return invalid("argument 'boundaries' has rank ", in.tensor("boundaries").rank(),
                   ", must be 1");
  }
  if (const TensorType& rows = in.tensor("sorted_sequence"); in.has("sorted_sequence")) {
    const Sizes& self = in.tensor("self").sizes;
    // One row for all, or one for each row of self.
    const bool fits =
        rows.rank() == 1 || (rows.rank() == self.size() && rows.rank() > 1 &&
                             std::equal(self.begin(), self.end() - 1, rows.sizes.begin()));
    if (!fits) {
      return invalid("argument 'sorted_sequence' is [", absl::StrJoin(rows.sizes, ","),
                     "], which does not fit [", absl::StrJoin(self, ","), "]");
    }
  }
  return one(in.flag("out_int32") ? ScalarType::kInt : ScalarType::kLong, in.tensor("self").sizes);
}

Inferred isin(const BoundArguments& in) {
  return one(ScalarType::kBool, in.tensor("elements").sizes);
}

constexpr OpRow kRows[] = {
    {"aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", "aten::index.Tensor_out",
     kPure | kDataSized, infer<index>},
    {"aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
     "aten::index.Tensor_out", kPure | kDataSized, infer<index>},
    {"aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
     "accumulate=False) -> Tensor",
     "aten::index_put.out", kPure, infer<index_put>},
    {"aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, "
     "bool accumulate=False) -> Tensor(a!)",
     "", kInPlace, infer<index_put>, "aten::index_put"},
    {"aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, "
     "bool accumulate=False) -> Tensor",
     "", kPure, infer<index_put>},
    {"aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", "aten::index_select.out",
     kPure, infer<index_select>},
    {"aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> "
     "Tensor",
     "", kPure, infer<indexed_rows>},
    {"aten::index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor "
     "source) -> Tensor(a!)",
     "", kInPlace, infer<indexed_rows>, "aten::index_copy"},
    {"aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, "
     "Scalar alpha=1) -> Tensor",
     "", kPure, infer<indexed_rows>},
    {"aten::index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, "
     "*, Scalar alpha=1) -> Tensor(a!)",
     "", kInPlace, infer<indexed_rows>, "aten::index_add"},
    {"aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar "
     "value) -> Tensor",
     "", kPure, infer<indexed_rows>},
    {"aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", "",
     kPure, infer<indexed_rows>},
    {"aten::index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> "
     "Tensor(a!)",
     "", kInPlace, infer<indexed_rows>, "aten::index_fill.int_Tensor"},
    {"aten::index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, "
     "Scalar value) -> Tensor(a!)",
     "", kInPlace, infer<indexed_rows>, "aten::index_fill.int_Scalar"},
    {"aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> "
     "Tensor",
     "aten::masked_fill.Scalar_out", kPure | kElementwise, infer<masked_fill>},
    {"aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> "
     "Tensor",
     "", kPure | kElementwise, infer<masked_fill>},
    {"aten::masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) "
     "-> Tensor(a!)",
     "", kInPlace, infer<same_as_self>, "aten::masked_fill.Scalar"},
    {"aten::masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) "
     "-> Tensor(a!)",
     "", kInPlace, infer<same_as_self>, "aten::masked_fill.Tensor"},
    {"aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
     "aten::masked_scatter.out", kPure, infer<masked_scatter>},
    {"aten::masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> "
     "Tensor(a!)",
     "", kInPlace, infer<same_as_self>, "aten::masked_scatter"},
    {"aten::masked_select(Tensor self, Tensor mask) -> Tensor", "aten::masked_select.out",
     kPure | kDataSized, infer<masked_select>},
    {"aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> "
     "Tensor",
     "aten::select_scatter.out", kPure, infer<select_scatter>},
    {"aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? "
     "start=None, SymInt? end=None, SymInt step=1) -> Tensor",
     "aten::slice_scatter.out", kPure, infer<slice_scatter>},
    {"aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int "
     "dim1=0, int dim2=1) -> Tensor",
     "", kPure, infer<diagonal_scatter>},
    {"aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, "
     "SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
     "", kPure, infer<same_as_self>},
    {"aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
     "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
     "aten::embedding.out", kPure, infer<embedding>},
    {"aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, "
     "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
     "per_sample_weights=None, bool include_last_offset=False) -> (Tensor, "
     "Tensor, Tensor, Tensor)",
     "", kPure, infer<embedding_bag>},
    {"aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor "
     "offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? "
     "per_sample_weights, bool include_last_offset, int? padding_idx) -> "
     "(Tensor, Tensor, Tensor, Tensor)",
     "", kPure, infer<embedding_bag>},
    {"aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, "
     "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
     "per_sample_weights=None, bool include_last_offset=False, int "
     "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
     "", kPure, infer<embedding_bag>},
    {"aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, "
     "Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool "
     "sparse=False, Tensor? per_sample_weights=None, bool "
     "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, "
     "Tensor, Tensor)",
     "", kPure, infer<embedding_bag>},
    {"aten::take(Tensor self, Tensor index) -> Tensor", "", kPure, infer<take>},
    {"aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> "
     "Tensor",
     "", kPure, infer<take_along_dim>},
    {"aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, "
     "str reduce, *, bool include_self=True) -> Tensor",
     "", kPure, infer<indexed_rows>},
    {"aten::index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor "
     "source, str reduce, *, bool include_self=True) -> Tensor(a!)",
     "", kInPlace, infer<indexed_rows>, "aten::index_reduce"},
    {"aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", "", kPure, infer<one_hot>},
    {"aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool "
     "out_int32=False, bool right=False) -> Tensor",
     "", kPure, infer<bucketize>},
    {"aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool "
     "out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) "
     "-> Tensor",
     "", kPure, infer<bucketize>},
    {"aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool "
     "assume_unique=False, bool invert=False) -> Tensor",
     "", kPure, infer<isin>},
    {"aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, "
     "bool invert=False) -> Tensor",
     "", kPure, infer<isin>},
};

}  // namespace

absl::Span<const OpRow> index_ops() { return kRows; }

}  // namespace petrel::exir::rules
