// SPDX-License-Identifier: Apache-2.0
//
// The sigmoid of floats with AVX2 and FMA3.
//
// XNNPACK's kernel computes e^-|x| / (1 + e^-|x|), takes it from 1 where x is positive, and
// sets to 0 what is too small for a number. Here it is
//
//   x < 0    e / (1 + e)      e = 2^n q(t),  -|x| = n ln 2 + t,  |t| <= ln 2 / 2,  q(t) near e^t
//   x >= 0   1 / (1 + e)
//
// and 2^n is made of the bits of n. |x| is taken for 88 at most, where n is -127, which has
// the bits of 0:
//
//   x          -inf .. -87.7   .. -87.3         .. 16.6 .. inf
//   result      0       below 2^-126                1            NaN for NaN
//
// An element's result depends on nothing but the element.

#ifndef PETREL_THIRD_PARTY_XNNPACK_SIGMOID_SIGMOID_H_
#define PETREL_THIRD_PARTY_XNNPACK_SIGMOID_SIGMOID_H_

#include <stddef.h>

#include "xnnpack/microparams.h"

#ifdef __cplusplus
extern "C" {
#endif

// The contract of xnn_f32_vsigmoid_ukernel: `batch` is in bytes and not 0, output may be
// input. Nothing outside of the batch is read or written.
void petrel_f32_vsigmoid_ukernel__avx2(size_t batch, const float* input, float* output,
                                       const struct xnn_f32_default_params* params);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // PETREL_THIRD_PARTY_XNNPACK_SIGMOID_SIGMOID_H_
