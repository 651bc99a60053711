// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

Inferred no_results(const BoundArguments&) { return std::vector<Type>(); }

Inferred integer(const Size& value) { return std::vector<Type>{Type::integer(value.expression())}; }

Inferred size_of_dim(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() == 0) return invalid("argument 'self' has no dimension");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", self.rank()));
  return integer(self.sizes[static_cast<size_t>(dim)]);
}

Inferred stride_of_dim(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.rank() == 0) return invalid("argument 'self' has no dimension");
  PETREL_ASSIGN_OR_RETURN(int64_t dim, in.dim("dim", self.rank()));
  Size stride = 1;
  for (size_t i = static_cast<size_t>(dim) + 1; i < self.rank(); ++i) {
    if (multiply_overflows(stride, largest(self.sizes[i], 1), &stride)) {
      return invalid("argument 'self' has strides beyond 2^63");
    }
  }
  return integer(stride);
}

Inferred number_of_elements(const BoundArguments& in) { return integer(in.tensor("self").numel()); }

Inferred scalar_of_tensor(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.numel() != 1) {
    return invalid("argument 'self' has ", self.numel(), " elements, must have 1");
  }
  if (self.dtype == ScalarType::kBool) {
    return std::vector<Type>{Type::scalar(Type::Kind::kBool)};
  }
  return std::vector<Type>{
      Type::scalar(is_floating_point(self.dtype) ? Type::Kind::kFloat : Type::Kind::kInt)};
}

constexpr OpRow kRows[] = {
    {"aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? "
     "stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? "
     "layout=None) -> ()",
     "", kEffect, infer<no_results>},
    {"aten::_assert_scalar(Scalar self, str assert_msg) -> ()", "", kEffect, infer<no_results>},
    {"aten::_assert_async(Tensor self) -> ()", "", kEffect, infer<no_results>},
    {"aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", "", kEffect, infer<no_results>},
    {"aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) "
     "-> ()",
     "", kEffect, infer<no_results>},
    {"aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? "
     "max=None) -> ()",
     "", kEffect, infer<no_results>},
    {"aten::sym_size.int(Tensor self, int dim) -> SymInt", "aten::sym_size.int", kPure,
     infer<size_of_dim>},
    {"aten::sym_stride.int(Tensor self, int dim) -> SymInt", "", kPure, infer<stride_of_dim>},
    {"aten::sym_numel(Tensor self) -> SymInt", "aten::sym_numel", kPure, infer<number_of_elements>},
    {"aten::item(Tensor self) -> Scalar", "", kPure, infer<scalar_of_tensor>},
    {"aten::_local_scalar_dense(Tensor self) -> Scalar", "aten::_local_scalar_dense", kPure,
     infer<scalar_of_tensor>},
};

}  // namespace

absl::Span<const OpRow> effect_ops() { return kRows; }

}  // namespace petrel::exir::rules
