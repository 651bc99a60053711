// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// Compares in the promoted dtype; the result is bool.
Inferred compare(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(promoted_dtype(in).status());
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  return one(ScalarType::kBool, std::move(sizes));
}

// The condition takes part in broadcasting only.
Inferred select_between(const BoundArguments& in) {
  const ScalarType condition = in.tensor("condition").dtype;
  if (condition != ScalarType::kBool && condition != ScalarType::kByte) {
    return invalid("argument 'condition' is ", std::string(scalar_type_name(condition)),
                   ", must be bool");
  }
  Promotion promotion;
  for (const char* name : {"self", "other"}) {
    const Argument& argument = in.at(name);
    if (argument.is_value()) {
      PETREL_RETURN_IF_ERROR(promotion.add(in.tensor(name)));
    } else {
      PETREL_RETURN_IF_ERROR(promotion.add_number(argument));
    }
  }
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, promotion.result());
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  return one(dtype, std::move(sizes));
}

constexpr OpRow kRows[] = {
    {"aten::eq.Tensor(Tensor self, Tensor other) -> Tensor", "aten::eq.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::eq.Scalar(Tensor self, Scalar other) -> Tensor", "aten::eq.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::ne.Tensor(Tensor self, Tensor other) -> Tensor", "aten::ne.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::ne.Scalar(Tensor self, Scalar other) -> Tensor", "aten::ne.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::lt.Tensor(Tensor self, Tensor other) -> Tensor", "aten::lt.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::lt.Scalar(Tensor self, Scalar other) -> Tensor", "aten::lt.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::le.Tensor(Tensor self, Tensor other) -> Tensor", "aten::le.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::le.Scalar(Tensor self, Scalar other) -> Tensor", "aten::le.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::gt.Tensor(Tensor self, Tensor other) -> Tensor", "aten::gt.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::gt.Scalar(Tensor self, Scalar other) -> Tensor", "aten::gt.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::ge.Tensor(Tensor self, Tensor other) -> Tensor", "aten::ge.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::ge.Scalar(Tensor self, Scalar other) -> Tensor", "aten::ge.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::greater.Tensor(Tensor self, Tensor other) -> Tensor", "aten::gt.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::less.Tensor(Tensor self, Tensor other) -> Tensor", "aten::lt.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::not_equal.Tensor(Tensor self, Tensor other) -> Tensor", "aten::ne.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::isclose(Tensor self, Tensor other, float "
     "rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) -> "
     "Tensor",
     "", kPure | kElementwise, infer<compare>},
    {"aten::logical_and(Tensor self, Tensor other) -> Tensor", "aten::logical_and.out",
     kPure | kElementwise, infer<compare>},
    {"aten::logical_and_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::logical_and"},
    {"aten::logical_or(Tensor self, Tensor other) -> Tensor", "aten::logical_or.out",
     kPure | kElementwise, infer<compare>},
    {"aten::logical_or_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::logical_or"},
    {"aten::logical_xor(Tensor self, Tensor other) -> Tensor", "aten::logical_xor.out",
     kPure | kElementwise, infer<compare>},
    {"aten::logical_xor_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::logical_xor"},
    {"aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
     "aten::where.self_out", kPure | kElementwise, infer<select_between>},
    {"aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> "
     "Tensor",
     "", kPure | kElementwise, infer<select_between>},
    {"aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> "
     "Tensor",
     "", kPure | kElementwise, infer<select_between>},
    {"aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> "
     "Tensor",
     "", kPure | kElementwise, infer<select_between>},
    {"aten::greater_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::greater.Tensor"},
    {"aten::greater.Scalar(Tensor self, Scalar other) -> Tensor", "aten::gt.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::greater_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::greater.Scalar"},
    {"aten::greater_equal.Tensor(Tensor self, Tensor other) -> Tensor", "aten::ge.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::greater_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::greater_equal.Tensor"},
    {"aten::greater_equal.Scalar(Tensor self, Scalar other) -> Tensor", "aten::ge.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::greater_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::greater_equal.Scalar"},
    {"aten::less_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::less.Tensor"},
    {"aten::less.Scalar(Tensor self, Scalar other) -> Tensor", "aten::lt.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::less_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::less.Scalar"},
    {"aten::less_equal.Tensor(Tensor self, Tensor other) -> Tensor", "aten::le.Tensor_out",
     kPure | kElementwise, infer<compare>},
    {"aten::less_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::less_equal.Tensor"},
    {"aten::less_equal.Scalar(Tensor self, Scalar other) -> Tensor", "aten::le.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::less_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::less_equal.Scalar"},
    {"aten::not_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::not_equal.Tensor"},
    {"aten::not_equal.Scalar(Tensor self, Scalar other) -> Tensor", "aten::ne.Scalar_out",
     kPure | kElementwise, infer<compare>},
    {"aten::not_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::not_equal.Scalar"},
    {"aten::eq_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::eq.Tensor"},
    {"aten::eq_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::eq.Scalar"},
    {"aten::ne_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::ne.Tensor"},
    {"aten::ne_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::ne.Scalar"},
    {"aten::lt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::lt.Tensor"},
    {"aten::lt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::lt.Scalar"},
    {"aten::le_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::le.Tensor"},
    {"aten::le_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::le.Scalar"},
    {"aten::gt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::gt.Tensor"},
    {"aten::gt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::gt.Scalar"},
    {"aten::ge_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::ge.Tensor"},
    {"aten::ge_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::ge.Scalar"},
};

}  // namespace

absl::Span<const OpRow> compare_ops() { return kRows; }

}  // namespace petrel::exir::rules
