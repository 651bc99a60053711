// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/round_once.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

Rewritten relu6(Builder& b, Node& node) {
  return done(b, node, b.call(aten::hardtanh, {tensor_at(node, arg::self), 0, 6}));
}

// The constants of self-normalising networks.
Rewritten selu(Builder& b, Node& node) {
  return done(b, node,
              b.call(aten::elu, {tensor_at(node, arg::self), 1.6732632423543772848170429916717,
                                 1.0507009873554804934193349852946, 1}));
}

// max(0, x) + min(0, alpha (exp(x / alpha) - 1))
Rewritten celu(Builder& b, Node& node) {
  const double alpha = fixed_number(node.argument(arg::alpha));
  if (alpha == 0) return absl::InvalidArgumentError("argument 'alpha' is 0");
  return done(b, node, b.call(aten::elu, {tensor_at(node, arg::self), alpha, 1, 1 / alpha}));
}

// A leaky ReLU of the slope that is drawn in the mean.
Rewritten rrelu(Builder& b, Node& node) {
  const double slope =
      (fixed_number(node.argument(arg::lower)) + fixed_number(node.argument(arg::upper))) / 2;
  return done(b, node, b.call(aten::leaky_relu, {tensor_at(node, arg::self), slope}));
}

// min(0, x) - log(1 + exp(-|x|)), which does not overflow.
Rewritten log_sigmoid(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * low, b.call(aten::clamp, {x, none(), 0}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::abs, {x}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::neg, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::exp, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::log1p, {y}));
  return done(b, node, b.call(aten::sub_Tensor, {low, y}));
}

// x where |x| > lambda, else 0.
Rewritten hardshrink(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * m, b.call(aten::abs, {x}));
  // Not "greater": NaN stays.
  PETREL_ASSIGN_OR_RETURN(m, b.call(aten::le_Scalar, {m, node.argument(arg::lambd)}));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, x->tensor().dtype));
  return done(b, node, b.call(aten::where_self, {m, zero, x}));
}

// x - clamp(x, -lambda, lambda)
Rewritten softshrink(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const double lambda = fixed_number(node.argument(arg::lambd));
  PETREL_ASSIGN_OR_RETURN(Value * middle, b.call(aten::clamp, {x, -lambda, lambda}));
  return done(b, node, b.call(aten::sub_Tensor, {x, middle}));
}

// x where x > threshold, else value.
Rewritten threshold(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  PETREL_ASSIGN_OR_RETURN(Value * low, b.call(aten::le_Scalar, {x, node.argument(arg::threshold)}));
  PETREL_ASSIGN_OR_RETURN(Value * value,
                          b.scalar(fixed_number(node.argument(arg::value)), x->tensor().dtype));
  return done(b, node, b.call(aten::where_self, {low, value, x}));
}

// x where x > 0, else weight * x; the weight belongs to dim 1.
Rewritten prelu(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* weight = tensor_at(node, arg::weight);
  const size_t rank = x->tensor().rank();
  if (node.is(aten::prelu) && numel_of(weight) > 1) {
    Sizes sizes(rank, 1);
    sizes[rank > 1 ? 1 : 0] = numel_of(weight);
    PETREL_ASSIGN_OR_RETURN(weight, b.view(weight, sizes));
  }
  PETREL_ASSIGN_OR_RETURN(Value * m, b.call(aten::gt_Scalar, {x, 0}));
  PETREL_ASSIGN_OR_RETURN(Value * low, b.binary(aten::mul_Tensor, x, weight));
  // A weight of sizes [1] would give a tensor of rank 0 a dimension.
  PETREL_ASSIGN_OR_RETURN(low, b.view(low, sizes_of(x)));
  return done(b, node, b.call(aten::where_self, {m, x, low}));
}

BuiltValue cast_of(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  return b.cast(x, node.result()->tensor().dtype);
}

Rewritten softmax(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x, cast_of(b, node));
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  return done(b, node, b.call(aten::_softmax, {x, dim, false}));
}

//   %y = _safe_softmax(%x, dim)
// ->
//   %y = where(any(%x != -inf, [dim], true), softmax(%x, dim), 0)
Rewritten safe_softmax(Builder& b, Node& node) {
  const TensorType& type = node.result()->tensor();
  const Argument& dim = node.argument(arg::dim);
  PETREL_ASSIGN_OR_RETURN(Value * x, b.cast(tensor_at(node, arg::self), type.dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::_softmax, {x, dim, false}));
  if (type.rank() == 0) return done(b, node, b.view(y, {}));
  PETREL_ASSIGN_OR_RETURN(Value * seen,
                          b.call(aten::ne_Scalar, {x, -std::numeric_limits<double>::infinity()}));
  PETREL_ASSIGN_OR_RETURN(seen, b.call(aten::any_dims, {seen, Ints{fixed_int(dim)}, true}));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, type.dtype));
  return done(b, node, b.call(aten::where_self, {seen, y, zero}));
}

Rewritten log_softmax(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * x, cast_of(b, node));
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  return done(b, node, b.call(aten::_log_softmax, {x, dim, false}));
}

// The internal forms: dim non-negative, widening as a cast.
Rewritten internal_softmax(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  if (node.argument(arg::dim) == Argument(dim) &&
      node.argument(arg::half_to_float) == Argument(false)) {
    return false;
  }
  PETREL_ASSIGN_OR_RETURN(x, cast_of(b, node));
  PETREL_ASSIGN_OR_RETURN(Node * made,
                          b.node(node.op(), {Argument(x), Argument(dim), Argument(false)}));
  return done(b, node, made->result());
}

// One half of the dim times the sigmoid of the other.
Rewritten glu(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  const Size half = sizes_of(x)[static_cast<size_t>(dim)] / 2;
  PETREL_ASSIGN_OR_RETURN(Value * gate, b.slice(x, dim, half, 2 * half));
  PETREL_ASSIGN_OR_RETURN(gate, b.call(aten::sigmoid, {gate}));
  PETREL_ASSIGN_OR_RETURN(x, b.slice(x, dim, 0, half));
  return done(b, node, b.binary(aten::mul_Tensor, x, gate));
}

constexpr Rewrite kRows[] = {
    {aten::glu, rounded_once<glu>},
    {aten::relu6, relu6},
    {aten::selu, selu},
    {aten::celu, celu},
    {aten::rrelu, rrelu},
    {aten::log_sigmoid, rounded_once<log_sigmoid>},
    {aten::hardshrink, hardshrink},
    {aten::softshrink, softshrink},
    {aten::threshold, threshold},
    {aten::prelu, prelu},
    {aten::_prelu_kernel, prelu},
    {aten::softmax_int, softmax},
    {aten::log_softmax_int, log_softmax},
    {aten::_safe_softmax, safe_softmax},
    {aten::_softmax, internal_softmax, true},
    {aten::_log_softmax, internal_softmax, true},
};

}  // namespace

Rewrites activation_decompositions() { return kRows; }

}  // namespace petrel::exir
