/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_TO_INTEGER_H_
#define PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_TO_INTEGER_H_

#include <stdint.h>

#include "runtime/micro/kernels/bfloat16_value.h"
#include "runtime/micro/math/to_integer.h"

/* petrel_to_integer() of its number. */
static int64_t petrel_bfloat16_to_integer(uint16_t bits) {
  return petrel_to_integer((double)petrel_bfloat16_value(bits));
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_TO_INTEGER_H_ */
