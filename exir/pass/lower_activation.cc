// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/lower_to_kernels.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;

Rewritten silu(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  PETREL_ASSIGN_OR_RETURN(Value * s, b.call("aten.sigmoid.default", {x}));
  return done(b, node, b.binary("aten.mul.Tensor", x, s));
}

// clamp(x + 3, 0, 6)
BuiltValue shifted_relu6(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call("aten.add.Scalar", {x, 3}));
  return b.call("aten.clamp.default", {y, 0, 6});
}

Rewritten hardsigmoid(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, shifted_relu6(b, tensor_at(node, 0)));
  return done(b, node, b.call("aten.div.Scalar", {y, 6}));
}

Rewritten hardswish(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  PETREL_ASSIGN_OR_RETURN(Value * y, shifted_relu6(b, x));
  PETREL_ASSIGN_OR_RETURN(y, b.binary("aten.mul.Tensor", x, y));
  return done(b, node, b.call("aten.div.Scalar", {y, 6}));
}

// log(1 + exp(beta x)) / beta, x itself where beta x > threshold. The branch
// that is not taken may overflow.
BuiltValue softplus_of(Builder& b, Value* x, double beta, double threshold) {
  Value* y = x;
  if (beta != 1) {
    PETREL_ASSIGN_OR_RETURN(y, b.call("aten.mul.Scalar", {x, beta}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * high, b.call("aten.gt.Scalar", {y, threshold}));
  PETREL_ASSIGN_OR_RETURN(y, b.call("aten.exp.default", {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call("aten.log1p.default", {y}));
  if (beta != 1) {
    PETREL_ASSIGN_OR_RETURN(y, b.call("aten.div.Scalar", {y, beta}));
  }
  return b.call("aten.where.self", {high, x, y});
}

Rewritten softplus(Builder& b, Node& node) {
  return done(b, node,
              softplus_of(b, tensor_at(node, 0), node.argument(1).as_number(),
                          node.argument(2).as_number()));
}

Rewritten mish(Builder& b, Node& node) {
  Value* x = tensor_at(node, 0);
  PETREL_ASSIGN_OR_RETURN(Value * y, softplus_of(b, x, 1, 20));
  PETREL_ASSIGN_OR_RETURN(y, b.call("aten.tanh.default", {y}));
  return done(b, node, b.binary("aten.mul.Tensor", x, y));
}

constexpr Rewrite kRows[] = {
    {"aten.silu.default", silu},           {"aten.hardsigmoid.default", hardsigmoid},
    {"aten.hardswish.default", hardswish}, {"aten.softplus.default", softplus},
    {"aten.mish.default", mish},
};

}  // namespace

Rewrites activation_lowerings() { return kRows; }

}  // namespace petrel::exir
