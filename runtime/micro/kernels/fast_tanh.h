/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_FAST_TANH_H_
#define PETREL_RUNTIME_MICRO_KERNELS_FAST_TANH_H_

#include "runtime/micro/kernels/fast_exp.h"

/* tanh(x), as near as petrel_fast_exp(): a series near 0, where e^2x - 1 would lose digits. */
static inline float petrel_fast_tanh(float x) {
  const float z = x * x;
  const float series =
      ((((-5.66065777e-3f * z + 2.06018761e-2f) * z - 5.37291840e-2f) * z + 1.33313283e-1f) * z -
       3.33332777e-1f) *
          z * x +
      x;
  const float other = 1.0f - 2.0f / (petrel_exp_inside(petrel_exp_range(2.0f * x)) + 1.0f);
  return z >= 0.4f ? other : series; /* NaN is a series, too */
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_FAST_TANH_H_ */
