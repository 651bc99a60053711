/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_FLOAT_TO_INTEGER_H_
#define PETREL_RUNTIME_MICRO_MATH_FLOAT_TO_INTEGER_H_

#include <stdint.h>

#include "runtime/micro/math/to_integer.h"

/* petrel_to_integer() of a float. */
static int64_t petrel_float_to_integer(float x) { return petrel_to_integer((double)x); }

#endif /* PETREL_RUNTIME_MICRO_MATH_FLOAT_TO_INTEGER_H_ */
