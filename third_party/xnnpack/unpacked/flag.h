/* SPDX-License-Identifier: Apache-2.0
 *
 * Of xnn_define_fully_connected() and of the function that makes its operator in floats: multiply
 * by weights as they are stored (unpacked.h). Weights and bias must then stay where they are as
 * long as the operator. No flag of XNNPACK.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_UNPACKED_FLAG_H_
#define PETREL_THIRD_PARTY_XNNPACK_UNPACKED_FLAG_H_

#include <stdbool.h>

#define XNN_FLAG_UNPACKED 0x04000000u

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this process has kernels for it. Precondition: XNNPACK is initialised. */
bool petrel_takes_unpacked(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_UNPACKED_FLAG_H_ */
