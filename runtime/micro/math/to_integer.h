/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_TO_INTEGER_H_
#define PETREL_RUNTIME_MICRO_MATH_TO_INTEGER_H_

#include <stdint.h>

/* x as an integer: towards zero, saturating, 0 for NaN. */
static int64_t petrel_to_integer(double x) {
  if (x != x) {
    return 0;
  }
  if (x >= 9.2233720368547758e18) {
    return INT64_MAX;
  }
  if (x < -9.2233720368547758e18) {
    return -INT64_MAX - 1;
  }
  return (int64_t)x;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_TO_INTEGER_H_ */
