// SPDX-License-Identifier: Apache-2.0
//
// Functions of elements that are rare in networks: torch.special, and what treats
// NaN, zeros or signs in a way of its own.
#include <cmath>
#include <limits>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;
constexpr double kLn2 = 0.69314718055994530942;

// The argument as a tensor of `dtype`.
BuiltValue operand(Builder& b, const Argument& argument, ScalarType dtype) {
  if (Value* value = tensor_in(argument)) return b.cast(value, dtype);
  return b.scalar(argument, dtype);
}

// x log(y), or x log1p(y), and 0 where x is 0 whatever y is; NaN where y is.
Rewritten xlogy(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  const bool adds_one = node.is(aten::special_xlog1py, aten::special_xlog1py_other_scalar,
                                aten::special_xlog1py_self_scalar);
  PETREL_ASSIGN_OR_RETURN(Value * x, operand(b, node.argument(arg::self), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, operand(b, node.argument(arg::other), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * log, b.call(adds_one ? aten::log1p : aten::log, {y}));
  PETREL_ASSIGN_OR_RETURN(log, b.binary(aten::mul_Tensor, x, log));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, dtype));
  PETREL_ASSIGN_OR_RETURN(Value * none, b.call(aten::eq_Scalar, {x, 0}));
  PETREL_ASSIGN_OR_RETURN(Value * nan, b.call(aten::isnan, {y}));
  PETREL_ASSIGN_OR_RETURN(nan, b.call(aten::logical_not, {nan}));
  PETREL_ASSIGN_OR_RETURN(none, b.binary(aten::logical_and, none, nan));
  return done(b, node, b.call(aten::where_self, {none, zero, log}));
}

// Powers in f64.
Rewritten float_power(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x, operand(b, node.argument(arg::self), ScalarType::kDouble));
  PETREL_ASSIGN_OR_RETURN(Value * y, operand(b, node.argument(arg::exponent), ScalarType::kDouble));
  return done(b, node, b.binary(aten::pow_Tensor_Tensor, x, y));
}

// `values` at 0, else 1 above it and 0 elsewhere.
Rewritten heaviside(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * above, b.call(aten::gt_Scalar, {x, 0}));
  PETREL_ASSIGN_OR_RETURN(above, b.cast(above, x->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.call(aten::eq_Scalar, {x, 0}));
  return done(b, node, b.call(aten::where_self, {zero, tensor_at(node, arg::values), above}));
}

// self * 2^other
Rewritten ldexp(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * power, b.cast(tensor_at(node, arg::other), dtype));
  PETREL_ASSIGN_OR_RETURN(power, b.call(aten::pow_Scalar, {2.0, power}));
  return done(b, node, b.binary(aten::mul_Tensor, x, power));
}

// The larger or smaller; where one is NaN, the other.
Rewritten extreme_number(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.cast(tensor_at(node, arg::other), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * z,
                          b.binary(node.is(aten::fmax) ? aten::maximum : aten::minimum, x, y));
  if (!is_floating_point(dtype)) return done(b, node, z);
  PETREL_ASSIGN_OR_RETURN(Value * x_nan, b.call(aten::isnan, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * y_nan, b.call(aten::isnan, {y}));
  PETREL_ASSIGN_OR_RETURN(z, b.call(aten::where_self, {y_nan, x, z}));
  return done(b, node, b.call(aten::where_self, {x_nan, y, z}));
}

// max(a, b) + log2(1 + 2^-|a - b|); where both are the same infinity, that.
Rewritten logaddexp2(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* y = tensor_at(node, arg::other);
  PETREL_ASSIGN_OR_RETURN(Value * high, b.binary(aten::maximum, x, y));
  PETREL_ASSIGN_OR_RETURN(Value * rest, b.binary(aten::sub_Tensor, x, y));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::abs, {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::mul_Scalar, {rest, -kLn2}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::exp, {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::log1p, {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call(aten::mul_Scalar, {rest, 1 / kLn2}));
  PETREL_ASSIGN_OR_RETURN(rest, b.binary(aten::add_Tensor, high, rest));
  PETREL_ASSIGN_OR_RETURN(Value * equal, b.binary(aten::eq_Tensor, x, y));
  PETREL_ASSIGN_OR_RETURN(Value * inf, b.call(aten::isinf, {high}));
  PETREL_ASSIGN_OR_RETURN(inf, b.binary(aten::logical_and, inf, equal));
  return done(b, node, b.call(aten::where_self, {inf, high, rest}));
}

// |x - y| <= atol + rtol |y|, or x = y; what is not finite is close to itself only.
Rewritten isclose(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* y = tensor_at(node, arg::other);
  PETREL_ASSIGN_OR_RETURN(Value * close, b.binary(aten::eq_Tensor, x, y));
  PETREL_ASSIGN_OR_RETURN(Value * x_nan, b.call(aten::isnan, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * y_nan, b.call(aten::isnan, {y}));
  if (!is_floating_point(x->tensor().dtype)) {
    PETREL_ASSIGN_OR_RETURN(x, b.cast(x, ScalarType::kFloat));
    PETREL_ASSIGN_OR_RETURN(y, b.cast(y, ScalarType::kFloat));
  }
  PETREL_ASSIGN_OR_RETURN(Value * apart, b.binary(aten::sub_Tensor, x, y));
  PETREL_ASSIGN_OR_RETURN(apart, b.call(aten::abs, {apart}));
  PETREL_ASSIGN_OR_RETURN(Value * allowed, b.call(aten::abs, {y}));
  PETREL_ASSIGN_OR_RETURN(allowed, b.call(aten::mul_Scalar, {allowed, node.argument(arg::rtol)}));
  PETREL_ASSIGN_OR_RETURN(allowed, b.call(aten::add_Scalar, {allowed, node.argument(arg::atol)}));
  PETREL_ASSIGN_OR_RETURN(Value * within, b.binary(aten::le_Tensor, apart, allowed));
  PETREL_ASSIGN_OR_RETURN(Value * finite, b.call(aten::isfinite, {apart}));
  PETREL_ASSIGN_OR_RETURN(within, b.binary(aten::logical_and, within, finite));
  PETREL_ASSIGN_OR_RETURN(close, b.binary(aten::logical_or, close, within));
  if (node.argument(arg::equal_nan) == Argument(true)) {
    PETREL_ASSIGN_OR_RETURN(Value * nan, b.binary(aten::logical_and, x_nan, y_nan));
    PETREL_ASSIGN_OR_RETURN(close, b.binary(aten::logical_or, close, nan));
  }
  return done(b, node, close);
}

// -x log(x), 0 at 0 and -inf below.
Rewritten entropy(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::log, {x}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, x, y));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::neg, {y}));
  for (const bool below : {false, true}) {
    PETREL_ASSIGN_OR_RETURN(Value * here,
                            b.call(below ? aten::lt_Scalar : aten::eq_Scalar, {x, 0}));
    PETREL_ASSIGN_OR_RETURN(Value * value, b.scalar(below ? -kInfinity : 0, dtype));
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {here, value, y}));
  }
  return done(b, node, y);
}

// (1 + erf(x / sqrt(2))) / 2
Rewritten normal_below(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x,
                          b.cast(tensor_at(node, arg::self), node.result()->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::div_Scalar, {x, std::sqrt(2.0)}));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::erf, {x}));
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::add_Scalar, {x, 1}));
  return done(b, node, b.call(aten::mul_Scalar, {x, 0.5}));
}

// A first guess, off by some 0.2 % (S. Winitzki, A handy approximation for the error function
// and its inverse, 2008).
BuiltValue near_erfinv(Builder& b, Value* x) {
  constexpr double kA = 0.147;
  constexpr double kOver = 2 / (kPi * kA);
  PETREL_ASSIGN_OR_RETURN(Value * log, b.binary(aten::mul_Tensor, x, x));
  PETREL_ASSIGN_OR_RETURN(log, b.call(aten::neg, {log}));
  PETREL_ASSIGN_OR_RETURN(log, b.call(aten::log1p, {log}));
  PETREL_ASSIGN_OR_RETURN(Value * half, b.call(aten::mul_Scalar, {log, 0.5}));
  PETREL_ASSIGN_OR_RETURN(half, b.call(aten::add_Scalar, {half, kOver}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::mul_Tensor, half, half));
  PETREL_ASSIGN_OR_RETURN(log, b.call(aten::div_Scalar, {log, kA}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, y, log));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::sqrt, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, y, half));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::relu, {y}));  // 0 where the difference has no digits
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::sqrt, {y}));
  PETREL_ASSIGN_OR_RETURN(Value * sign, b.call(aten::sign, {x}));
  return b.binary(aten::mul_Tensor, y, sign);
}

// The guess with two steps of Halley's method, each of which triples its digits; infinite at
// 1 and -1.
Rewritten erfinv(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), ScalarType::kDouble));
  PETREL_ASSIGN_OR_RETURN(Value * y, near_erfinv(b, x));
  for (int i = 0; i < 2; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * off, b.call(aten::erf, {y}));
    PETREL_ASSIGN_OR_RETURN(off, b.binary(aten::sub_Tensor, off, x));
    PETREL_ASSIGN_OR_RETURN(Value * slope, b.binary(aten::mul_Tensor, y, y));
    PETREL_ASSIGN_OR_RETURN(slope, b.call(aten::exp, {slope}));
    PETREL_ASSIGN_OR_RETURN(off, b.binary(aten::mul_Tensor, off, slope));
    PETREL_ASSIGN_OR_RETURN(off, b.call(aten::mul_Scalar, {off, std::sqrt(kPi) / 2}));
    PETREL_ASSIGN_OR_RETURN(Value * bend, b.binary(aten::mul_Tensor, y, off));
    PETREL_ASSIGN_OR_RETURN(bend, b.call(aten::add_Scalar, {bend, 1.0}));
    PETREL_ASSIGN_OR_RETURN(off, b.binary(aten::div_Tensor, off, bend));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, y, off));
  }
  PETREL_ASSIGN_OR_RETURN(Value * end, b.call(aten::abs, {x}));
  PETREL_ASSIGN_OR_RETURN(end, b.call(aten::eq_Scalar, {end, 1}));
  PETREL_ASSIGN_OR_RETURN(Value * infinite, b.call(aten::mul_Scalar, {x, kInfinity}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {end, infinite, y}));
  return done(b, node, b.cast(y, dtype));
}

// Every number is.
Rewritten isreal(Builder& b, Node& node) {
  return done(b, node, b.call(aten::ones_like, {tensor_at(node, arg::self), ScalarType::kBool}));
}

constexpr Rewrite kRows[] = {
    {aten::xlogy_Tensor, xlogy},
    {aten::xlogy_Scalar_Other, xlogy},
    {aten::xlogy_Scalar_Self, xlogy},
    {aten::special_xlog1py, xlogy},
    {aten::special_xlog1py_other_scalar, xlogy},
    {aten::special_xlog1py_self_scalar, xlogy},
    {aten::float_power_Tensor_Tensor, float_power},
    {aten::float_power_Tensor_Scalar, float_power},
    {aten::float_power_Scalar, float_power},
    {aten::heaviside, heaviside},
    {aten::ldexp_Tensor, ldexp},
    {aten::fmax, extreme_number},
    {aten::fmin, extreme_number},
    {aten::logaddexp2, logaddexp2},
    {aten::isclose, isclose},
    {aten::special_entr, entropy},
    {aten::special_ndtr, normal_below},
    {aten::erfinv, erfinv},
    {aten::isreal, isreal},
};

}  // namespace

Rewrites special_decompositions() { return kRows; }

}  // namespace petrel::exir
