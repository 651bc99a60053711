/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_HALF_ROUNDED_INTEGER_H_
#define PETREL_RUNTIME_MICRO_KERNELS_HALF_ROUNDED_INTEGER_H_

#include <stdint.h>

#include "runtime/micro/kernels/half_of_integer.h"
#include "runtime/micro/kernels/half_value.h"

/* The number that x becomes when it is stored. */
static double petrel_half_rounded_integer(int64_t x) {
  return (double)petrel_half_value(petrel_half_of_integer(x));
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_HALF_ROUNDED_INTEGER_H_ */
