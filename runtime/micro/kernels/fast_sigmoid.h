/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_FAST_SIGMOID_H_
#define PETREL_RUNTIME_MICRO_KERNELS_FAST_SIGMOID_H_

#include "runtime/micro/kernels/fast_exp.h"

/* 1 / (1 + e^-x), as near as petrel_fast_exp(). */
static inline float petrel_fast_sigmoid(float x) {
  const float power = petrel_exp_inside(petrel_exp_range(-x));
  const float result = 1.0f / (1.0f + power);
  return x < -88.7228394f ? 0.0f : result;
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_FAST_SIGMOID_H_ */
