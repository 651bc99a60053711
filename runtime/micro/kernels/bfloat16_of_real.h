/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_OF_REAL_H_
#define PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_OF_REAL_H_

#include <stdint.h>

#include "runtime/micro/kernels/bfloat16_bits.h"

/* By way of float, as PyTorch rounds: twice. */
static uint16_t petrel_bfloat16_of_real(double x) { return petrel_bfloat16_bits((float)x); }

#endif /* PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_OF_REAL_H_ */
