/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_IS_SMALLER_H_
#define PETREL_RUNTIME_MICRO_MATH_IS_SMALLER_H_

#include <stdbool.h>

/* NaN is smaller than all else. */
static bool petrel_is_smaller(double a, double b) { return a != a ? b == b : a < b; }

#endif /* PETREL_RUNTIME_MICRO_MATH_IS_SMALLER_H_ */
