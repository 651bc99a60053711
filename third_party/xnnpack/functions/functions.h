/* SPDX-License-Identifier: Apache-2.0
 *
 * Exponentials, logarithms, sines and cosines of floats, as many at a time as a vector has.
 *
 * XNNPACK calls the C library for each number, or, of logarithms, has kernels that take infinity
 * and NaN for numbers.
 *
 *   const struct xnn_unary_elementwise_config* sine = petrel_f32_function(petrel_sine);
 *   if (sine != NULL) sine->ukernel(count * sizeof(float), x, y, NULL);
 *
 * Results are within two units in the last place of the true ones. NaN gives NaN, infinities what
 * they have as a limit. An exponential below the least normal number may be 0, and a logarithm of
 * a number below it -infinity, as elsewhere in XNNPACK. A result depends on nothing but its element
 * and the instruction set.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_FUNCTIONS_FUNCTIONS_H_
#define PETREL_THIRD_PARTY_XNNPACK_FUNCTIONS_FUNCTIONS_H_

#include <stddef.h>

#include "xnnpack/config-types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum petrel_function { petrel_exponential, petrel_logarithm, petrel_sine, petrel_cosine };

/* Of the instruction set that XNNPACK uses. Null for sines and cosines where there is no fused
 * multiply-add, which they need. What it points to stays. */
const struct xnn_unary_elementwise_config* petrel_f32_function(enum petrel_function function);

/* By instruction set. The contract of XNNPACK's kernels: bytes of floats, which are not 0; output
 * may be input; nothing outside of them is read or written. */
const struct xnn_unary_elementwise_config* petrel_f32_function_avx512f(
    enum petrel_function function);
const struct xnn_unary_elementwise_config* petrel_f32_function_avx2(enum petrel_function function);
const struct xnn_unary_elementwise_config* petrel_f32_function_baseline(
    enum petrel_function function);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_FUNCTIONS_FUNCTIONS_H_ */
