/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_HALF_TO_INTEGER_H_
#define PETREL_RUNTIME_MICRO_KERNELS_HALF_TO_INTEGER_H_

#include <stdint.h>

#include "runtime/micro/kernels/half_value.h"
#include "runtime/micro/math/to_integer.h"

/* petrel_to_integer() of its number. */
static int64_t petrel_half_to_integer(uint16_t bits) {
  return petrel_to_integer((double)petrel_half_value(bits));
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_HALF_TO_INTEGER_H_ */
