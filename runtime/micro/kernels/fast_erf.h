/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_FAST_ERF_H_
#define PETREL_RUNTIME_MICRO_KERNELS_FAST_ERF_H_

#include <math.h>

#include "runtime/micro/kernels/fast_exp.h"

/* erf(x) to 4 parts in 10^7 of 1, without branches: formula 7.1.26 of Abramowitz and Stegun. */
static inline float petrel_fast_erf(float x) {
  const float a = fabsf(x);
  const float t = 1.0f / (1.0f + 0.3275911f * a);
  const float series =
      ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t +
       0.254829592f) *
      t;
  return copysignf(1.0f - series * petrel_fast_exp(-a * a), x);
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_FAST_ERF_H_ */
