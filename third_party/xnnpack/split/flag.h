/* SPDX-License-Identifier: Apache-2.0
 *
 * Of xnn_define_fully_connected() and xnn_define_convolution_2d(), and of the functions that make
 * their operators in floats: multiply split floats (split.h) where the processor does that faster.
 * No flag of XNNPACK.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_SPLIT_FLAG_H_
#define PETREL_THIRD_PARTY_XNNPACK_SPLIT_FLAG_H_

#include <stdbool.h>

#define XNN_FLAG_SPLIT 0x20000000u

#ifdef __cplusplus
extern "C" {
#endif

/* Whether it is faster in this process. XNNPACK is initialised. */
bool split_is_available(void);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_SPLIT_FLAG_H_ */
