// SPDX-License-Identifier: Apache-2.0
//
// Resampling where sizes vary, so that places and weights are computed at run time. Bicubic:
//
//   source = scale * (i + 0.5) - 0.5          of each output place i, scale = in / out
//   low    = floor(source), t = source - low
//   y      = sum over k in 0..3 of weight_k(t) * index_select(x, dim, low + k - 1)
//
// Places beyond the image are those at its edge. Linear: between low and low + 1, from sources that
// are not below 0. Nearest: floor(scale * i), exactly nearest: floor(scale * (i + 0.5)).
#ifndef PETREL_EXIR_PASS_DECOMPOSE_RESAMPLE_VARYING_H_
#define PETREL_EXIR_PASS_DECOMPOSE_RESAMPLE_VARYING_H_

#include <cstddef>

#include "exir/pass/framework/builder.h"

namespace petrel::exir {

struct VaryingAxis {
  size_t dim;
  rules::Size in, out;
  bool align_corners;
  double factor;  // as the model gave it; 0: sizes decide
};

// x of floats [.., in, ..], resampled along one dim.
BuiltValue bicubic_along(Builder& b, Value* x, const VaryingAxis& axis);
BuiltValue linear_along(Builder& b, Value* x, const VaryingAxis& axis);
// Of any type.
BuiltValue nearest_along(Builder& b, Value* x, const VaryingAxis& axis, bool is_exact);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_DECOMPOSE_RESAMPLE_VARYING_H_
