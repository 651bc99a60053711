// SPDX-License-Identifier: Apache-2.0
//
// Losses: the loss of each element, then its mean or sum where that is asked for.
#include <cstddef>
#include <cstdint>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// As torch numbers them.
enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Rewritten reduced(Builder& b, Node& node, Value* loss) {
  // All tensors take part in one promotion, which that of pairs need not be.
  PETREL_ASSIGN_OR_RETURN(loss, b.cast(loss, node.result()->tensor().dtype));
  const int64_t reduction = fixed_int(node.argument(arg::reduction));
  if (reduction == kNone) return done(b, node, loss);
  return done(b, node, b.call(reduction == kMean ? aten::mean : aten::sum, {loss}));
}

BuiltValue difference(Builder& b, Node& node) {
  return b.binary(aten::sub_Tensor, tensor_at(node, arg::self), tensor_at(node, arg::target));
}

Rewritten squares(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * d, difference(b, node));
  PETREL_ASSIGN_OR_RETURN(d, b.binary(aten::mul_Tensor, d, d));
  return reduced(b, node, d);
}

Rewritten distances(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * d, difference(b, node));
  PETREL_ASSIGN_OR_RETURN(d, b.call(aten::abs, {d}));
  return reduced(b, node, d);
}

// d^2 / 2 up to `limit`, then limit (|d| - limit / 2); smooth_l1 is that over beta.
Rewritten huber(Builder& b, Node& node) {
  const bool is_smooth = node.is(aten::smooth_l1_loss);
  const double limit = fixed_number(node.argument(is_smooth ? arg::beta : arg::delta));
  if (limit == 0) return distances(b, node);
  PETREL_ASSIGN_OR_RETURN(Value * d, difference(b, node));
  PETREL_ASSIGN_OR_RETURN(Value * size, b.call(aten::abs, {d}));
  PETREL_ASSIGN_OR_RETURN(Value * small, b.binary(aten::mul_Tensor, d, d));
  PETREL_ASSIGN_OR_RETURN(small, b.call(aten::mul_Scalar, {small, is_smooth ? 0.5 / limit : 0.5}));
  PETREL_ASSIGN_OR_RETURN(Value * large, b.call(aten::sub_Scalar, {size, limit / 2}));
  if (!is_smooth) {
    PETREL_ASSIGN_OR_RETURN(large, b.call(aten::mul_Scalar, {large, limit}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * near, b.call(aten::lt_Scalar, {size, limit}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::where_self, {near, small, large}));
  return reduced(b, node, y);
}

BuiltValue one_minus(Builder& b, Value* x) {
  PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, x->tensor().dtype));
  return b.binary(aten::sub_Tensor, one, x);
}

BuiltValue weighted(Builder& b, Node& node, Value* x) {
  Value* weight = tensor_at(node, arg::weight);
  if (weight == nullptr) return x;
  return b.binary(aten::mul_Tensor, x, weight);
}

// -t log(x) - (1 - t) log(1 - x), logarithms not below -100.
Rewritten binary_cross_entropy(Builder& b, Node& node) {
  Value* target = tensor_at(node, arg::target);
  Value* parts[2] = {tensor_at(node, arg::self), nullptr};
  PETREL_ASSIGN_OR_RETURN(parts[1], b.call(aten::neg, {parts[0]}));
  for (const bool is_second : {false, true}) {
    Value*& part = parts[is_second ? 1 : 0];
    PETREL_ASSIGN_OR_RETURN(part, b.call(is_second ? aten::log1p : aten::log, {part}));
    PETREL_ASSIGN_OR_RETURN(part, b.call(aten::clamp, {part, -100}));
    Value* share = target;
    if (is_second) {
      PETREL_ASSIGN_OR_RETURN(share, one_minus(b, target));
    }
    PETREL_ASSIGN_OR_RETURN(part, b.binary(aten::mul_Tensor, share, part));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::add_Tensor, parts[0], parts[1]));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::neg, {y}));
  PETREL_ASSIGN_OR_RETURN(y, weighted(b, node, y));
  return reduced(b, node, y);
}

// (1 - t) x - (1 + (p - 1) t) log(sigmoid(x)), p the weight of what is true.
Rewritten binary_cross_entropy_with_logits(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* target = tensor_at(node, arg::target);
  PETREL_ASSIGN_OR_RETURN(Value * y, one_minus(b, target));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, y, x));
  PETREL_ASSIGN_OR_RETURN(Value * log, b.call(aten::log_sigmoid, {x}));
  if (Value* weight = tensor_at(node, arg::pos_weight)) {
    PETREL_ASSIGN_OR_RETURN(weight, b.call(aten::sub_Scalar, {weight, 1}));
    PETREL_ASSIGN_OR_RETURN(weight, b.binary(aten::mul_Tensor, weight, target));
    PETREL_ASSIGN_OR_RETURN(weight, b.call(aten::add_Scalar, {weight, 1}));
    PETREL_ASSIGN_OR_RETURN(log, b.binary(aten::mul_Tensor, weight, log));
  }
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, y, log));
  PETREL_ASSIGN_OR_RETURN(y, weighted(b, node, y));
  return reduced(b, node, y);
}

// t (log(t) - x), 0 where t is.
Rewritten divergence(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* target = tensor_at(node, arg::target);
  Value* y = nullptr;
  if (node.argument(arg::log_target) == Argument(true)) {
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, target, x));
    PETREL_ASSIGN_OR_RETURN(target, b.call(aten::exp, {target}));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, target, y));
  } else {
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::xlogy_Tensor, target, target));
    PETREL_ASSIGN_OR_RETURN(x, b.binary(aten::mul_Tensor, target, x));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, y, x));
  }
  return reduced(b, node, y);
}

// log(1 + exp(-t x))
Rewritten soft_margin(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::mul_Tensor, tensor_at(node, arg::self),
                                              tensor_at(node, arg::target)));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::neg, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::exp, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::log1p, {y}));
  return reduced(b, node, y);
}

// exp(x) - t x, or x - t log(x + eps). Stirling's term stays as it is.
Rewritten poisson(Builder& b, Node& node) {
  if (node.argument(arg::full) == Argument(true)) return false;
  Value* x = tensor_at(node, arg::input);
  Value* log = x;
  if (node.argument(arg::log_input) == Argument(true)) {
    PETREL_ASSIGN_OR_RETURN(x, b.call(aten::exp, {x}));
  } else {
    PETREL_ASSIGN_OR_RETURN(log, b.call(aten::add_Scalar, {x, node.argument(arg::eps)}));
    PETREL_ASSIGN_OR_RETURN(log, b.call(aten::log, {log}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::mul_Tensor, tensor_at(node, arg::target), log));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::sub_Tensor, x, y));
  return reduced(b, node, y);
}

// x where the target is 1, max(0, margin - x) where it is -1.
Rewritten hinge(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  Value* target = tensor_at(node, arg::target);
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, x->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.call(aten::neg, {x}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, node.argument(arg::margin)}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::clamp, {y, 0}));
  PETREL_ASSIGN_OR_RETURN(Value * other, b.call(aten::ne_Scalar, {target, 1}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {other, y, zero}));
  PETREL_ASSIGN_OR_RETURN(Value * same, b.call(aten::ne_Scalar, {target, -1}));
  PETREL_ASSIGN_OR_RETURN(same, b.call(aten::where_self, {same, x, zero}));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, same));
  return reduced(b, node, y);
}

// max(0, margin - t (x1 - x2))
Rewritten margin_ranking(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::sub_Tensor, tensor_at(node, arg::input1),
                                              tensor_at(node, arg::input2)));
  PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::mul_Tensor, tensor_at(node, arg::target), y));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::neg, {y}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, node.argument(arg::margin)}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::clamp, {y, 0}));
  return reduced(b, node, y);
}

// The dim of the classes in scores [classes] or [batch, classes, ...].
int64_t class_dim(const Value* scores) { return scores->tensor().rank() == 1 ? 0 : 1; }

// A weight for each class, along the dim of the classes of `scores`.
BuiltValue weights_along(Builder& b, const Value* scores, Value* weight) {
  for (size_t i = 2; i < scores->tensor().rank(); ++i) {
    PETREL_ASSIGN_OR_RETURN(
        weight, b.call(aten::unsqueeze, {weight, static_cast<int64_t>(weight->tensor().rank())}));
  }
  return weight;
}

// Each of `logs` at the class of its target: -w log, where w is the class's weight,
// and 0 for what is ignored. A mean is of the weights' sum.
class Picked {
 public:
  Picked(Builder& b, Node& node) : b_(b), node_(node) {}

  absl::Status prepare(Value* logs) {
    dim_ = class_dim(logs);
    dtype_ = logs->tensor().dtype;
    PETREL_ASSIGN_OR_RETURN(zero_, b_.scalar(0, dtype_));
    Value* target = tensor_at(node_, arg::target);
    PETREL_ASSIGN_OR_RETURN(target, b_.cast(target, ScalarType::kLong));
    PETREL_ASSIGN_OR_RETURN(ignored_,
                            b_.call(aten::eq_Scalar, {target, node_.argument(arg::ignore_index)}));
    PETREL_ASSIGN_OR_RETURN(Value * none, b_.scalar(0, ScalarType::kLong));
    PETREL_ASSIGN_OR_RETURN(target, b_.call(aten::where_self, {ignored_, none, target}));
    Value* weight = tensor_at(node_, arg::weight);
    if (weight == nullptr) {
      PETREL_ASSIGN_OR_RETURN(weight, b_.scalar(1, dtype_));
    } else {
      Argument::List index(1, Argument(target));
      PETREL_ASSIGN_OR_RETURN(weight,
                              b_.call(aten::index_Tensor, {weight, Argument(std::move(index))}));
    }
    PETREL_ASSIGN_OR_RETURN(weight_, b_.call(aten::where_self, {ignored_, zero_, weight}));
    PETREL_ASSIGN_OR_RETURN(target_, b_.call(aten::unsqueeze, {target, dim_}));
    return absl::OkStatus();
  }

  BuiltValue loss(Value* logs) {
    PETREL_ASSIGN_OR_RETURN(Value * y, b_.call(aten::gather, {logs, dim_, target_}));
    PETREL_ASSIGN_OR_RETURN(y, b_.call(aten::squeeze_dim, {y, dim_}));
    PETREL_ASSIGN_OR_RETURN(y, b_.call(aten::neg, {y}));
    // What is ignored counts for nothing even where it is infinite.
    PETREL_ASSIGN_OR_RETURN(y, b_.call(aten::where_self, {ignored_, zero_, y}));
    return b_.binary(aten::mul_Tensor, y, weight_);
  }

  BuiltValue without_ignored(Value* y) { return b_.call(aten::where_self, {ignored_, zero_, y}); }

  Rewritten reduce(Value* loss) {
    if (node_.argument(arg::reduction) != Argument(int64_t{kMean})) {
      return reduced(b_, node_, loss);
    }
    PETREL_ASSIGN_OR_RETURN(loss, b_.call(aten::sum, {loss}));
    PETREL_ASSIGN_OR_RETURN(Value * count, b_.call(aten::sum, {weight_}));
    return done(b_, node_, b_.binary(aten::div_Tensor, loss, count));
  }

 private:
  Builder& b_;
  Node& node_;
  int64_t dim_ = 0;
  ScalarType dtype_ = ScalarType::kFloat;
  Value* zero_ = nullptr;
  Value* ignored_ = nullptr;  // which targets are
  Value* weight_ = nullptr;   // of each target; 0 where it is ignored
  Value* target_ = nullptr;   // with the dim of the classes
};

Rewritten nll(Builder& b, Node& node) {
  Value* logs = tensor_at(node, arg::self);
  Picked picked(b, node);
  PETREL_RETURN_IF_ERROR(picked.prepare(logs));
  PETREL_ASSIGN_OR_RETURN(Value * y, picked.loss(logs));
  return picked.reduce(y);
}

// -sum over the classes of w log, the share of each class being `share`.
BuiltValue over_classes(Builder& b, Node& node, Value* logs, Value* share) {
  if (Value* weight = tensor_at(node, arg::weight)) {
    PETREL_ASSIGN_OR_RETURN(weight, weights_along(b, logs, weight));
    PETREL_ASSIGN_OR_RETURN(logs, b.binary(aten::mul_Tensor, logs, weight));
  }
  const int64_t dim = class_dim(logs);
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::mul_Tensor, logs, share));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::sum_dim_IntList, {y, Ints{dim}}));
  return b.call(aten::neg, {y});
}

// Targets are classes, or probabilities of classes. Smoothing moves that share of
// each target to all classes alike.
Rewritten cross_entropy(Builder& b, Node& node) {
  Value* scores = tensor_at(node, arg::self);
  Value* target = tensor_at(node, arg::target);
  const int64_t dim = class_dim(scores);
  const Size classes = sizes_of(scores)[static_cast<size_t>(dim)];
  const double smoothing = fixed_number(node.argument(arg::label_smoothing));
  PETREL_ASSIGN_OR_RETURN(Value * logs, b.call(aten::log_softmax_int, {scores, dim}));
  if (is_floating_point(target->tensor().dtype)) {
    if (smoothing != 0) {
      PETREL_ASSIGN_OR_RETURN(target, b.call(aten::mul_Scalar, {target, 1 - smoothing}));
      PETREL_ASSIGN_OR_RETURN(
          target, b.call(aten::add_Scalar, {target, smoothing / static_cast<double>(classes)}));
    }
    PETREL_ASSIGN_OR_RETURN(Value * y, over_classes(b, node, logs, target));
    return reduced(b, node, y);
  }
  Picked picked(b, node);
  PETREL_RETURN_IF_ERROR(picked.prepare(logs));
  PETREL_ASSIGN_OR_RETURN(Value * y, picked.loss(logs));
  if (smoothing != 0) {
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::mul_Scalar, {y, 1 - smoothing}));
    PETREL_ASSIGN_OR_RETURN(
        Value * share, b.scalar(smoothing / static_cast<double>(classes), logs->tensor().dtype));
    PETREL_ASSIGN_OR_RETURN(Value * others, over_classes(b, node, logs, share));
    PETREL_ASSIGN_OR_RETURN(others, picked.without_ignored(others));
    PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, others));
  }
  return picked.reduce(y);
}

// max(0, margin + |anchor - positive| - |anchor - negative|); with `swap` the negative may be as
// near to the positive.
Rewritten triplet_margin(Builder& b, Node& node) {
  Value* const anchor = tensor_at(node, arg::anchor);
  Value* const positive = tensor_at(node, arg::positive);
  Value* const negative = tensor_at(node, arg::negative);
  const auto distance = [&](Value* from, Value* to) {
    return b.call(aten::pairwise_distance,
                  {from, to, node.argument(arg::p), node.argument(arg::eps)});
  };
  PETREL_ASSIGN_OR_RETURN(Value * near, distance(anchor, positive));
  PETREL_ASSIGN_OR_RETURN(Value * far, distance(anchor, negative));
  if (node.argument(arg::swap) == Argument(true)) {
    PETREL_ASSIGN_OR_RETURN(Value * other, distance(positive, negative));
    PETREL_ASSIGN_OR_RETURN(far, b.binary(aten::minimum, far, other));
  }
  PETREL_ASSIGN_OR_RETURN(Value * y, b.binary(aten::sub_Tensor, near, far));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::add_Scalar, {y, node.argument(arg::margin)}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::clamp, {y, 0}));
  return reduced(b, node, y);
}

// 1 - cos where the target is 1, max(0, cos - margin) where it is -1; each sum of products has
// 1e-12 more, as in eager.
Rewritten cosine_embedding(Builder& b, Node& node) {
  Value* const x = tensor_at(node, arg::input1);
  Value* const y = tensor_at(node, arg::input2);
  Value* const target = tensor_at(node, arg::target);
  const auto dot = [&](Value* from, Value* to, double more) -> BuiltValue {
    PETREL_ASSIGN_OR_RETURN(Value * sum, b.binary(aten::mul_Tensor, from, to));
    PETREL_ASSIGN_OR_RETURN(sum, b.call(aten::sum_dim_IntList, {sum, Ints{-1}}));
    return more == 0 ? BuiltValue(sum) : b.call(aten::add_Scalar, {sum, more});
  };
  PETREL_ASSIGN_OR_RETURN(Value * cosine, dot(x, y, 0));
  PETREL_ASSIGN_OR_RETURN(Value * length, dot(x, x, 1e-12));
  PETREL_ASSIGN_OR_RETURN(Value * other, dot(y, y, 1e-12));
  PETREL_ASSIGN_OR_RETURN(length, b.binary(aten::mul_Tensor, length, other));
  PETREL_ASSIGN_OR_RETURN(length, b.call(aten::sqrt, {length}));
  PETREL_ASSIGN_OR_RETURN(cosine, b.binary(aten::div_Tensor, cosine, length));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, cosine->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(Value * apart, one_minus(b, cosine));
  PETREL_ASSIGN_OR_RETURN(Value * same, b.call(aten::eq_Scalar, {target, 1}));
  PETREL_ASSIGN_OR_RETURN(apart, b.call(aten::where_self, {same, apart, zero}));
  PETREL_ASSIGN_OR_RETURN(cosine, b.call(aten::sub_Scalar, {cosine, node.argument(arg::margin)}));
  PETREL_ASSIGN_OR_RETURN(cosine, b.call(aten::clamp, {cosine, 0}));
  PETREL_ASSIGN_OR_RETURN(Value * differs, b.call(aten::eq_Scalar, {target, -1}));
  PETREL_ASSIGN_OR_RETURN(cosine, b.call(aten::where_self, {differs, cosine, zero}));
  PETREL_ASSIGN_OR_RETURN(cosine, b.binary(aten::add_Tensor, apart, cosine));
  return reduced(b, node, cosine);
}

constexpr Rewrite kRows[] = {
    {aten::mse_loss, squares},
    {aten::l1_loss, distances},
    {aten::smooth_l1_loss, huber},
    {aten::huber_loss, huber},
    {aten::binary_cross_entropy, binary_cross_entropy},
    {aten::binary_cross_entropy_with_logits, binary_cross_entropy_with_logits},
    {aten::kl_div, divergence},
    {aten::soft_margin_loss, soft_margin},
    {aten::poisson_nll_loss, poisson},
    {aten::hinge_embedding_loss, hinge},
    {aten::margin_ranking_loss, margin_ranking},
    {aten::triplet_margin_loss, triplet_margin},
    {aten::cosine_embedding_loss, cosine_embedding},
    {aten::nll_loss_nd, nll},
    {aten::cross_entropy_loss, cross_entropy},
};

}  // namespace

Rewrites loss_decompositions() { return kRows; }

}  // namespace petrel::exir
