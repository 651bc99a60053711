// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/decompose/resample_varying.h"

#include "exir/ops/handles.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

constexpr double kSharpness = -0.75;  // torch's parameter of cubic convolution

BuiltValue plus(Builder& b, Value* x, double number) {
  return b.call(aten::add_Scalar, {x, number});
}

BuiltValue times(Builder& b, Value* x, double number) {
  return b.call(aten::mul_Scalar, {x, number});
}

// A size as a tensor of rank 0.
BuiltValue number_of(Builder& b, const rules::Size& size) {
  return b.call(aten::full, {Ints{}, size, ScalarType::kFloat});
}

// From one output place to the next, in places of the input.
BuiltValue scale_of(Builder& b, const VaryingAxis& axis) {
  if (!axis.align_corners && axis.factor > 0) return b.scalar(1 / axis.factor, ScalarType::kFloat);
  PETREL_ASSIGN_OR_RETURN(Value * in, number_of(b, axis.in));
  PETREL_ASSIGN_OR_RETURN(Value * out, number_of(b, axis.out));
  if (axis.align_corners) {
    PETREL_ASSIGN_OR_RETURN(in, plus(b, in, -1));
    PETREL_ASSIGN_OR_RETURN(out, plus(b, out, -1));
    PETREL_ASSIGN_OR_RETURN(out, b.call(aten::clamp, {out, 1, none()}));
  }
  return b.binary(aten::div_Tensor, in, out);
}

BuiltValue sources_of(Builder& b, const VaryingAxis& axis) {
  PETREL_ASSIGN_OR_RETURN(Value * scale, scale_of(b, axis));
  PETREL_ASSIGN_OR_RETURN(Value * i,
                          b.call(aten::arange_start_step, {0, axis.out, 1, ScalarType::kFloat}));
  if (axis.align_corners) return b.binary(aten::mul_Tensor, i, scale);
  PETREL_ASSIGN_OR_RETURN(i, plus(b, i, 0.5));
  PETREL_ASSIGN_OR_RETURN(i, b.binary(aten::mul_Tensor, i, scale));
  return plus(b, i, -0.5);
}

// Of an element that is `d` places away: in [0, 1], or in [1, 2].
BuiltValue near_weight(Builder& b, Value* d) {
  PETREL_ASSIGN_OR_RETURN(Value * w, times(b, d, kSharpness + 2));
  PETREL_ASSIGN_OR_RETURN(w, plus(b, w, -(kSharpness + 3)));
  PETREL_ASSIGN_OR_RETURN(w, b.binary(aten::mul_Tensor, w, d));
  PETREL_ASSIGN_OR_RETURN(w, b.binary(aten::mul_Tensor, w, d));
  return plus(b, w, 1);
}

BuiltValue far_weight(Builder& b, Value* d) {
  PETREL_ASSIGN_OR_RETURN(Value * w, times(b, d, kSharpness));
  PETREL_ASSIGN_OR_RETURN(w, plus(b, w, -5 * kSharpness));
  PETREL_ASSIGN_OR_RETURN(w, b.binary(aten::mul_Tensor, w, d));
  PETREL_ASSIGN_OR_RETURN(w, plus(b, w, 8 * kSharpness));
  PETREL_ASSIGN_OR_RETURN(w, b.binary(aten::mul_Tensor, w, d));
  return plus(b, w, -4 * kSharpness);
}

// Element k of four, of which 1 and 2 are beside the source, `t` behind the former.
BuiltValue weight_of(Builder& b, Value* t, int k) {
  Value* d = t;
  if (k >= 2) {
    PETREL_ASSIGN_OR_RETURN(d, times(b, t, -1));
  }
  if (k != 1) {
    PETREL_ASSIGN_OR_RETURN(d, plus(b, d, k == 3 ? 2 : 1));
  }
  return k == 1 || k == 2 ? near_weight(b, d) : far_weight(b, d);
}

// The last place of the input, as a tensor.
BuiltValue last_of(Builder& b, const VaryingAxis& axis) {
  PETREL_ASSIGN_OR_RETURN(Value * in, number_of(b, axis.in));
  return plus(b, in, -1);
}

// The elements of x at places [out], of which those behind the last are the last.
BuiltValue taken(Builder& b, Value* x, const VaryingAxis& axis, Value* at) {
  PETREL_ASSIGN_OR_RETURN(Value * last, last_of(b, axis));
  PETREL_ASSIGN_OR_RETURN(at, b.binary(aten::minimum, at, last));
  PETREL_ASSIGN_OR_RETURN(at, b.cast(at, ScalarType::kLong));
  return b.call(aten::index_select, {x, static_cast<int64_t>(axis.dim), at});
}

// The elements of x `shift` behind those at `low`, or at the edge, times `weight`, along a dim.
BuiltValue weighed(Builder& b, Value* x, const VaryingAxis& axis, Value* low, int shift,
                   Value* weight) {
  PETREL_ASSIGN_OR_RETURN(Value * at, plus(b, low, shift));
  if (shift < 1) {
    PETREL_ASSIGN_OR_RETURN(at, b.call(aten::clamp, {at, 0, none()}));
  }
  PETREL_ASSIGN_OR_RETURN(Value * part, taken(b, x, axis, at));
  for (size_t d = axis.dim + 1; d < x->tensor().rank(); ++d) {
    PETREL_ASSIGN_OR_RETURN(weight, b.call(aten::unsqueeze, {weight, -1}));
  }
  return b.binary(aten::mul_Tensor, part, weight);
}

}  // namespace

BuiltValue nearest_along(Builder& b, Value* x, const VaryingAxis& axis, bool is_exact) {
  PETREL_ASSIGN_OR_RETURN(Value * scale, scale_of(b, axis));
  PETREL_ASSIGN_OR_RETURN(Value * at,
                          b.call(aten::arange_start_step, {0, axis.out, 1, ScalarType::kFloat}));
  if (is_exact) {
    PETREL_ASSIGN_OR_RETURN(at, plus(b, at, 0.5));
  }
  PETREL_ASSIGN_OR_RETURN(at, b.binary(aten::mul_Tensor, at, scale));
  PETREL_ASSIGN_OR_RETURN(at, b.call(aten::floor, {at}));
  return taken(b, x, axis, at);
}

BuiltValue linear_along(Builder& b, Value* x, const VaryingAxis& axis) {
  PETREL_ASSIGN_OR_RETURN(Value * source, sources_of(b, axis));
  PETREL_ASSIGN_OR_RETURN(source, b.call(aten::clamp, {source, 0, none()}));
  PETREL_ASSIGN_OR_RETURN(Value * low, b.call(aten::floor, {source}));
  PETREL_ASSIGN_OR_RETURN(Value * t, b.binary(aten::sub_Tensor, source, low));
  PETREL_ASSIGN_OR_RETURN(Value * rest, times(b, t, -1));
  PETREL_ASSIGN_OR_RETURN(rest, plus(b, rest, 1));
  PETREL_ASSIGN_OR_RETURN(Value * first, weighed(b, x, axis, low, 0, rest));
  PETREL_ASSIGN_OR_RETURN(Value * second, weighed(b, x, axis, low, 1, t));
  return b.binary(aten::add_Tensor, first, second);
}

BuiltValue bicubic_along(Builder& b, Value* x, const VaryingAxis& axis) {
  PETREL_ASSIGN_OR_RETURN(Value * source, sources_of(b, axis));
  PETREL_ASSIGN_OR_RETURN(Value * low, b.call(aten::floor, {source}));
  PETREL_ASSIGN_OR_RETURN(Value * t, b.binary(aten::sub_Tensor, source, low));
  Value* sum = nullptr;
  for (int k = 0; k < 4; ++k) {
    PETREL_ASSIGN_OR_RETURN(Value * weight, weight_of(b, t, k));
    PETREL_ASSIGN_OR_RETURN(Value * part, weighed(b, x, axis, low, k - 1, weight));
    PETREL_ASSIGN_OR_RETURN(sum, plus_part(b, sum, part));
  }
  return sum;
}

}  // namespace petrel::exir
