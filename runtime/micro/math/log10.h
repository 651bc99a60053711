/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_LOG10_H_
#define PETREL_RUNTIME_MICRO_MATH_LOG10_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/log.h"

/* The logarithm to base 10. */
static double petrel_log10(double x) { return petrel_log(x) / 2.30258509299404568402; }

#endif /* PETREL_RUNTIME_MICRO_MATH_LOG10_H_ */
