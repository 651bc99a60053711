/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_INTEGER_FMOD_H_
#define PETREL_RUNTIME_MICRO_MATH_INTEGER_FMOD_H_

#include <stdint.h>

/* What x / y leaves, with the sign of x; y is not 0. */
static int64_t petrel_integer_fmod(int64_t x, int64_t y) { return y == -1 ? 0 : x % y; }

#endif /* PETREL_RUNTIME_MICRO_MATH_INTEGER_FMOD_H_ */
