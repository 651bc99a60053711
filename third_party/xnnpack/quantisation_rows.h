/* SPDX-License-Identifier: Apache-2.0
 *
 * Included before XNNPACK's operators. A kernel of 16 rows computes 16 of them also where there
 * are fewer, and reads what quantises each at run time. Behind the last one XNNPACK puts copies of
 * it, 10 of them, which is not enough for kernels of 14 and 16 rows: with two or three rows they
 * read what lies behind, and the last row is wrong.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_QUANTISATION_ROWS_H_
#define PETREL_THIRD_PARTY_XNNPACK_QUANTISATION_ROWS_H_

#include <xnnpack.h>

#undef XNN_EXTRA_QUANTIZATION_PARAMS
#define XNN_EXTRA_QUANTIZATION_PARAMS 16

#endif /* PETREL_THIRD_PARTY_XNNPACK_QUANTISATION_ROWS_H_ */
