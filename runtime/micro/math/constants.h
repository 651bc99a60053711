/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_CONSTANTS_H_
#define PETREL_RUNTIME_MICRO_MATH_CONSTANTS_H_

#include <math.h>

#define PETREL_INFINITY ((double)INFINITY)
#define PETREL_NAN ((double)NAN)
#define PETREL_PI 3.14159265358979323846
#define PETREL_LN2 0.69314718055994530942
/* ln 2 in two parts: the first has trailing zeros, so k times it is exact for the k that occur. */
#define PETREL_LN2_HIGH 0x1.62e42fee00000p-1
#define PETREL_LN2_LOW 0x1.a39ef35793c76p-33

#endif /* PETREL_RUNTIME_MICRO_MATH_CONSTANTS_H_ */
