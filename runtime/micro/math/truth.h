/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_TRUTH_H_
#define PETREL_RUNTIME_MICRO_MATH_TRUTH_H_

#include <stdbool.h>

/* Whether x is not 0; a NaN is not. */
static bool petrel_truth(double x) { return x != 0.0; }

#endif /* PETREL_RUNTIME_MICRO_MATH_TRUTH_H_ */
