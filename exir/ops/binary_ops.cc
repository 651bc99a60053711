// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir::rules {
namespace {

// With a rounding mode integers stay integers.
Inferred divide_with_mode(const BoundArguments& in) {
  if (!in.given("rounding_mode")) return promote_float(in);
  const std::string mode = in.text("rounding_mode");
  if (mode == "trunc" || mode == "floor") return promote(in);
  return invalid("argument 'rounding_mode' is '", mode, "', must be 'trunc' or 'floor'");
}

Inferred bitwise(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(ScalarType dtype, promoted_dtype(in));
  if (is_floating_point(dtype)) {
    return invalid("bitwise operation on ", std::string(scalar_type_name(dtype)));
  }
  return promote(in);
}

// Bounds that are numbers take part in promotion as such; they do not broadcast.
Inferred clamp(const BoundArguments& in) {
  if (in.has("min") && in.has("max") && !in.given("min") && !in.given("max")) {
    return invalid("neither argument 'min' nor 'max' is given");
  }
  return promote(in);
}

// All operands have one dtype.
Inferred same_dtype(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  for (const TensorType* type : in.all_tensors()) {
    if (type->dtype == self.dtype) continue;
    return invalid("dtypes ", std::string(scalar_type_name(self.dtype)), " and ",
                   std::string(scalar_type_name(type->dtype)), " differ");
  }
  return promote(in);
}

Inferred same_floats(const BoundArguments& in) {
  PETREL_RETURN_IF_ERROR(check_floats(in));
  return promote(in);
}

// Integers alone are refused, as eager does.
Inferred promoted_floats(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(const ScalarType dtype, promoted_dtype(in));
  if (is_floating_point(dtype)) return promote(in);
  return invalid("its tensors are ", std::string(scalar_type_name(dtype)), ", must be of floats");
}

Inferred in_double(const BoundArguments& in) {
  PETREL_ASSIGN_OR_RETURN(Sizes sizes, broadcast(in.all_tensors()));
  return one(ScalarType::kDouble, std::move(sizes));
}

constexpr OpRow kRows[] = {
    {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
     "Tensor",
     "aten::add.out", kPure | kElementwise, infer<promote>},
    {"aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::add.Tensor"},
    {"aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     "aten::add.Scalar_out", kPure | kElementwise, infer<promote>},
    {"aten::add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::add.Scalar"},
    {"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
     "Tensor",
     "aten::sub.out", kPure | kElementwise, infer<promote>},
    {"aten::sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::sub.Tensor"},
    {"aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     "aten::sub.Scalar_out", kPure | kElementwise, infer<promote>},
    {"aten::sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::sub.Scalar"},
    {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", "aten::mul.out", kPure | kElementwise,
     infer<promote>},
    {"aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::mul.Tensor"},
    {"aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", "aten::mul.Scalar_out",
     kPure | kElementwise, infer<promote>},
    {"aten::mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::mul.Scalar"},
    {"aten::div.Tensor(Tensor self, Tensor other) -> Tensor", "aten::div.out", kPure | kElementwise,
     infer<promote_float>},
    {"aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::div.Tensor"},
    {"aten::div.Scalar(Tensor self, Scalar other) -> Tensor", "aten::div.Scalar_out",
     kPure | kElementwise, infer<promote_float>},
    {"aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::div.Scalar"},
    {"aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) "
     "-> Tensor",
     "aten::div.out_mode", kPure | kElementwise, infer<divide_with_mode>},
    {"aten::div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? "
     "rounding_mode) -> Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::div.Tensor_mode"},
    {"aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) "
     "-> Tensor",
     "aten::div.Scalar_mode_out", kPure | kElementwise, infer<divide_with_mode>},
    {"aten::div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? "
     "rounding_mode) -> Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::div.Scalar_mode"},
    {"aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor", "aten::div.out",
     kPure | kElementwise, infer<promote_float>},
    {"aten::divide.Tensor(Tensor self, Tensor other) -> Tensor", "aten::div.out",
     kPure | kElementwise, infer<promote_float>},
    {"aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor", "aten::mul.out",
     kPure | kElementwise, infer<promote>},
    {"aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
     "Tensor",
     "aten::sub.out", kPure | kElementwise, infer<promote>},
    {"aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> "
     "Tensor",
     "", kPure | kElementwise, infer<promote>},
    {"aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     "aten::rsub.Scalar_out", kPure | kElementwise, infer<promote>},
    {"aten::floor_divide(Tensor self, Tensor other) -> Tensor", "aten::floor_divide.out",
     kPure | kElementwise, infer<promote>},
    {"aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", "", kPure | kElementwise,
     infer<promote>},
    {"aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", "aten::fmod.Tensor_out",
     kPure | kElementwise, infer<promote>},
    {"aten::fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::fmod.Tensor"},
    {"aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", "aten::fmod.Scalar_out",
     kPure | kElementwise, infer<promote>},
    {"aten::fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::fmod.Scalar"},
    {"aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", "aten::remainder.Tensor_out",
     kPure | kElementwise, infer<promote>},
    {"aten::remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::remainder.Tensor"},
    {"aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", "aten::remainder.Scalar_out",
     kPure | kElementwise, infer<promote>},
    {"aten::remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::remainder.Scalar"},
    {"aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promote>},
    {"aten::maximum(Tensor self, Tensor other) -> Tensor", "aten::maximum.out",
     kPure | kElementwise, infer<promote>},
    {"aten::minimum(Tensor self, Tensor other) -> Tensor", "aten::minimum.out",
     kPure | kElementwise, infer<promote>},
    {"aten::max.other(Tensor self, Tensor other) -> Tensor", "aten::maximum.out",
     kPure | kElementwise, infer<promote>},
    {"aten::min.other(Tensor self, Tensor other) -> Tensor", "aten::minimum.out",
     kPure | kElementwise, infer<promote>},
    {"aten::fmax(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise, infer<promote>},
    {"aten::fmin(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise, infer<promote>},
    {"aten::atan2(Tensor self, Tensor other) -> Tensor", "aten::atan2.out", kPure | kElementwise,
     infer<promote_float>},
    {"aten::atan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::atan2"},
    {"aten::hypot(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promoted_floats>},
    {"aten::hypot_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::hypot"},
    {"aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promote_float>},
    {"aten::copysign_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::copysign.Tensor"},
    {"aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor", "", kPure | kElementwise,
     infer<promote_float>},
    {"aten::copysign_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::copysign.Scalar"},
    {"aten::logaddexp(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promoted_floats>},
    {"aten::logaddexp2(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promoted_floats>},
    {"aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promote_float>},
    {"aten::xlogy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::xlogy.Tensor"},
    {"aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
     "aten::pow.Tensor_Tensor_out", kPure | kElementwise, infer<promote>},
    {"aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
     "aten::pow.Tensor_Scalar_out", kPure | kElementwise, infer<promote>},
    {"aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::pow.Tensor_Scalar"},
    {"aten::pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::pow.Tensor_Tensor"},
    {"aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", "aten::pow.Scalar_out",
     kPure | kElementwise, infer<promote>},
    {"aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
     "aten::bitwise_and.Tensor_out", kPure | kElementwise, infer<bitwise>},
    {"aten::bitwise_and_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::bitwise_and.Tensor"},
    {"aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor",
     "aten::bitwise_and.Scalar_out", kPure | kElementwise, infer<bitwise>},
    {"aten::bitwise_and_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::bitwise_and.Scalar"},
    {"aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", "aten::bitwise_or.Tensor_out",
     kPure | kElementwise, infer<bitwise>},
    {"aten::bitwise_or_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::bitwise_or.Tensor"},
    {"aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor", "aten::bitwise_or.Scalar_out",
     kPure | kElementwise, infer<bitwise>},
    {"aten::bitwise_or_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::bitwise_or.Scalar"},
    {"aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
     "aten::bitwise_xor.Tensor_out", kPure | kElementwise, infer<bitwise>},
    {"aten::bitwise_xor_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::bitwise_xor.Tensor"},
    {"aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor",
     "aten::bitwise_xor.Scalar_out", kPure | kElementwise, infer<bitwise>},
    {"aten::bitwise_xor_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::bitwise_xor.Scalar"},
    {"aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor", "aten::bitwise_and.Tensor_out",
     kPure | kElementwise, infer<bitwise>},
    {"aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor", "aten::bitwise_and.Scalar_out",
     kPure | kElementwise, infer<bitwise>},
    {"aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor", "aten::bitwise_or.Tensor_out",
     kPure | kElementwise, infer<bitwise>},
    {"aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor", "aten::bitwise_or.Scalar_out",
     kPure | kElementwise, infer<bitwise>},
    {"aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor", "aten::bitwise_xor.Tensor_out",
     kPure | kElementwise, infer<bitwise>},
    {"aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor", "aten::bitwise_xor.Scalar_out",
     kPure | kElementwise, infer<bitwise>},
    {"aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor",
     "aten::bitwise_left_shift.Tensor_out", kPure | kElementwise, infer<bitwise>},
    {"aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor",
     "aten::bitwise_left_shift.Tensor_Scalar_out", kPure | kElementwise, infer<bitwise>},
    {"aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor",
     "aten::bitwise_right_shift.Tensor_out", kPure | kElementwise, infer<bitwise>},
    {"aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor",
     "aten::bitwise_right_shift.Tensor_Scalar_out", kPure | kElementwise, infer<bitwise>},
    {"aten::__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__and__.Tensor"},
    {"aten::__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__and__.Scalar"},
    {"aten::__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__or__.Tensor"},
    {"aten::__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__or__.Scalar"},
    {"aten::__ixor__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__xor__.Tensor"},
    {"aten::__ixor__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__xor__.Scalar"},
    {"aten::__ilshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__lshift__.Tensor"},
    {"aten::__ilshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__lshift__.Scalar"},
    {"aten::__irshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__rshift__.Tensor"},
    {"aten::__irshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::__rshift__.Scalar"},
    {"aten::bitwise_left_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::bitwise_left_shift.Tensor"},
    {"aten::bitwise_left_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "",
     kInPlace, infer<in_place_elementwise>, "aten::bitwise_left_shift.Tensor_Scalar"},
    {"aten::bitwise_right_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::bitwise_right_shift.Tensor"},
    {"aten::bitwise_right_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "",
     kInPlace, infer<in_place_elementwise>, "aten::bitwise_right_shift.Tensor_Scalar"},
    {"aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor",
     "aten::bitwise_left_shift.Tensor_out", kPure | kElementwise, infer<bitwise>},
    {"aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> "
     "Tensor",
     "aten::bitwise_left_shift.Tensor_Scalar_out", kPure | kElementwise, infer<bitwise>},
    {"aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
     "aten::bitwise_right_shift.Tensor_out", kPure | kElementwise, infer<bitwise>},
    {"aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> "
     "Tensor",
     "aten::bitwise_right_shift.Tensor_Scalar_out", kPure | kElementwise, infer<bitwise>},
    {"aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", "",
     kPure | kElementwise, infer<same_floats>},
    {"aten::lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::lerp.Scalar"},
    {"aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", "",
     kPure | kElementwise, infer<same_floats>},
    {"aten::lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::lerp.Tensor"},
    {"aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar "
     "value=1) -> Tensor",
     "", kPure | kElementwise, infer<promote>},
    {"aten::addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, "
     "Scalar value=1) -> Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::addcmul"},
    {"aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar "
     "value=1) -> Tensor",
     "", kPure | kElementwise, infer<promote_float>},
    {"aten::addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, "
     "Scalar value=1) -> Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::addcdiv"},
    {"aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "aten::clamp.out",
     kPure | kElementwise, infer<clamp>},
    {"aten::clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::clamp"},
    {"aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> "
     "Tensor",
     "aten::clamp.Tensor_out", kPure | kElementwise, infer<clamp>},
    {"aten::clamp_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? "
     "max=None) -> Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::clamp.Tensor"},
    {"aten::clamp_min(Tensor self, Scalar min) -> Tensor", "", kPure | kElementwise, infer<clamp>},
    {"aten::clamp_min_(Tensor(a!) self, Scalar min) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::clamp_min"},
    {"aten::clamp_max(Tensor self, Scalar max) -> Tensor", "", kPure | kElementwise, infer<clamp>},
    {"aten::clamp_max_(Tensor(a!) self, Scalar max) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::clamp_max"},
    {"aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", "", kPure | kElementwise,
     infer<promote>},
    {"aten::clamp_min_.Tensor(Tensor(a!) self, Tensor min) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::clamp_min.Tensor"},
    {"aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", "", kPure | kElementwise,
     infer<promote>},
    {"aten::clamp_max_.Tensor(Tensor(a!) self, Tensor max) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::clamp_max.Tensor"},
    {"aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "aten::clamp.out",
     kPure | kElementwise, infer<clamp>},
    {"aten::floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::floor_divide"},
    {"aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor", "aten::mul.Scalar_out",
     kPure | kElementwise, infer<promote>},
    {"aten::multiply_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::multiply.Tensor"},
    {"aten::multiply_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::multiply.Scalar"},
    {"aten::divide.Scalar(Tensor self, Scalar other) -> Tensor", "aten::div.Scalar_out",
     kPure | kElementwise, infer<promote_float>},
    {"aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
     "aten::div.out_mode", kPure | kElementwise, infer<divide_with_mode>},
    {"aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
     "aten::div.Scalar_mode_out", kPure | kElementwise, infer<divide_with_mode>},
    {"aten::divide_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::divide.Tensor_mode"},
    {"aten::divide_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> "
     "Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>, "aten::divide.Scalar_mode"},
    {"aten::divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::divide.Tensor"},
    {"aten::divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::divide.Scalar"},
    {"aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor", "aten::div.Scalar_out",
     kPure | kElementwise, infer<promote_float>},
    {"aten::true_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::true_divide.Tensor"},
    {"aten::true_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::true_divide.Scalar"},
    {"aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
     "aten::sub.Scalar_out", kPure | kElementwise, infer<promote>},
    {"aten::subtract_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)", "",
     kInPlace, infer<in_place_elementwise>, "aten::subtract.Tensor"},
    {"aten::subtract_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)", "",
     kInPlace, infer<in_place_elementwise>, "aten::subtract.Scalar"},
    {"aten::arctan2(Tensor self, Tensor other) -> Tensor", "aten::atan2.out", kPure | kElementwise,
     infer<promote_float>},
    {"aten::arctan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::arctan2"},
    {"aten::clip_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::clip"},
    {"aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
     "aten::clamp.Tensor_out", kPure | kElementwise, infer<clamp>},
    {"aten::clip_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)", "",
     kInPlace, infer<in_place_elementwise>, "aten::clip.Tensor"},
    {"aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", "",
     kPure | kElementwise, infer<in_double>},
    {"aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", "",
     kPure | kElementwise, infer<in_double>},
    {"aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", "", kPure | kElementwise,
     infer<in_double>},
    {"aten::float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::float_power.Tensor_Tensor"},
    {"aten::float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::float_power.Tensor_Scalar"},
    {"aten::heaviside(Tensor self, Tensor values) -> Tensor", "", kPure | kElementwise,
     infer<same_dtype>},
    {"aten::heaviside_(Tensor(a!) self, Tensor values) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::heaviside"},
    {"aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promote_float>},
    {"aten::ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::ldexp.Tensor"},
    {"aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", "", kPure | kElementwise,
     infer<promote_float>},
    {"aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promote_float>},
    {"aten::special_xlogy(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promote_float>},
    {"aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", "",
     kPure | kElementwise, infer<promote_float>},
    {"aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", "",
     kPure | kElementwise, infer<promote_float>},
    {"aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", "", kPure | kElementwise,
     infer<promote_float>},
    {"aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", "",
     kPure | kElementwise, infer<promote_float>},
    {"aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", "",
     kPure | kElementwise, infer<promote_float>},
    {"aten::xlogy_.Scalar_Other(Tensor(a!) self, Scalar other) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>, "aten::xlogy.Scalar_Other"},
};

}  // namespace

absl::Span<const OpRow> binary_ops() { return kRows; }

}  // namespace petrel::exir::rules
