/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_HALF_OF_REAL_H_
#define PETREL_RUNTIME_MICRO_KERNELS_HALF_OF_REAL_H_

#include <stdint.h>

#include "runtime/micro/kernels/half_bits.h"

/* By way of float, as PyTorch rounds: twice. */
static uint16_t petrel_half_of_real(double x) { return petrel_half_bits((float)x); }

#endif /* PETREL_RUNTIME_MICRO_KERNELS_HALF_OF_REAL_H_ */
