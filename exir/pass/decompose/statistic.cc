// SPDX-License-Identifier: Apache-2.0
//
// Quantiles, histograms, sums to a shape and distances.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

using Rewritten = absl::StatusOr<bool>;
using rules::Size;
using rules::Sizes;

// The rows of which quantiles are taken: dim `dim` last, or all in one row.
absl::StatusOr<Value*> rows_of(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  if (node.argument(arg::dim).is_none() || x->tensor().rank() == 0) {
    return b.view(x, {numel_of(x)});
  }
  const int64_t dim = wrap_dim(fixed_int(node.argument(arg::dim)), x->tensor().rank());
  Ints order;
  for (int64_t each : all_dims(x->tensor().rank())) {
    if (each != dim) order.push_back(each);
  }
  order.push_back(dim);
  return b.permute(x, order);
}

// The elements of sorted rows at `place`, a whole number for each row and quantile.
BuiltValue at(Builder& b, Value* sorted, Value* place) {
  PETREL_ASSIGN_OR_RETURN(place, b.cast(place, ScalarType::kLong));
  const auto last = static_cast<int64_t>(sorted->tensor().rank()) - 1;
  return b.call(aten::gather, {sorted, last, place});
}

// Between the elements of a sorted row below and above place q (n - 1), where n counts those
// that are not NaN; NaN where there is any unless it is to be left out.
Rewritten quantile(Builder& b, Node& node) {
  const bool leaves_out = node.is(aten::nanquantile, aten::nanquantile_scalar);
  const std::string how = node.argument(arg::interpolation).as_string();
  PETREL_ASSIGN_OR_RETURN(Value * x, rows_of(b, node));
  const ScalarType dtype = x->tensor().dtype;
  const Sizes sizes = sizes_of(x);
  const auto last = static_cast<int64_t>(sizes.size()) - 1;
  PETREL_ASSIGN_OR_RETURN(Node * order, b.node(aten::topk, {x, sizes.back(), last, false, true}));
  Value* const sorted = order->result(0);
  PETREL_ASSIGN_OR_RETURN(Value * nan, b.call(aten::isnan, {x}));
  Value* q = tensor_at(node, arg::q);
  if (q == nullptr) {
    PETREL_ASSIGN_OR_RETURN(q, b.scalar(fixed_number(node.argument(arg::q)), dtype));
  }
  const bool is_line = q->tensor().rank() == 1;
  PETREL_ASSIGN_OR_RETURN(q, b.view(q, {numel_of(q)}));
  Sizes wanted = sizes;  // [rows..., quantiles]
  wanted.back() = numel_of(q);
  Value* place = nullptr;
  if (leaves_out) {
    PETREL_ASSIGN_OR_RETURN(Value * valid, b.call(aten::logical_not, {nan}));
    PETREL_ASSIGN_OR_RETURN(valid, b.call(aten::sum_dim_IntList, {valid, Ints{last}, true}));
    PETREL_ASSIGN_OR_RETURN(valid, b.call(aten::sub_Scalar, {valid, 1}));
    PETREL_ASSIGN_OR_RETURN(valid, b.call(aten::clamp, {valid, 0}));
    PETREL_ASSIGN_OR_RETURN(valid, b.cast(valid, dtype));
    PETREL_ASSIGN_OR_RETURN(place, b.binary(aten::mul_Tensor, valid, q));
  } else {
    PETREL_ASSIGN_OR_RETURN(place, b.call(aten::mul_Scalar, {q, sizes.back() - 1}));
    PETREL_ASSIGN_OR_RETURN(place, b.expand(place, wanted));
  }
  Value* y = nullptr;
  if (how == "nearest") {
    PETREL_ASSIGN_OR_RETURN(place, b.call(aten::round, {place}));
    PETREL_ASSIGN_OR_RETURN(y, at(b, sorted, place));
  } else {
    PETREL_ASSIGN_OR_RETURN(Value * below, b.call(aten::floor, {place}));
    PETREL_ASSIGN_OR_RETURN(Value * above, b.call(aten::ceil, {place}));
    PETREL_ASSIGN_OR_RETURN(Value * share, b.binary(aten::sub_Tensor, place, below));
    if (how != "higher") {
      PETREL_ASSIGN_OR_RETURN(y, at(b, sorted, below));
    }
    if (how != "lower") {
      PETREL_ASSIGN_OR_RETURN(Value * upper, at(b, sorted, above));
      if (how == "higher") {
        y = upper;
      } else {
        PETREL_ASSIGN_OR_RETURN(upper, b.binary(aten::sub_Tensor, upper, y));
        if (how == "midpoint") {
          PETREL_ASSIGN_OR_RETURN(upper, b.call(aten::mul_Scalar, {upper, 0.5}));
        } else {
          PETREL_ASSIGN_OR_RETURN(upper, b.binary(aten::mul_Tensor, upper, share));
        }
        PETREL_ASSIGN_OR_RETURN(y, b.binary(aten::add_Tensor, y, upper));
      }
    }
  }
  if (!leaves_out) {
    PETREL_ASSIGN_OR_RETURN(nan, b.call(aten::any_dims, {nan, Ints{last}, true}));
    PETREL_ASSIGN_OR_RETURN(Value * no_number, b.scalar(std::nan(""), dtype));
    PETREL_ASSIGN_OR_RETURN(y, b.call(aten::where_self, {nan, no_number, y}));
  }
  if (is_line && last > 0) {
    Ints front = all_dims(sizes.size());
    std::rotate(front.begin(), front.end() - 1, front.end());
    PETREL_ASSIGN_OR_RETURN(y, b.permute(y, front));
  }
  return done(b, node, b.view(y, sizes_of(node.result())));
}

Rewritten dist(Builder& b, Node& node) {
  PETREL_ASSIGN_OR_RETURN(Value * d, b.binary(aten::sub_Tensor, tensor_at(node, arg::self),
                                              tensor_at(node, arg::other)));
  return done(
      b, node,
      b.call(aten::linalg_vector_norm, {d, node.argument(arg::p), all_dims(d->tensor().rank())}));
}

// What is at one place along a dim is scaled down where its norm is above the largest.
Rewritten renorm(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const ScalarType dtype = x->tensor().dtype;
  const double most = fixed_number(node.argument(arg::maxnorm));
  Ints others = all_dims(x->tensor().rank());
  others.erase(others.begin() + wrap_dim(fixed_int(node.argument(arg::dim)), others.size()));
  PETREL_ASSIGN_OR_RETURN(
      Value * norm, b.call(aten::linalg_vector_norm, {x, node.argument(arg::p), others, true}));
  PETREL_ASSIGN_OR_RETURN(Value * is_above, b.call(aten::gt_Scalar, {norm, most}));
  PETREL_ASSIGN_OR_RETURN(Value * factor, b.call(aten::add_Scalar, {norm, 1e-7}));
  PETREL_ASSIGN_OR_RETURN(factor, b.call(aten::reciprocal, {factor}));
  PETREL_ASSIGN_OR_RETURN(factor, b.call(aten::mul_Scalar, {factor, most}));
  PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, dtype));
  PETREL_ASSIGN_OR_RETURN(factor, b.call(aten::where_self, {is_above, factor, one}));
  return done(b, node, b.binary(aten::mul_Tensor, x, factor));
}

// The other way of expanding: summed over leading dims, and where one element is wanted of many.
Rewritten sum_to_size(Builder& b, Node& node) {
  Value* x = tensor_at(node, arg::self);
  const Sizes from = sizes_of(x);
  const Sizes to = sizes_of(node.result());
  const size_t lead = from.size() - to.size();
  Ints dims;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool is_summed = i < lead || (to[i - lead].is(1) && !from[i].is(1));
    if (is_summed) dims.push_back(static_cast<int64_t>(i));
  }
  if (dims.empty()) return done(b, node, b.cast(x, node.result()->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(
      Value * y, b.call(aten::sum_dim_IntList, {x, dims, true, node.result()->tensor().dtype}));
  return done(b, node, b.view(y, to));
}

// The ends of a histogram, as tensors of one element: given, or those of the elements; where all
// are equal, 1 below and above.
absl::Status ends_of(Builder& b, const Node& node, Value* x, Value** least, Value** most) {
  const ScalarType dtype = x->tensor().dtype;
  const double given[] = {fixed_number(node.argument(arg::min)),
                          fixed_number(node.argument(arg::max))};
  if (given[0] != given[1]) {
    PETREL_ASSIGN_OR_RETURN(*least, b.scalar(given[0], dtype));
    PETREL_ASSIGN_OR_RETURN(*most, b.scalar(given[1], dtype));
    return absl::OkStatus();
  }
  PETREL_ASSIGN_OR_RETURN(Value * low, b.call(aten::amin, {x, Ints{0}}));
  PETREL_ASSIGN_OR_RETURN(Value * high, b.call(aten::amax, {x, Ints{0}}));
  PETREL_ASSIGN_OR_RETURN(Value * is_point, b.binary(aten::eq_Tensor, low, high));
  PETREL_ASSIGN_OR_RETURN(Value * margin, b.cast(is_point, dtype));
  PETREL_ASSIGN_OR_RETURN(*least, b.binary(aten::sub_Tensor, low, margin));
  PETREL_ASSIGN_OR_RETURN(*most, b.binary(aten::add_Tensor, high, margin));
  return absl::OkStatus();
}

// Ones added at the part in which each element lies; what lies in none, as NaN, counts in a part
// behind them that is left out.
Rewritten histogram(Builder& b, Node& node) {
  const TensorType type = node.result()->tensor();
  const int64_t bins = sizes_of(node.result())[0];
  Value* x = tensor_at(node, arg::self);
  const Size count = numel_of(x);
  const bool is_given =
      fixed_number(node.argument(arg::min)) != fixed_number(node.argument(arg::max));
  if (!is_given && !is_at_least(count, 1)) return false;
  const bool is_narrow = type.dtype != ScalarType::kDouble;
  PETREL_ASSIGN_OR_RETURN(x, b.view(x, {count}));
  PETREL_ASSIGN_OR_RETURN(x, b.cast(x, is_narrow ? ScalarType::kFloat : type.dtype));
  Value *least = nullptr, *most = nullptr;
  PETREL_RETURN_IF_ERROR(ends_of(b, node, x, &least, &most));
  PETREL_ASSIGN_OR_RETURN(Value * is_above, b.binary(aten::ge_Tensor, x, least));
  PETREL_ASSIGN_OR_RETURN(Value * is_below, b.binary(aten::le_Tensor, x, most));
  PETREL_ASSIGN_OR_RETURN(Value * inside, b.binary(aten::logical_and, is_above, is_below));
  PETREL_ASSIGN_OR_RETURN(Value * place, b.binary(aten::sub_Tensor, x, least));
  PETREL_ASSIGN_OR_RETURN(place, b.call(aten::mul_Scalar, {place, bins}));
  PETREL_ASSIGN_OR_RETURN(Value * width, b.binary(aten::sub_Tensor, most, least));
  PETREL_ASSIGN_OR_RETURN(place, b.binary(aten::div_Tensor, place, width));
  PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0, x->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(place, b.call(aten::where_self, {inside, place, zero}));
  PETREL_ASSIGN_OR_RETURN(place, b.cast(place, ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(place, b.call(aten::clamp, {place, none(), bins - 1}));
  PETREL_ASSIGN_OR_RETURN(Value * behind, b.scalar(Argument(bins), ScalarType::kLong));
  PETREL_ASSIGN_OR_RETURN(place, b.call(aten::where_self, {inside, place, behind}));
  PETREL_ASSIGN_OR_RETURN(Value * one, b.scalar(1, x->tensor().dtype));
  PETREL_ASSIGN_OR_RETURN(Value * ones, b.expand(one, {count}));
  PETREL_ASSIGN_OR_RETURN(Value * y, b.expand(zero, {bins + 1}));
  PETREL_ASSIGN_OR_RETURN(y, b.call(aten::scatter_add, {y, 0, place, ones}));
  PETREL_ASSIGN_OR_RETURN(y, b.slice(y, 0, 0, bins));
  return done(b, node, b.cast(y, type.dtype));
}

constexpr Rewrite kRows[] = {
    {aten::quantile, quantile},
    {aten::quantile_scalar, quantile},
    {aten::nanquantile, quantile},
    {aten::nanquantile_scalar, quantile},
    {aten::dist, dist},
    {aten::histc, histogram},
    {aten::renorm, renorm},
    {aten::sum_to_size, sum_to_size},
};

}  // namespace

Rewrites statistic_decompositions() { return kRows; }

}  // namespace petrel::exir
