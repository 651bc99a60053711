// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/round_once.h"
#include "exir/pass/lower/lower_to_kernels.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

Rewritten silu(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * s, b.call(aten::sigmoid, {x}));
  return done(b, node, b.binary(aten::mul_Tensor, x, s));
}

// clamp(x + 3, 0, 6)
BuiltValue shifted_relu6(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::add_Scalar, {x, 3}));
  return b.call(aten::clamp, {y, 0, 6});
}

Rewritten hardsigmoid(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, shifted_relu6(b, tensor_at(node, arg::self)));
  return done(b, node, b.call(aten::div_Scalar, {y, 6}));
}

Rewritten hardswish(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * y, shifted_relu6(b, x));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, x, y));
  return done(b, node, b.call(aten::div_Scalar, {y, 6}));
}

// log(1 + exp(beta x)) / beta, x itself where beta x > threshold. The branch
// that is not taken may overflow.
BuiltValue softplus_of(Builder& b, Value* x, double beta, double threshold) {
  Value* y = x;
  if (beta != 1) {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::mul_Scalar, {x, beta}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * high, b.call(aten::gt_Scalar, {y, threshold}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::exp, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::log1p, {y}));
  if (beta != 1) {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::div_Scalar, {y, beta}));
  }
  return b.call(aten::where_self, {high, x, y});
}

Rewritten softplus(Builder& b, Node& node) {
  return done(b, node,
              softplus_of(b, tensor_at(node, arg::self), fixed_number(node.argument(arg::beta)),
                          fixed_number(node.argument(arg::threshold))));
}

Rewritten mish(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * y, softplus_of(b, x, 1, 20));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::tanh, {y}));
  return done(b, node, b.binary(aten::mul_Tensor, x, y));
}

constexpr Rewrite kRows[] = {
    {aten::silu, rounded_once<silu>},           {aten::hardsigmoid, rounded_once<hardsigmoid>},
    {aten::hardswish, rounded_once<hardswish>}, {aten::softplus, rounded_once<softplus>},
    {aten::mish, rounded_once<mish>},
};

}  // namespace

Rewrites activation_lowerings() { return kRows; }

}  // namespace petrel::exir
