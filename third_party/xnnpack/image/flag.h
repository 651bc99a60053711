/* SPDX-License-Identifier: Apache-2.0
 *
 * Of xnn_define_convolution_2d() and the functions that make convolutions of floats and of int8:
 * compute as image.h does. No flags of XNNPACK.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_IMAGE_FLAG_H_
#define PETREL_THIRD_PARTY_XNNPACK_IMAGE_FLAG_H_

#include <stdbool.h>
#include <stddef.h>

#define XNN_FLAG_IMAGE 0x10000000u
/* With it: the input is [n, channels, height, width]. */
#define XNN_FLAG_PLANES 0x08000000u

#ifdef __cplusplus
extern "C" {
#endif

#define PETREL_MOST_IMAGE_CHANNELS 4

/* Whether this processor's kernel for so many channels of the output can do that, of floats or of
 * int8. Precondition: XNNPACK is initialised. */
bool petrel_takes_images(size_t outputs, bool is_float);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_IMAGE_FLAG_H_ */
