// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <limits>

#include "exir/pass/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

constexpr double kPi = 3.14159265358979323846;

bool is_one(const Argument& argument) { return argument.is_number() && argument.as_number() == 1; }

Rewritten square(Builder& b, Node& node) {
  return done(b, node, b.call("aten.pow.Tensor_Scalar", {tensor_at(node, 0), 2}));
}

// self + value * t1 <op> t2
Rewritten add_combined(Builder& b, Node& node, const char* combine) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(combine, tensor_at(node, 1), tensor_at(node, 2)));
  if (!is_one(node.argument(3))) {
    PETREL_ASSIGN_OR_RETURN(y, b.call("aten.mul.Scalar", {y, node.argument(3)}));
  }
  return done(b, node, b.binary("aten.add.Tensor", tensor_at(node, 0), y));
}

Rewritten addcmul(Builder& b, Node& node) { return add_combined(b, node, "aten.mul.Tensor"); }

Rewritten addcdiv(Builder& b, Node& node) { return add_combined(b, node, "aten.div.Tensor"); }

// self + weight * (end - self)
Rewritten lerp(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary("aten.sub.Tensor", tensor_at(node, 1), x));
  Value* weight = tensor_at(node, 2);
  if (weight != nullptr) {
    PETREL_ASSIGN_OR_RETURN(y, b.binary("aten.mul.Tensor", y, weight));
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.call("aten.mul.Scalar", {y, node.argument(2)}));
  }
  return done(b, node, b.binary("aten.add.Tensor", x, y));
}

Rewritten clamp_min(Builder& b, Node& node) {
  return done(b, node,
              b.call("aten.clamp.default", {tensor_at(node, 0), node.argument(1), none()}));
}

Rewritten clamp_max(Builder& b, Node& node) {
  return done(b, node,
              b.call("aten.clamp.default", {tensor_at(node, 0), none(), node.argument(1)}));
}

Rewritten clamp_min_tensor(Builder& b, Node& node) {
  return done(b, node, b.binary("aten.maximum.default", tensor_at(node, 0), tensor_at(node, 1)));
}

Rewritten clamp_max_tensor(Builder& b, Node& node) {
  return done(b, node, b.binary("aten.minimum.default", tensor_at(node, 0), tensor_at(node, 1)));
}

Rewritten times(Builder& b, Node& node, double factor) {
  return done(b, node, b.call("aten.mul.Scalar", {tensor_at(node, 0), factor}));
}

Rewritten deg2rad(Builder& b, Node& node) { return times(b, node, kPi / 180); }
Rewritten rad2deg(Builder& b, Node& node) { return times(b, node, 180 / kPi); }

// 1 - erf(x)
Rewritten erfc(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call("aten.erf.default", {tensor_at(node, 0)}));
  PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, y->tensor().dtype));
  return done(b, node, b.binary("aten.sub.Tensor", one, y));
}

Rewritten exp2(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, 0), node.result()->tensor().dtype));
  return done(b, node, b.call("aten.pow.Scalar", {2, x}));
}

Rewritten frac(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  PETREL_ASSIGN_OR_RETURN(Value * whole, b.call("aten.trunc.default", {x}));
  return done(b, node, b.binary("aten.sub.Tensor", x, whole));
}

Rewritten sgn(Builder& b, Node& node) {
  return done(b, node, b.call("aten.sign.default", {tensor_at(node, 0)}));
}

Rewritten isfinite(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  PETREL_ASSIGN_OR_RETURN(Value * inf, b.call("aten.isinf.default", {x}));
  PETREL_ASSIGN_OR_RETURN(Value * nan, b.call("aten.isnan.default", {x}));
  PETREL_ASSIGN_OR_RETURN(Value * bad, b.binary("aten.logical_or.default", inf, nan));
  return done(b, node, b.call("aten.logical_not.default", {bad}));
}

Rewritten isposinf(Builder& b, Node& node) {
  return done(
      b, node,
      b.call("aten.eq.Scalar", {tensor_at(node, 0), std::numeric_limits<double>::infinity()}));
}

Rewritten isneginf(Builder& b, Node& node) {
  return done(
      b, node,
      b.call("aten.eq.Scalar", {tensor_at(node, 0), -std::numeric_limits<double>::infinity()}));
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

Rewritten nan_to_num(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const ScalarType dtype = x->tensor().dtype;
  if (!is_floating_point(dtype)) return done(b, node, x);
  const double inf = std::numeric_limits<double>::infinity();
  const double finite[] = {
      node.argument(1).is_none() ? 0 : node.argument(1).as_number(),
      node.argument(2).is_none() ? largest(dtype) : node.argument(2).as_number(),
      node.argument(3).is_none() ? -largest(dtype) : node.argument(3).as_number()};
  Value* y = x;
  for (int i = 0; i < 3; ++i) {
    Value* is = nullptr;
    if (i == 0) {
      PETREL_ASSIGN_OR_RETURN(is, b.call("aten.isnan.default", {x}));
    } else {
      PETREL_ASSIGN_OR_RETURN(is, b.call("aten.eq.Scalar", {x, i == 1 ? inf : -inf}));
    }
    PETREL_ASSIGN_OR_RETURN(Value * value, b.scalar(finite[i], dtype));
    PETREL_ASSIGN_OR_RETURN(y, b.call("aten.where.self", {is, value, y}));
  }
  return done(b, node, y);
}

// sin(pi x) / (pi x), 1 at 0
Rewritten sinc(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.call("aten.eq.Scalar", {x, 0}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call("aten.mul.Scalar", {x, kPi}));
  PETREL_ASSIGN_OR_RETURN(Value * s, b.call("aten.sin.default", {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary("aten.div.Tensor", s, y));
  PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, y->tensor().dtype));
  return done(b, node, b.call("aten.where.self", {zero, one, y}));
}

Rewritten hypot(Builder& b, Node& node) {
  Value* squares[2];
  for (size_t i = 0; i < 2; ++i) {
    PETREL_ASSIGN_OR_RETURN(squares[i], b.call("aten.pow.Tensor_Scalar", {tensor_at(node, i), 2}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * sum, b.binary("aten.add.Tensor", squares[0], squares[1]));
  return done(b, node, b.call("aten.sqrt.default", {sum}));
}

// max(a, b) + log1p(exp(-|a - b|)); where both are the same infinity, that.
Rewritten logaddexp(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  Value* y = tensor_at(node, 1);
  PETREL_ASSIGN_OR_RETURN(Value * high, b.binary("aten.maximum.default", x, y));
  PETREL_ASSIGN_OR_RETURN(Value * rest, b.binary("aten.sub.Tensor", x, y));
  PETREL_ASSIGN_OR_RETURN(rest, b.call("aten.abs.default", {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call("aten.neg.default", {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call("aten.exp.default", {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.call("aten.log1p.default", {rest}));
  PETREL_ASSIGN_OR_RETURN(rest, b.binary("aten.add.Tensor", high, rest));
  PETREL_ASSIGN_OR_RETURN(Value * equal, b.binary("aten.eq.Tensor", x, y));
  PETREL_ASSIGN_OR_RETURN(Value * inf, b.call("aten.isinf.default", {high}));
  PETREL_ASSIGN_OR_RETURN(inf, b.binary("aten.logical_and.default", inf, equal));
  return done(b, node, b.call("aten.where.self", {inf, high, rest}));
}

// x log(y), and 0 where x is 0 whatever y is; NaN where y is.
Rewritten xlogy(Builder& b, Node& node) {
  const ScalarType dtype = node.result()->tensor().dtype;
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, 0), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.cast(tensor_at(node, 1), dtype));
  PETREL_ASSIGN_OR_RETURN(Value * log, b.call("aten.log.default", {y}));
  PETREL_ASSIGN_OR_RETURN(log, b.binary("aten.mul.Tensor", x, log));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, dtype));
  PETREL_ASSIGN_OR_RETURN(Value * none, b.call("aten.eq.Scalar", {x, 0}));
  PETREL_ASSIGN_OR_RETURN(Value * nan, b.call("aten.isnan.default", {y}));
  PETREL_ASSIGN_OR_RETURN(nan, b.call("aten.logical_not.default", {nan}));
  PETREL_ASSIGN_OR_RETURN(none, b.binary("aten.logical_and.default", none, nan));
  return done(b, node, b.call("aten.where.self", {none, zero, log}));
}

// To `decimals` places after the point, or before it.
Rewritten round_decimals(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  const int64_t decimals = node.argument("decimals").as_int();
  if (!is_floating_point(x->tensor().dtype) || decimals < -30 || decimals > 30) {
    return false;
  }
  const double ten = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  const char* const up = "aten.mul.Scalar";
  const char* const down = "aten.div.Scalar";
  PETREL_ASSIGN_OR_RETURN(x, b.call(decimals < 0 ? down : up, {x, ten}));
  PETREL_ASSIGN_OR_RETURN(x, b.call("aten.round.default", {x}));
  return done(b, node, b.call(decimals < 0 ? up : down, {x, ten}));
}

constexpr Rewrite kRows[] = {
    {"aten.xlogy.Tensor", xlogy},
    {"aten.round.decimals", round_decimals},
    {"aten.square.default", square},
    {"aten.addcmul.default", addcmul},
    {"aten.addcdiv.default", addcdiv},
    {"aten.lerp.Scalar", lerp},
    {"aten.lerp.Tensor", lerp},
    {"aten.clamp_min.default", clamp_min},
    {"aten.clamp_max.default", clamp_max},
    {"aten.clamp_min.Tensor", clamp_min_tensor},
    {"aten.clamp_max.Tensor", clamp_max_tensor},
    {"aten.deg2rad.default", deg2rad},
    {"aten.rad2deg.default", rad2deg},
    {"aten.erfc.default", erfc},
    {"aten.exp2.default", exp2},
    {"aten.frac.default", frac},
    {"aten.sgn.default", sgn},
    {"aten.isfinite.default", isfinite},
    {"aten.isposinf.default", isposinf},
    {"aten.isneginf.default", isneginf},
    {"aten.nan_to_num.default", nan_to_num},
    {"aten.sinc.default", sinc},
    {"aten.hypot.default", hypot},
    {"aten.logaddexp.default", logaddexp},
};

}  // namespace

Rewrites arithmetic_decompositions() { return kRows; }

}  // namespace petrel::exir
