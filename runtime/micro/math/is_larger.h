/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_IS_LARGER_H_
#define PETREL_RUNTIME_MICRO_MATH_IS_LARGER_H_

#include <stdbool.h>

/* NaN is larger than all else. */
static bool petrel_is_larger(double a, double b) { return a != a ? b == b : a > b; }

#endif /* PETREL_RUNTIME_MICRO_MATH_IS_LARGER_H_ */
