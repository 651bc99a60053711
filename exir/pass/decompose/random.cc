// SPDX-License-Identifier: Apache-2.0
//
// Draws of every kind from uniform ones in [0, 1) and normal ones, which have kernels:
//
//   %y = aten.exponential.default(%x, 2.0)
// ->
//   %u = aten.rand.default([3, 4], f32)
//   %y = -log(1 - %u) / 2
#include <cmath>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

constexpr double kPi = 3.141592653589793;
// The step between uniform floats, which halves have as well: no exponential draw is 0, whose
// logarithm is infinite.
constexpr double kLeastDraw = 1.0 / (1 << 24);

Sizes result_sizes(const Node& node) { return sizes_of(node.result()); }

ScalarType dtype_of(const Node& node) { return node.result()->tensor().dtype; }

double number_at(const Node& node, ArgHandle name) { return fixed_number(node.argument(name)); }

BuiltValue uniform_draws(Builder& b, const Sizes& sizes, ScalarType dtype) {
  return b.call(aten::rand, {sizes, dtype});
}

// Of mean 1, above 0.
BuiltValue exponential_draws(Builder& b, const Sizes& sizes, ScalarType dtype) {
  PETREL_ASSIGN_OR_RETURN(Value * y, uniform_draws(b, sizes, dtype));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::neg, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::log1p, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::neg, {y}));
  return b.call(aten::clamp, {y, kLeastDraw, none()});
}

BuiltValue scaled(Builder& b, Value* x, double factor, double offset) {
  PETREL_ASSIGN_OR_RETURN(x, b.call(aten::mul_Scalar, {x, factor}));
  return b.call(aten::add_Scalar, {x, offset});
}

BuiltValue normal_draws(Builder& b, const Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::randn, {result_sizes(node), dtype_of(node)}));
  return scaled(b, y, number_at(node, arg::std), number_at(node, arg::mean));
}

Rewritten rand_like(Builder& b, Node& node) {
  return done(b, node, uniform_draws(b, result_sizes(node), dtype_of(node)));
}

Rewritten randn_like(Builder& b, Node& node) {
  return done(b, node, b.call(aten::randn, {result_sizes(node), dtype_of(node)}));
}

Rewritten uniform(Builder& b, Node& node) {
  const double from = number_at(node, arg::from);
  PETREL_ASSIGN_OR_RETURN(Value * y, uniform_draws(b, result_sizes(node), dtype_of(node)));
  return done(b, node, scaled(b, y, number_at(node, arg::to) - from, from));
}

Rewritten normal_of_numbers(Builder& b, Node& node) { return done(b, node, normal_draws(b, node)); }

// Mean or deviation, or both, for each element.
Rewritten normal(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::randn, {result_sizes(node), dtype_of(node)}));
  if (Value* deviation = tensor_at(node, arg::std)) {
    PETREL_ASSIGN_OR_RETURN(deviation, b.cast(deviation, dtype_of(node)));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, deviation));
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::mul_Scalar, {y, number_at(node, arg::std)}));
  }
  if (Value* mean = tensor_at(node, arg::mean)) {
    PETREL_ASSIGN_OR_RETURN(mean, b.cast(mean, dtype_of(node)));
    return done(b, node, b.binary(aten::add_Tensor, y, mean));
  }
  return done(b, node, b.call(aten::add_Scalar, {y, number_at(node, arg::mean)}));
}

Rewritten exponential(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, exponential_draws(b, result_sizes(node), dtype_of(node)));
  return done(b, node, b.call(aten::mul_Scalar, {y, 1 / number_at(node, arg::lambd)}));
}

Rewritten log_normal(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, normal_draws(b, node));
  return done(b, node, b.call(aten::exp, {y}));
}

// median + sigma tan(pi (u - 1/2))
Rewritten cauchy(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, uniform_draws(b, result_sizes(node), dtype_of(node)));
  PETREL_ASSIGN_OR_RETURN(y, scaled(b, y, kPi, -kPi / 2));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::tan, {y}));
  return done(b, node, scaled(b, y, number_at(node, arg::sigma), number_at(node, arg::median)));
}

// How many tries of chance p until one succeeds: an exponential draw, rounded up.
Rewritten geometric(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, exponential_draws(b, result_sizes(node), ScalarType::kFloat));
  const double p = number_at(node, arg::p);
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::mul_Scalar, {y, -1 / std::log1p(-p)}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::ceil, {y}));
  return done(b, node, b.cast(y, dtype_of(node)));
}

// 1 with chance p, which is the tensor itself, another one, or a number.
Rewritten bernoulli(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, uniform_draws(b, result_sizes(node), ScalarType::kFloat));
  Value* chances = tensor_at(node, node.op().find_arg(arg::p) < 0 ? arg::self : arg::p);
  if (chances != nullptr) {
    PETREL_ASSIGN_OR_RETURN(chances, b.cast(chances, ScalarType::kFloat));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::lt_Tensor, y, chances));
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::lt_Scalar, {y, number_at(node, arg::p)}));
  }
  return done(b, node, b.cast(y, dtype_of(node)));
}

// Doubles: floats have no more than 2^24 values.
Rewritten randint(Builder& b, Node& node) {
  const bool has_low = node.op().find_arg(arg::low) >= 0;
  if (!is_size(node.argument(arg::high)) || (has_low && !is_size(node.argument(arg::low)))) {
    return false;
  }
  const Size low = has_low ? size_in(node.argument(arg::low)) : Size(0);
  PETREL_ASSIGN_OR_RETURN(Value * y, uniform_draws(b, result_sizes(node), ScalarType::kDouble));
  PETREL_ASSIGN_OR_RETURN(y,
                          b.call(aten::mul_Scalar, {y, size_in(node.argument(arg::high)) - low}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::floor, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, low}));
  return done(b, node, b.cast(y, dtype_of(node)));
}

// Numbers in the order of as many draws.
Rewritten randperm(Builder& b, Node& node) {
  if (!is_size(node.argument(arg::n))) return false;
  const Size n = size_in(node.argument(arg::n));
  PETREL_ASSIGN_OR_RETURN(Value * draws, uniform_draws(b, {n}, ScalarType::kDouble));
  PETREL_ASSIGN_OR_RETURN(Node * sorted, b.node(aten::topk, {draws, n, 0, false, true}));
  return done(b, node, b.cast(sorted->result(1), dtype_of(node)));
}

// Of weights w and exponential draws e, the largest w / e are at a sample of the weights without
// replacement; the largest of one set of draws for each sample with it.
Rewritten multinomial(Builder& b, Node& node) {
  Value* weights = tensor_at(node, arg::self);
  if (!is_size(node.argument(arg::num_samples))) return false;
  // Halves have too few quotients.
  if (weights->tensor().dtype != ScalarType::kDouble) {
    PETREL_ASSIGN_OR_RETURN(weights, b.cast(weights, ScalarType::kFloat));
  }
  const Size count = size_in(node.argument(arg::num_samples));
  Sizes sizes = sizes_of(weights);
  const bool repeats = node.argument(arg::replacement) == Argument(true) && !count.is(1);
  if (repeats) {
    sizes.insert(sizes.end() - 1, 1);
    PETREL_ASSIGN_OR_RETURN(weights, b.view(weights, sizes));
    sizes[sizes.size() - 2] = count;
  }
  PETREL_ASSIGN_OR_RETURN(Value * draws, exponential_draws(b, sizes, weights->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(Value * keys, b.binary(aten::div_Tensor, weights, draws));
  if (repeats) return done(b, node, b.call(aten::argmax, {keys, -1}));
  PETREL_ASSIGN_OR_RETURN(Node * largest, b.node(aten::topk, {keys, count, -1, true, true}));
  return done(b, node, largest->result(1));
}

constexpr Rewrite kRows[] = {
    {aten::rand_like, rand_like},
    {aten::randn_like, randn_like},
    {aten::uniform, uniform},
    {aten::normal_functional, normal_of_numbers},
    {aten::normal_float_float, normal_of_numbers},
    {aten::normal_Tensor_Tensor, normal},
    {aten::normal_Tensor_float, normal},
    {aten::normal_float_Tensor, normal},
    {aten::exponential, exponential},
    {aten::log_normal, log_normal},
    {aten::cauchy, cauchy},
    {aten::geometric, geometric},
    {aten::bernoulli, bernoulli},
    {aten::bernoulli_p, bernoulli},
    {aten::bernoulli_Tensor, bernoulli},
    {aten::randint, randint},
    {aten::randint_low, randint},
    {aten::randint_like, randint},
    {aten::randint_like_low_dtype, randint},
    {aten::randperm, randperm},
    {aten::multinomial, multinomial},
};

}  // namespace

Rewrites random_decompositions() { return kRows; }

}  // namespace petrel::exir
