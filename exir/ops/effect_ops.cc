// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/families.h"
#include "exir/ops/rule.h"

namespace petrel::exir {
namespace {

Inferred no_results(const BoundArguments&) { return std::vector<Type>(); }

Inferred one_int(const BoundArguments& in) {
  if (in.has("dim")) {
    PETREL_RETURN_IF_ERROR(
        in.dim("dim", in.tensor("self").rank()).status());
  }
  return std::vector<Type>{Type::scalar(Type::Kind::kInt)};
}

Inferred scalar_of_tensor(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  if (self.numel() != 1) {
    return invalid("argument 'self' has ", self.numel(),
                   " elements, must have 1");
  }
  if (self.dtype == ScalarType::kBool) {
    return std::vector<Type>{Type::scalar(Type::Kind::kBool)};
  }
  return std::vector<Type>{Type::scalar(is_floating_point(self.dtype)
                                            ? Type::Kind::kFloat
                                            : Type::Kind::kInt)};
}

constexpr OpRow kRows[] = {
    {"aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? "
     "stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? "
     "layout=None) -> ()",
     "", kEffect, infer<no_results>},
    {"aten::_assert_scalar(Scalar self, str assert_msg) -> ()",
     "", kEffect, infer<no_results>},
    {"aten::_assert_async(Tensor self) -> ()", "", kEffect, infer<no_results>},
    {"aten::_assert_async.msg(Tensor self, str assert_msg) -> ()",
     "", kEffect, infer<no_results>},
    {"aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) "
     "-> ()",
     "", kEffect, infer<no_results>},
    {"aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? "
     "max=None) -> ()",
     "", kEffect, infer<no_results>},
    {"aten::sym_size.int(Tensor self, int dim) -> SymInt",
     "", kPure, infer<one_int>},
    {"aten::sym_stride.int(Tensor self, int dim) -> SymInt",
     "", kPure, infer<one_int>},
    {"aten::sym_numel(Tensor self) -> SymInt", "", kPure, infer<one_int>},
    {"aten::item(Tensor self) -> Scalar", "", kPure, infer<scalar_of_tensor>},
    {"aten::_local_scalar_dense(Tensor self) -> Scalar",
     "", kPure, infer<scalar_of_tensor>},
};

}  // namespace

absl::Span<const OpRow> effect_ops() { return kRows; }

}  // namespace petrel::exir
