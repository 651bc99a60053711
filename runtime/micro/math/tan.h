/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_TAN_H_
#define PETREL_RUNTIME_MICRO_MATH_TAN_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/sin.h"
#include "runtime/micro/math/cos.h"

/* Tangent of x radians. */
static double petrel_tan(double x) { return petrel_sin(x) / petrel_cos(x); }

#endif /* PETREL_RUNTIME_MICRO_MATH_TAN_H_ */
