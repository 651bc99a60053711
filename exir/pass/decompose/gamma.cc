// SPDX-License-Identifier: Apache-2.0
//
// The logarithm of the gamma function and its derivative, in f64: by their series for large
// numbers, to which small ones are brought by steps of one, and by reflection below 0.
#include <cmath>
#include <limits>

#include "absl/types/span.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

constexpr double kPi = 3.14159265358979323846;
constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// From here on the terms below are enough for f64.
constexpr int kLarge = 8;

// Factors of 1/x, 1/x^3, 1/x^5, ...
constexpr double kLogGammaTerms[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                     1.0 / 1188, -691.0 / 360360, 1.0 / 156};

// Factors of 1/x^2, 1/x^4, 1/x^6, ...
constexpr double kDigammaTerms[] = {-1.0 / 12,  1.0 / 120,     -1.0 / 252, 1.0 / 240,
                                    -1.0 / 132, 691.0 / 32760, -1.0 / 12};

// terms[0] + terms[1] x + terms[2] x^2 + ...
BuiltValue polynomial(Builder& b, absl::Span<const double> terms, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::mul_Scalar, {x, terms.back()}));
  for (size_t i = terms.size() - 1; i-- > 0;) {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, terms[i]}));
    if (i > 0) {
      PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, x));
    }
  }
  return y;
}

BuiltValue choose(Builder& b, Value* condition, Value* yes, double no) {
  PETREL_ASSIGN_OR_RETURN(Value * other, b.scalar(no, ScalarType::kDouble));
  return b.call(aten::where_self, {condition, yes, other});
}

// x + 8 where x is small, with what that adds to the logarithm: that of x (x+1) ... (x+7).
BuiltValue log_gamma_above_0(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * small, b.call(aten::lt_Scalar, {x, kLarge}));
  PETREL_ASSIGN_OR_RETURN(Value * large, b.call(aten::add_Scalar, {x, kLarge}));
  PETREL_ASSIGN_OR_RETURN(large, b.call(aten::where_self, {small, large, x}));
  Value* steps = x;
  for (int i = 1; i < kLarge; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * next, b.call(aten::add_Scalar, {x, i}));
    PETREL_ASSIGN_OR_RETURN(steps, b.binary(aten::mul_Tensor, steps, next));
  }
  PETREL_ASSIGN_OR_RETURN(steps, b.call(aten::log, {steps}));
  PETREL_ASSIGN_OR_RETURN(steps, choose(b, small, steps, 0));
  // (x - 1/2) log(x) - x, written so that infinity gives no difference of two.
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::log, {large}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::sub_Scalar, {y, 1}));
  PETREL_ASSIGN_OR_RETURN(Value * by, b.call(aten::sub_Scalar, {large, 0.5}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, by));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, kHalfLogTwoPi - 0.5}));
  PETREL_ASSIGN_OR_RETURN(Value * inverse, b.call(aten::reciprocal, {large}));
  PETREL_ASSIGN_OR_RETURN(Value * square, b.binary(aten::mul_Tensor, inverse, inverse));
  PETREL_ASSIGN_OR_RETURN(Value * rest, polynomial(b, kLogGammaTerms, square));
  PETREL_ASSIGN_OR_RETURN(rest, b.binary(aten::mul_Tensor, rest, inverse));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, rest));
  return b.binary(aten::sub_Tensor, y, steps);
}

// Each step of one from x to x + 8 adds its reciprocal.
BuiltValue digamma_from_0(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * small, b.call(aten::lt_Scalar, {x, kLarge}));
  PETREL_ASSIGN_OR_RETURN(Value * large, b.call(aten::add_Scalar, {x, kLarge}));
  PETREL_ASSIGN_OR_RETURN(large, b.call(aten::where_self, {small, large, x}));
  PETREL_ASSIGN_OR_RETURN(Value * steps, b.call(aten::reciprocal, {x}));
  for (int i = 1; i < kLarge; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * next, b.call(aten::add_Scalar, {x, i}));
    PETREL_ASSIGN_OR_RETURN(next, b.call(aten::reciprocal, {next}));
    PETREL_ASSIGN_OR_RETURN(steps, b.binary(aten::add_Tensor, steps, next));
  }
  PETREL_ASSIGN_OR_RETURN(steps, choose(b, small, steps, 0));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::log, {large}));
  PETREL_ASSIGN_OR_RETURN(Value * inverse, b.call(aten::reciprocal, {large}));
  PETREL_ASSIGN_OR_RETURN(Value * square, b.binary(aten::mul_Tensor, inverse, inverse));
  PETREL_ASSIGN_OR_RETURN(Value * rest, polynomial(b, kDigammaTerms, square));
  PETREL_ASSIGN_OR_RETURN(rest, b.binary(aten::mul_Tensor, rest, square));
  PETREL_ASSIGN_OR_RETURN(inverse, b.call(aten::mul_Scalar, {inverse, 0.5}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, y, inverse));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, rest));
  return b.binary(aten::sub_Tensor, y, steps);
}

// pi times what x differs from the nearest whole number by.
BuiltValue angle_of(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * whole, b.call(aten::round, {x}));
  PETREL_ASSIGN_OR_RETURN(Value * angle, b.binary(aten::sub_Tensor, x, whole));
  return b.call(aten::mul_Scalar, {angle, kPi});
}

// 1 - x where `below`, else x.
BuiltValue reflected(Builder& b, Value* x, Value* below) {
  PETREL_ASSIGN_OR_RETURN(Value * other, b.call(aten::mul_Scalar, {x, -1.0}));
  PETREL_ASSIGN_OR_RETURN(other, b.call(aten::add_Scalar, {other, 1.0}));
  return b.call(aten::where_self, {below, other, x});
}

// Infinite at infinities and at whole numbers that are not positive.
BuiltValue log_gamma_of(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * below, b.call(aten::lt_Scalar, {x, 0.5}));
  PETREL_ASSIGN_OR_RETURN(Value * above, reflected(b, x, below));
  PETREL_ASSIGN_OR_RETURN(above, log_gamma_above_0(b, above));
  PETREL_ASSIGN_OR_RETURN(Value * y, angle_of(b, x));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::sin, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::abs, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::log, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, above));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::mul_Scalar, {y, -1.0}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, std::log(kPi)}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {below, y, above}));
  PETREL_ASSIGN_OR_RETURN(Value * finite, b.call(aten::isinf, {x}));
  PETREL_ASSIGN_OR_RETURN(finite, b.call(aten::logical_not, {finite}));
  return choose(b, finite, y, std::numeric_limits<double>::infinity());
}

Rewritten log_gamma(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), ScalarType::kDouble));
  PETREL_ASSIGN_OR_RETURN(Value * y, log_gamma_of(b, x));
  return done(b, node, b.cast(y, dtype));
}

// The sum of those of x, x - 1/2, x - 1, ..., p of them, and p (p - 1) / 4 log(pi).
Rewritten log_gamma_of_several(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  const int64_t count = fixed_int(node.argument(arg::p));
  if (count < 1 || count > 64) return false;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), ScalarType::kDouble));
  Value* sum = nullptr;
  for (int64_t i = 0; i < count; ++i) {
    PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::sub_Scalar, {x, static_cast<double>(i) / 2}));
    PETREL_ASSIGN_OR_RETURN(y, log_gamma_of(b, y));
    if (sum != nullptr) {
      PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, sum, y));
    }
    sum = y;
  }
  const auto pairs = static_cast<double>(count * (count - 1));
  PETREL_ASSIGN_OR_RETURN(sum, b.call(aten::add_Scalar, {sum, pairs / 4 * std::log(kPi)}));
  return done(b, node, b.cast(sum, dtype));
}

// NaN at negative whole numbers; at zeros infinite, with the other sign.
Rewritten digamma(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), ScalarType::kDouble));
  PETREL_ASSIGN_OR_RETURN(Value * below, b.call(aten::lt_Scalar, {x, 0}));
  PETREL_ASSIGN_OR_RETURN(Value * above, reflected(b, x, below));
  PETREL_ASSIGN_OR_RETURN(above, digamma_from_0(b, above));
  PETREL_ASSIGN_OR_RETURN(Value * angle, angle_of(b, x));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::tan, {angle}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::reciprocal, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::mul_Scalar, {y, kPi}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, above, y));
  PETREL_ASSIGN_OR_RETURN(Value * has_one, b.call(aten::ne_Scalar, {angle, 0}));
  PETREL_ASSIGN_OR_RETURN(y, choose(b, has_one, y, std::nan("")));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {below, y, above}));
  return done(b, node, b.cast(y, dtype));
}

constexpr Rewrite kRows[] = {
    {aten::lgamma, log_gamma},
    {aten::digamma, digamma},
    {aten::mvlgamma, log_gamma_of_several},
};

}  // namespace

Rewrites gamma_decompositions() { return kRows; }

}  // namespace petrel::exir
