/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_ROUNDED_FLOAT_H_
#define PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_ROUNDED_FLOAT_H_

#include "runtime/micro/kernels/bfloat16_rounded.h"

/* The number that x becomes when it is stored. */
static double petrel_bfloat16_rounded_float(float x) { return petrel_bfloat16_rounded((double)x); }

#endif /* PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_ROUNDED_FLOAT_H_ */
