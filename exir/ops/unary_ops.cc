// SPDX-License-Identifier: Apache-2.0
#include "exir/ops/elementwise.h"
#include "exir/ops/families.h"
#include "exir/ops/promotion.h"
#include "exir/ops/rule.h"

namespace petrel::exir {
namespace {

Inferred unary_bool(const BoundArguments& in) {
  return one(ScalarType::kBool, in.tensor("self").sizes);
}

Inferred square(const BoundArguments& in) {
  const TensorType& self = in.tensor("self");
  // A power of two of truth values counts in integers.
  const bool is_bool = self.dtype == ScalarType::kBool;
  return one(is_bool ? ScalarType::kLong : self.dtype, self.sizes);
}

constexpr OpRow kRows[] = {
    {"aten::abs(Tensor self) -> Tensor", "aten::abs.out", kPure | kElementwise, infer<unary_same>},
    {"aten::abs_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::acos(Tensor self) -> Tensor", "aten::acos.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::acos_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::acosh(Tensor self) -> Tensor", "aten::acosh.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::acosh_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::asin(Tensor self) -> Tensor", "aten::asin.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::asin_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::asinh(Tensor self) -> Tensor", "aten::asinh.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::asinh_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::atan(Tensor self) -> Tensor", "aten::atan.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::atan_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::atanh(Tensor self) -> Tensor", "aten::atanh.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::atanh_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::bitwise_not(Tensor self) -> Tensor", "aten::bitwise_not.out", kPure | kElementwise,
     infer<unary_same>},
    {"aten::bitwise_not_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>},
    {"aten::ceil(Tensor self) -> Tensor", "aten::ceil.out", kPure | kElementwise,
     infer<unary_same>},
    {"aten::ceil_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::cos(Tensor self) -> Tensor", "aten::cos.out", kPure | kElementwise, infer<unary_float>},
    {"aten::cos_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::cosh(Tensor self) -> Tensor", "aten::cosh.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::cosh_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::deg2rad(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_float>},
    {"aten::deg2rad_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::rad2deg(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_float>},
    {"aten::rad2deg_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::erf(Tensor self) -> Tensor", "aten::erf.out", kPure | kElementwise, infer<unary_float>},
    {"aten::erf_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::erfc(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_float>},
    {"aten::erfc_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::erfinv(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_float>},
    {"aten::erfinv_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::exp(Tensor self) -> Tensor", "aten::exp.out", kPure | kElementwise, infer<unary_float>},
    {"aten::exp_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::exp2(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_float>},
    {"aten::exp2_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::expm1(Tensor self) -> Tensor", "aten::expm1.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::expm1_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::floor(Tensor self) -> Tensor", "aten::floor.out", kPure | kElementwise,
     infer<unary_same>},
    {"aten::floor_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::frac(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_same>},
    {"aten::frac_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::isfinite(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_bool>},
    {"aten::isinf(Tensor self) -> Tensor", "aten::isinf.out", kPure | kElementwise,
     infer<unary_bool>},
    {"aten::isnan(Tensor self) -> Tensor", "aten::isnan.out", kPure | kElementwise,
     infer<unary_bool>},
    {"aten::isneginf(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_bool>},
    {"aten::isposinf(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_bool>},
    {"aten::lgamma(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_float>},
    {"aten::lgamma_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::log(Tensor self) -> Tensor", "aten::log.out", kPure | kElementwise, infer<unary_float>},
    {"aten::log_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::log10(Tensor self) -> Tensor", "aten::log10.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::log10_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::log1p(Tensor self) -> Tensor", "aten::log1p.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::log1p_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::log2(Tensor self) -> Tensor", "aten::log2.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::log2_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::logical_not(Tensor self) -> Tensor", "aten::logical_not.out", kPure | kElementwise,
     infer<unary_bool>},
    {"aten::logical_not_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>},
    {"aten::logit(Tensor self, float? eps=None) -> Tensor", "aten::logit.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::logit_(Tensor(a!) self, float? eps=None) -> Tensor(a!)", "", kInPlace,
     infer<in_place_elementwise>},
    {"aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, "
     "float? neginf=None) -> Tensor",
     "", kPure | kElementwise, infer<unary_same>},
    {"aten::nan_to_num_(Tensor(a!) self, float? nan=None, float? posinf=None, "
     "float? neginf=None) -> Tensor(a!)",
     "", kInPlace, infer<in_place_elementwise>},
    {"aten::neg(Tensor self) -> Tensor", "aten::neg.out", kPure | kElementwise, infer<unary_same>},
    {"aten::neg_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::positive(Tensor(a) self) -> Tensor(a)", "", kPure | kView | kIdentity,
     infer<unary_same>},
    {"aten::reciprocal(Tensor self) -> Tensor", "aten::reciprocal.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::reciprocal_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::round(Tensor self) -> Tensor", "aten::round.out", kPure | kElementwise,
     infer<unary_same>},
    {"aten::round_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::round.decimals(Tensor self, *, int decimals) -> Tensor", "", kPure | kElementwise,
     infer<unary_same>},
    {"aten::rsqrt(Tensor self) -> Tensor", "aten::rsqrt.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::rsqrt_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::sgn(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_same>},
    {"aten::sgn_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::sign(Tensor self) -> Tensor", "aten::sign.out", kPure | kElementwise,
     infer<unary_same>},
    {"aten::sign_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::signbit(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_bool>},
    {"aten::sin(Tensor self) -> Tensor", "aten::sin.out", kPure | kElementwise, infer<unary_float>},
    {"aten::sin_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::sinc(Tensor self) -> Tensor", "", kPure | kElementwise, infer<unary_float>},
    {"aten::sinc_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::sinh(Tensor self) -> Tensor", "aten::sinh.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::sinh_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::sqrt(Tensor self) -> Tensor", "aten::sqrt.out", kPure | kElementwise,
     infer<unary_float>},
    {"aten::sqrt_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::square(Tensor self) -> Tensor", "", kPure | kElementwise, infer<square>},
    {"aten::square_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::tan(Tensor self) -> Tensor", "aten::tan.out", kPure | kElementwise, infer<unary_float>},
    {"aten::tan_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
    {"aten::trunc(Tensor self) -> Tensor", "aten::trunc.out", kPure | kElementwise,
     infer<unary_same>},
    {"aten::trunc_(Tensor(a!) self) -> Tensor(a!)", "", kInPlace, infer<in_place_elementwise>},
};

}  // namespace

absl::Span<const OpRow> unary_ops() { return kRows; }

}  // namespace petrel::exir
