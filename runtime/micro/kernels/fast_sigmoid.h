/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_FAST_SIGMOID_H_
#define PETREL_RUNTIME_MICRO_KERNELS_FAST_SIGMOID_H_

#include "runtime/micro/kernels/fast_exp.h"

/* 1 / (1 + e^-x), as near as petrel_fast_exp(). */
static inline float petrel_fast_sigmoid(float x) { return 1.0f / (1.0f + petrel_fast_exp(-x)); }

#endif /* PETREL_RUNTIME_MICRO_KERNELS_FAST_SIGMOID_H_ */
