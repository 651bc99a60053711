/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_SIGMOID_H_
#define PETREL_RUNTIME_MICRO_MATH_SIGMOID_H_

#include "runtime/micro/math/exp.h"

/* 1 / (1 + e^-x). */
static inline double petrel_sigmoid(double x) { return 1.0 / (1.0 + petrel_exp(-x)); }

#endif /* PETREL_RUNTIME_MICRO_MATH_SIGMOID_H_ */
