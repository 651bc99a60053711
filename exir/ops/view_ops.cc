// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_join.h"
#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"
#include "exir/ops/view_rules.h"

namespace petrel::exir::rules {
namespace {

Inferred view_as_dtype(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  const auto dtype = in.dtype("dtype").value_or(out.dtype);
  if (item_size(dtype) != item_size(out.dtype)) {
    return invalid("a view of ", std::string(scalar_type_name(out.dtype)), " as ",
                   std::string(scalar_type_name(dtype)), " changes the element size");
  }
  out.dtype = dtype;
  return one(out);
}

Inferred like_other_sizes(const BoundArguments& in) {
  return reshaped(in.tensor("self"), in.tensor("other").sizes);
}

Inferred flatten(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t start, in.dim("start_dim", self.rank()));
  PETREL_ASSIGN_OR_RETURN(int64_t end, in.dim("end_dim", self.rank()));
  if (start > end) {
    return invalid("argument 'start_dim' is ", start, ", behind 'end_dim' ", end);
  }
  if (self.rank() == 0) return one(self.dtype, {1});
  Sizes middle(self.sizes.begin() + start, self.sizes.begin() + end + 1);
  Sizes sizes(self.sizes.begin(), self.sizes.begin() + start);
  sizes.push_back(TensorType::contiguous(self.dtype, middle).numel());
  sizes.insert(sizes.end(), self.sizes.begin() + end + 1, self.sizes.end());
  return one(self.dtype, std::move(sizes));
}

Inferred unflatten(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() == 0) return invalid("argument 'self' has no dimension");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", self.rank()));
  PETREL_ASSIGN_OR_RETURN(Sizes inner, resolve_sizes(self.sizes[dim], in.ints("sizes")));
  Sizes sizes = self.sizes;
  sizes.erase(sizes.begin() + dim);
  sizes.insert(sizes.begin() + dim, inner.begin(), inner.end());
  return one(self.dtype, std::move(sizes));
}

Inferred ravel(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  return one(self.dtype, {self.numel()});
}

Inferred reverse_dims(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  std::reverse(out.sizes.begin(), out.sizes.end());
  return one(out);
}

Inferred last_two_transposed(const BoundArguments& in) {
  TensorType out = in.tensor("self");
  if (out.rank() < 2) {
    return invalid("argument 'self' has rank ", out.rank(), ", must be at least 2");
  }
  std::swap(out.sizes[out.rank() - 1], out.sizes[out.rank() - 2]);
  return one(out);
}

Inferred move_dims(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(Sizes from, in.dims("source", self.rank()));
  PETREL_ASSIGN_OR_RETURN(Sizes to, in.dims("destination", self.rank()));
  if (from.size() != to.size()) {
    return invalid("argument 'source' has ", from.size(), " items, 'destination' ", to.size());
  }
  if (self.rank() == 0) return one(self);
  Sizes sizes(self.rank(), -1);
  for (size_t i = 0; i < from.size(); ++i) sizes[to[i]] = self.sizes[from[i]];
  size_t next = 0;
  for (size_t i = 0; i < self.rank(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    if (std::find(from.begin(), from.end(), dim) != from.end()) continue;
    while (sizes[next] >= 0) ++next;
    sizes[next] = self.sizes[i];
  }
  return one(self.dtype, std::move(sizes));
}

Inferred expand_as(const BoundArguments& in) {
  return expanded(in.tensor("self"), in.tensor("other").sizes);
}

Inferred chunk(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", self.rank()));
  if (self.rank() == 0) return invalid("argument 'self' has no dimension");
  const int64_t chunks = in.integer("chunks");
  if (chunks < 1 || chunks > kMaxListResults) {
    return invalid("argument 'chunks' is ", chunks, ", must be in [1, ", kMaxListResults, "]");
  }
  const Size size = self.sizes[dim];
  if (size == 0) return split_into(self, dim, Sizes(chunks, 0));
  return split_evenly(self, dim, (size + chunks - 1) / chunks);
}

// Into equal sections, or between indices.
Inferred split_along(const BoundArguments& in, int64_t dim) {
  const TensorType& self = in.tensor("self");
  const Size size = self.sizes[dim];
  Sizes parts;
  if (in.has("sections")) {
    const int64_t sections = in.integer("sections");
    if (sections < 1 || sections > kMaxListResults) {
      return invalid("argument 'sections' is ", sections, ", must be in [1, ", kMaxListResults,
                     "]");
    }
    for (int64_t i = 0; i < sections; ++i) {
      // The first ones are larger by one where it does not divide.
      parts.push_back(floor_divide(size + (sections - 1 - i), sections));
    }
  } else {
    Size start = 0;
    for (const Size& end : in.ints("indices")) {
      const Size stop = clamp_index(end, size);
      parts.push_back(largest(stop - start, 0));
      start = stop;
    }
    parts.push_back(size - start);
  }
  return split_into(self, dim, parts);
}

Inferred tensor_split(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", self.rank()));
  if (self.rank() == 0) return invalid("argument 'self' has no dimension");
  return split_along(in, dim);
}

// hsplit, vsplit, dsplit: along a dim that the name tells, of tensors of at least `kRank`
// dims. A vector is split along its only one.
template <size_t kDim, size_t kRank>
Inferred named_split(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() < kRank) {
    return invalid("argument 'self' has rank ", self.rank(), ", must be at least ", kRank);
  }
  const size_t dim = kDim < self.rank() ? kDim : 0;
  const int64_t sections = in.has("sections") ? in.integer("sections") : Size(1);
  if (sections > 0 && self.sizes[dim] % sections != 0) {
    return invalid("argument 'sections' is ", sections, ", which does not divide dim ", dim,
                   " of size ", self.sizes[dim]);
  }
  return split_along(in, static_cast<int64_t>(dim));
}

constexpr OpRow kRows[] = {
    {"aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", "aten::view_copy.out", kPure | kView,
     infer<reshape>},
    {"aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", "", kPure | kView,
     infer<view_as_dtype>},
    {"aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", "aten::view_copy.out", kPure,
     infer<reshape>},
    {"aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> "
     "Tensor(a)",
     "", kPure | kView, infer<reshape>},
    {"aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", "aten::view_copy.out",
     kPure | kView, infer<reshape>},
    {"aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", "", kPure | kView,
     infer<like_other_sizes>},
    {"aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", "", kPure | kView,
     infer<like_other_sizes>},
    {"aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int "
     "end_dim=-1) -> Tensor(a)",
     "", kPure | kView, infer<flatten>},
    {"aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> "
     "Tensor(a)",
     "", kPure | kView, infer<unflatten>},
    {"aten::ravel(Tensor(a) self) -> Tensor(a)", "", kPure | kView, infer<ravel>},
    {"aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", "aten::permute_copy.out",
     kPure | kView, infer<permute>},
    {"aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
     "aten::transpose_copy.int_out", kPure | kView, infer<transpose>},
    {"aten::transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", "", kInPlace | kView,
     infer<transpose>, "aten::transpose.int"},
    {"aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
     "aten::transpose_copy.int_out", kPure | kView, infer<transpose>},
    {"aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
     "aten::transpose_copy.int_out", kPure | kView, infer<transpose>},
    {"aten::t(Tensor(a) self) -> Tensor(a)", "aten::t_copy.out", kPure | kView,
     infer<matrix_transpose>},
    {"aten::t_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace | kView, infer<matrix_transpose>,
     "aten::t"},
    {"aten::numpy_T(Tensor(a) self) -> Tensor(a)", "", kPure | kView, infer<reverse_dims>},
    {"aten::mT(Tensor(a) self) -> Tensor(a)", "", kPure | kView, infer<last_two_transposed>},
    {"aten::mH(Tensor(a) self) -> Tensor(a)", "", kPure | kView, infer<last_two_transposed>},
    {"aten::matrix_H(Tensor(a) self) -> Tensor(a)", "", kPure | kView, infer<last_two_transposed>},
    {"aten::adjoint(Tensor(a) self) -> Tensor(a)", "", kPure | kView, infer<last_two_transposed>},
    {"aten::movedim.int(Tensor(a) self, int source, int destination) -> "
     "Tensor(a)",
     "", kPure | kView, infer<move_dims>},
    {"aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) "
     "-> Tensor(a)",
     "", kPure | kView, infer<move_dims>},
    {"aten::moveaxis.int(Tensor(a) self, int source, int destination) -> "
     "Tensor(a)",
     "", kPure | kView, infer<move_dims>},
    {"aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", "",
     kPure | kView, infer<move_dims>},
    {"aten::squeeze(Tensor(a) self) -> Tensor(a)", "", kPure | kView, infer<squeeze>},
    {"aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", "aten::squeeze_copy.dim_out",
     kPure | kView, infer<squeeze>},
    {"aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", "aten::squeeze_copy.dims_out",
     kPure | kView, infer<squeeze>},
    {"aten::squeeze_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace | kView, infer<squeeze>,
     "aten::squeeze"},
    {"aten::squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", "", kInPlace | kView,
     infer<squeeze>, "aten::squeeze.dim"},
    {"aten::squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", "", kInPlace | kView,
     infer<squeeze>, "aten::squeeze.dims"},
    {"aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", "aten::unsqueeze_copy.out",
     kPure | kView, infer<unsqueeze>},
    {"aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", "", kInPlace | kView,
     infer<unsqueeze>, "aten::unsqueeze"},
    {"aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> "
     "Tensor(a)",
     "aten::expand_copy.out", kPure | kView, infer<expand>},
    {"aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", "", kPure | kView,
     infer<expand_as>},
    {"aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", "", kPure | kView,
     infer<expand>},
    {"aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, "
     "SymInt? end=None, SymInt step=1) -> Tensor(a)",
     "aten::slice_copy.Tensor_out", kPure | kView, infer<slice>},
    {"aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
     "aten::select_copy.int_out", kPure | kView, infer<select>},
    {"aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> "
     "Tensor(a)",
     "aten::narrow_copy.out", kPure | kView, infer<narrow>},
    {"aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> "
     "Tensor(a)",
     "aten::diagonal_copy.out", kPure | kView, infer<diagonal>},
    {"aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
     "", kPure | kView, infer<diagonal>},
    {"aten::unfold(Tensor(a) self, int dimension, int size, int step) -> "
     "Tensor(a)",
     "aten::unfold_copy.out", kPure | kView, infer<unfold>},
    {"aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, "
     "SymInt? storage_offset=None) -> Tensor(a)",
     "aten::as_strided_copy.out", kPure | kView, infer<as_strided>},
    {"aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) "
     "-> Tensor(a)[]",
     "aten::split_copy.Tensor_out", kPure | kView, infer<split>},
    {"aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) "
     "-> Tensor(a)[]",
     "aten::split_with_sizes_copy.out", kPure | kView, infer<split_with_sizes>},
    {"aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int "
     "dim=0) -> Tensor(a)[]",
     "aten::split_with_sizes_copy.out", kPure | kView, infer<split_with_sizes>},
    {"aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> "
     "Tensor[]",
     "aten::split_copy.Tensor_out", kPure, infer<split>},
    {"aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int "
     "dim=0) -> Tensor[]",
     "aten::split_with_sizes_copy.out", kPure, infer<split_with_sizes>},
    {"aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", "", kPure | kView,
     infer<chunk>},
    {"aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", "", kPure, infer<chunk>},
    {"aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int "
     "dim=0) -> Tensor(a)[]",
     "", kPure | kView, infer<tensor_split>},
    {"aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int "
     "dim=0) -> Tensor(a)[]",
     "", kPure | kView, infer<tensor_split>},
    {"aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "", kPure | kView,
     infer<named_split<1, 1>>},
    {"aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", "", kPure | kView,
     infer<named_split<1, 1>>},
    {"aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "", kPure | kView,
     infer<named_split<0, 2>>},
    {"aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", "", kPure | kView,
     infer<named_split<0, 2>>},
    {"aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", "", kPure | kView,
     infer<named_split<2, 3>>},
    {"aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", "", kPure | kView,
     infer<named_split<2, 3>>},
    {"aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", "aten::unbind_copy.int_out",
     kPure | kView, infer<unbind>},
    {"aten::alias(Tensor(a) self) -> Tensor(a)", "aten::alias_copy.out", kPure | kView | kIdentity,
     infer<unary_same>},
    {"aten::detach(Tensor(a) self) -> Tensor(a)", "aten::detach_copy.out",
     kPure | kView | kIdentity, infer<unary_same>},
    {"aten::detach_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace | kView | kIdentity,
     infer<unary_same>, "aten::detach"},
    {"aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> "
     "Tensor(a)",
     "", kPure | kView | kIdentity, infer<unary_same>},
    {"aten::lift(Tensor self) -> Tensor", "", kPure | kView | kIdentity, infer<unary_same>},
    {"aten::lift_fresh(Tensor(a) self) -> Tensor(a)", "", kPure | kView | kIdentity,
     infer<unary_same>},
    {"aten::requires_grad_(Tensor(a!) self, bool requires_grad=True) -> "
     "Tensor(a!)",
     "", kInPlace | kView | kIdentity, infer<unary_same>},
    {"aten::resolve_conj(Tensor(a) self) -> Tensor(a)", "", kPure | kView | kIdentity,
     infer<unary_same>},
    {"aten::resolve_neg(Tensor(a) self) -> Tensor(a)", "", kPure | kView | kIdentity,
     infer<unary_same>},
    {"aten::real(Tensor(a) self) -> Tensor(a)", "", kPure | kView | kIdentity, infer<unary_same>},
};

}  // namespace

absl::Span<const OpRow> view_ops() { return kRows; }

}  // namespace petrel::exir::rules
