// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/rule.h"
#include "exir/ops/view_rules.h"

namespace petrel::exir::rules {
namespace {

Inferred cast(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  return one(in.dtype("dtype").value_or(self.dtype), self.sizes);
}

Inferred cast_like(const BoundArguments& in) {
  return one(in.tensor("other").dtype, in.tensor("self").sizes);
}

Inferred copy(const BoundArguments& in) { return in_place_elementwise(in); }

constexpr OpRow kRows[] = {
    {"aten::view_copy(Tensor self, SymInt[] size) -> Tensor", "aten::view_copy.out", kPure,
     infer<reshape>, "aten::view"},
    {"aten::permute_copy(Tensor self, int[] dims) -> Tensor", "aten::permute_copy.out", kPure,
     infer<permute>, "aten::permute"},
    {"aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor",
     "aten::transpose_copy.int_out", kPure, infer<transpose>, "aten::transpose.int"},
    {"aten::t_copy(Tensor self) -> Tensor", "aten::t_copy.out", kPure, infer<matrix_transpose>,
     "aten::t"},
    {"aten::squeeze_copy(Tensor self) -> Tensor", "", kPure, infer<squeeze>, "aten::squeeze"},
    {"aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor", "aten::squeeze_copy.dim_out", kPure,
     infer<squeeze>, "aten::squeeze.dim"},
    {"aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", "aten::squeeze_copy.dims_out",
     kPure, infer<squeeze>, "aten::squeeze.dims"},
    {"aten::unsqueeze_copy(Tensor self, int dim) -> Tensor", "aten::unsqueeze_copy.out", kPure,
     infer<unsqueeze>, "aten::unsqueeze"},
    {"aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) "
     "-> Tensor",
     "aten::expand_copy.out", kPure, infer<expand>, "aten::expand"},
    {"aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, "
     "SymInt? end=None, SymInt step=1) -> Tensor",
     "aten::slice_copy.Tensor_out", kPure, infer<slice>, "aten::slice.Tensor"},
    {"aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor",
     "aten::select_copy.int_out", kPure, infer<select>, "aten::select.int"},
    {"aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> "
     "Tensor",
     "aten::narrow_copy.out", kPure, infer<narrow>, "aten::narrow"},
    {"aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) "
     "-> Tensor",
     "aten::diagonal_copy.out", kPure, infer<diagonal>, "aten::diagonal"},
    {"aten::unfold_copy(Tensor self, int dimension, int size, int step) -> "
     "Tensor",
     "aten::unfold_copy.out", kPure, infer<unfold>, "aten::unfold"},
    {"aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, "
     "SymInt? storage_offset=None) -> Tensor",
     "aten::as_strided_copy.out", kPure, infer<as_strided>, "aten::as_strided"},
    {"aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> "
     "Tensor[]",
     "aten::split_copy.Tensor_out", kPure, infer<split>, "aten::split.Tensor"},
    {"aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int "
     "dim=0) -> Tensor[]",
     "aten::split_with_sizes_copy.out", kPure, infer<split_with_sizes>, "aten::split_with_sizes"},
    {"aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", "aten::unbind_copy.int_out",
     kPure, infer<unbind>, "aten::unbind.int"},
    {"aten::alias_copy(Tensor self) -> Tensor", "aten::alias_copy.out", kPure | kIdentity,
     infer<unary_same>, "aten::alias"},
    {"aten::detach_copy(Tensor self) -> Tensor", "aten::detach_copy.out", kPure | kIdentity,
     infer<unary_same>, "aten::detach"},
    {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "aten::clone.out",
     kPure | kElementwise | kIdentity, infer<unary_same>},
    {"aten::lift_fresh_copy(Tensor self) -> Tensor", "aten::lift_fresh_copy.out",
     kPure | kElementwise | kIdentity, infer<unary_same>, "aten::lift_fresh"},
    {"aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, bool "
     "non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
     "aten::_to_copy.out", kPure | kElementwise, infer<cast>},
    {"aten::to.dtype(Tensor(a) self, ScalarType dtype, bool "
     "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "
     "-> Tensor(a)",
     "", kPure | kView | kElementwise, infer<cast>},
    {"aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None, bool "
     "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "
     "-> Tensor(a)",
     "", kPure | kView | kElementwise, infer<cast>},
    {"aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool "
     "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "
     "-> Tensor(a)",
     "", kPure | kView | kElementwise, infer<cast>},
    {"aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, "
     "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
     "", kPure | kView | kElementwise, infer<cast_like>},
    {"aten::type_as(Tensor self, Tensor other) -> Tensor", "", kPure | kView | kElementwise,
     infer<cast_like>},
    {"aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", "aten::copy.out",
     kPure | kElementwise, infer<copy>},
    {"aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::copy"},
};

}  // namespace

absl::Span<const OpRow> copy_ops() { return kRows; }

}  // namespace petrel::exir::rules
