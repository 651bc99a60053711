/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_INTEGER_TRUTH_H_
#define PETREL_RUNTIME_MICRO_MATH_INTEGER_TRUTH_H_

#include <stdbool.h>
#include <stdint.h>

/* Whether x is not 0. */
static bool petrel_integer_truth(int64_t x) { return x != 0; }

#endif /* PETREL_RUNTIME_MICRO_MATH_INTEGER_TRUTH_H_ */
