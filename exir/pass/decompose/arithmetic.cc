// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <limits>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

constexpr double kPi = 3.14159265358979323846;

bool is_one(const Argument& argument) {
  return argument.is_number() && fixed_number(argument) == 1;
}

Rewritten square(Builder& b, Node& node) {
  return done(b, node, b.call(aten::pow_Tensor_Scalar, {tensor_at(node, arg::self), 2}));
}

// The operand, in floats where the result is of half precision or bfloat16.
BuiltValue wide_operand(Builder& b, Node& node, ArgHandle name) {
  Value* x = tensor_at(node, name);
  const ScalarType dtype = node.result()->tensor().dtype;
  return wide_type(dtype) == dtype ? x : b.cast(x, wide_type(dtype));
}

// self + value * t1 <op> t2
Rewritten add_combined(Builder& b, Node& node, OpHandle combine) {
  PETREL_ASSIGN_OR_RETURN(Value * y, wide_operand(b, node, arg::tensor1));
  PETREL_ASSIGN_OR_RETURN(Value * other, wide_operand(b, node, arg::tensor2));
  PETREL_ASSIGN_OR_RETURN(Value * x, wide_operand(b, node, arg::self));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(combine, y, other));
  if (!is_one(node.argument(arg::value))) {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::mul_Scalar, {y, node.argument(arg::value)}));
  }
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, x, y));
  // All three take part in one promotion, which that of pairs need not be.
  return done(b, node, b.cast(y, node.result()->tensor().dtype));
}

Rewritten addcmul(Builder& b, Node& node) { return add_combined(b, node, aten::mul_Tensor); }

Rewritten addcdiv(Builder& b, Node& node) { return add_combined(b, node, aten::div_Tensor); }

// self + weight * (end - self)
Rewritten lerp(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x, wide_operand(b, node, arg::self));
  PETREL_ASSIGN_OR_RETURN(Value * y, wide_operand(b, node, arg::end));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, y, x));
  if (tensor_at(node, arg::weight) != nullptr) {
    PETREL_ASSIGN_OR_RETURN(Value * weight, wide_operand(b, node, arg::weight));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, weight));
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::mul_Scalar, {y, node.argument(arg::weight)}));
  }
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, x, y));
  return done(b, node, b.cast(y, node.result()->tensor().dtype));
}

Rewritten clamp_min(Builder& b, Node& node) {
  return done(b, node,
              b.call(aten::clamp, {tensor_at(node, arg::self), node.argument(arg::min), none()}));
}

Rewritten clamp_max(Builder& b, Node& node) {
  return done(b, node,
              b.call(aten::clamp, {tensor_at(node, arg::self), none(), node.argument(arg::max)}));
}

Rewritten clamp_min_tensor(Builder& b, Node& node) {
  return done(b, node,
              b.binary(aten::maximum, tensor_at(node, arg::self), tensor_at(node, arg::min)));
}

Rewritten clamp_max_tensor(Builder& b, Node& node) {
  return done(b, node,
              b.binary(aten::minimum, tensor_at(node, arg::self), tensor_at(node, arg::max)));
}

Rewritten times(Builder& b, Node& node, double factor) {
  return done(b, node, b.call(aten::mul_Scalar, {tensor_at(node, arg::self), factor}));
}

Rewritten deg2rad(Builder& b, Node& node) { return times(b, node, kPi / 180); }
Rewritten rad2deg(Builder& b, Node& node) { return times(b, node, 180 / kPi); }

// 1 - erf(x)
Rewritten erfc(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::erf, {tensor_at(node, arg::self)}));
  PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, y->tensor().dtype));
  return done(b, node, b.binary(aten::sub_Tensor, one, y));
}

Rewritten exp2(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x,
                          b.cast(tensor_at(node, arg::self), node.result()->tensor().dtype));
  return done(b, node, b.call(aten::pow_Scalar, {2, x}));
}

Rewritten frac(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * whole, b.call(aten::trunc, {x}));
  return done(b, node, b.binary(aten::sub_Tensor, x, whole));
}

Rewritten sgn(Builder& b, Node& node) {
  return done(b, node, b.call(aten::sign, {tensor_at(node, arg::self)}));
}

Rewritten isfinite(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * inf, b.call(aten::isinf, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * nan, b.call(aten::isnan, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * bad, b.binary(aten::logical_or, inf, nan));
  return done(b, node, b.call(aten::logical_not, {bad}));
}

Rewritten isposinf(Builder& b, Node& node) {
  return done(b, node,
              b.call(aten::eq_Scalar,
                     {tensor_at(node, arg::self), std::numeric_limits<double>::infinity()}));
}

Rewritten isneginf(Builder& b, Node& node) {
  return done(b, node,
              b.call(aten::eq_Scalar,
                     {tensor_at(node, arg::self), -std::numeric_limits<double>::infinity()}));
}

// The largest finite value of a dtype.
double largest(ScalarType type) {
  switch (type) {
    case ScalarType::kHalf:
      return 65504;
    case ScalarType::kBFloat16:
      return std::ldexp(255.0, 120);
    case ScalarType::kDouble:
      return std::numeric_limits<double>::max();
    default:
      return static_cast<double>(std::numeric_limits<float>::max());
  }
}

// The least number of a dtype that has all digits.
double least(ScalarType type) {
  return type == ScalarType::kHalf     ? std::ldexp(1.0, -14)
         : type == ScalarType::kDouble ? std::numeric_limits<double>::min()
                                       : std::ldexp(1.0, -126);
}

Rewritten nan_to_num(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const ScalarType dtype = x->tensor().dtype;
  if (!is_floating_point(dtype)) return done(b, node, x);
  const double inf = std::numeric_limits<double>::infinity();
  const double finite[] = {
      node.argument(arg::nan).is_none() ? 0 : fixed_number(node.argument(arg::nan)),
      node.argument(arg::posinf).is_none() ? largest(dtype)
                                           : fixed_number(node.argument(arg::posinf)),
      node.argument(arg::neginf).is_none() ? -largest(dtype)
                                           : fixed_number(node.argument(arg::neginf))};
  Value* y = x;
  for (int i = 0; i < 3; ++i) {
    Value* is = nullptr;
    if (i == 0) {
      PETREL_ASSIGN_OR_RETURN(is, b.call(aten::isnan, {x}));
    } else {
      PETREL_ASSIGN_OR_RETURN(is, b.call(aten::eq_Scalar, {x, i == 1 ? inf : -inf}));
    }
    PETREL_ASSIGN_OR_RETURN(Value * value, b.scalar(finite[i], dtype));
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {is, value, y}));
  }
  return done(b, node, y);
}

// sin(pi x) / (pi x), 1 at 0
Rewritten sinc(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.call(aten::eq_Scalar, {x, 0}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::mul_Scalar, {x, kPi}));
  PETREL_ASSIGN_OR_RETURN(Value * s, b.call(aten::sin, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::div_Tensor, s, y));
  PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, y->tensor().dtype));
  return done(b, node, b.call(aten::where_self, {zero, one, y}));
}

// high * sqrt(1 + (low / high)^2): neither square is larger than 1, so nothing over-
// or underflows. The quotient is of finite numbers that are not 0.
Rewritten hypot(Builder& b, Node& node) {
  Value* sides[2];
  for (size_t i = 0; i < 2; ++i) {
    Value* x = tensor_at(node, i == 0 ? arg::self : arg::other);
    PETREL_ASSIGN_OR_RETURN(sides[i], b.call(aten::abs, {x}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * high, b.binary(aten::maximum, sides[0], sides[1]));
  PETREL_ASSIGN_OR_RETURN(Value * low, b.binary(aten::minimum, sides[0], sides[1]));
  const ScalarType dtype = high->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(low, b.call(aten::clamp, {low, none(), largest(dtype)}));
  PETREL_ASSIGN_OR_RETURN(Value * divisor,
                          b.call(aten::clamp, {high, least(dtype), largest(dtype)}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::div_Tensor, low, divisor));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, y));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, 1}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::sqrt, {y}));
  return done(b, node, b.binary(aten::mul_Tensor, high, y));
}

// max(a, b) + log1p(exp(-|a - b|)); where both are the same infinity, that.
Rewritten logaddexp(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* y = tensor_at(node, arg::other);
  PETREL_ASSIGN_OR_RETURN(Value * high, b.binary(aten::maximum, x, y));
  PETREL_ASSIGN_OR_RETURN(Value * rest, b.binary(aten::sub_Tensor, x, y));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::abs, {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::neg, {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::exp, {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::log1p, {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.binary(aten::add_Tensor, high, rest));
  PETREL_ASSIGN_OR_RETURN(Value * equal, b.binary(aten::eq_Tensor, x, y));
  PETREL_ASSIGN_OR_RETURN(Value * inf, b.call(aten::isinf, {high}));
  PETREL_ASSIGN_OR_RETURN(inf, b.binary(aten::logical_and, inf, equal));
  return done(b, node, b.call(aten::where_self, {inf, high, rest}));
}

// To `decimals` places after the point, or before it.
Rewritten round_decimals(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t decimals = fixed_int(node.argument(arg::decimals));
  if (!is_floating_point(x->tensor().dtype) || decimals < -30 || decimals > 30) {
    return false;
  }
  const double ten = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  const OpHandle up = aten::mul_Scalar;
  const OpHandle down = aten::div_Scalar;
  PETREL_ASSIGN_OR_RETURN(x, b.call(decimals < 0 ? down : up, {x, ten}));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::round, {x}));
  return done(b, node, b.call(decimals < 0 ? up : down, {x, ten}));
}

// Below 0, or the zero that is: its reciprocal tells.
BuiltValue is_negative(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * below, b.call(aten::lt_Scalar, {x, 0}));
  if (!is_floating_point(x->tensor().dtype)) return below;
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::reciprocal, {x}));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::lt_Scalar, {x, 0}));
  return b.binary(aten::logical_or, below, x);
}

Rewritten signbit(Builder& b, Node& node) {
  return done(b, node, is_negative(b, tensor_at(node, arg::self)));
}

// |x|, negative where y is.
Rewritten copysign(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::abs, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * minus, b.call(aten::neg, {y}));
  Value* sign = tensor_at(node, arg::other);
  if (sign == nullptr) {
    return done(b, node, std::signbit(fixed_number(node.argument(arg::other))) ? minus : y);
  }
  PETREL_ASSIGN_OR_RETURN(sign, b.cast(sign, dtype));
  PETREL_ASSIGN_OR_RETURN(Value * below, is_negative(b, sign));
  return done(b, node, b.call(aten::where_self, {below, minus, y}));
}

constexpr Rewrite kRows[] = {
    {aten::signbit, signbit},
    {aten::copysign_Tensor, copysign},
    {aten::copysign_Scalar, copysign},
    {aten::round_decimals, round_decimals},
    {aten::square, square},
    {aten::addcmul, addcmul},
    {aten::addcdiv, addcdiv},
    {aten::lerp_Scalar, lerp},
    {aten::lerp_Tensor, lerp},
    {aten::clamp_min, clamp_min},
    {aten::clamp_max, clamp_max},
    {aten::clamp_min_Tensor, clamp_min_tensor},
    {aten::clamp_max_Tensor, clamp_max_tensor},
    {aten::deg2rad, deg2rad},
    {aten::rad2deg, rad2deg},
    {aten::erfc, erfc},
    {aten::exp2, exp2},
    {aten::frac, frac},
    {aten::sgn, sgn},
    {aten::isfinite, isfinite},
    {aten::isposinf, isposinf},
    {aten::isneginf, isneginf},
    {aten::nan_to_num, nan_to_num},
    {aten::sinc, sinc},
    {aten::hypot, hypot},
    {aten::logaddexp, logaddexp},
};

}  // namespace

Rewrites arithmetic_decompositions() { return kRows; }

}  // namespace petrel::exir
