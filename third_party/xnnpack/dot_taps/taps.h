/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions of bytes with AVX-512 VNNI and VBMI: one instruction multiplies and adds
 * up four taps of sixteen channels.
 *
 *   four rows of 16 channels     after a permutation      weights of a tile of 16 channels
 *
 *   t0 | a0 a1 a2 ...            a0 b0 c0 d0              sums      16 x int32
 *   t1 | b0 b1 b2 ...     ->     a1 b1 c1 d1      .       taps 0-3  16 x 4 bytes
 *   t2 | c0 c1 c2 ...            a2 b2 c2 d2              taps 4-7  16 x 4 bytes
 *   t3 | d0 d1 d2 ...            ...                      ...
 *                                                         last tap  16 bytes
 *                                                         scales    16 x float
 *
 * The instruction takes inputs as bytes without sign, 128 more than they are. The sums that weights
 * begin with make up for that.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_DOT_TAPS_TAPS_H_
#define PETREL_THIRD_PARTY_XNNPACK_DOT_TAPS_TAPS_H_

#include <stddef.h>
#include <stdint.h>

#include "xnnpack/microparams.h"

#ifdef __cplusplus
extern "C" {
#endif

/* XNNPACK's contracts of depthwise kernels with 9 and 25 taps and tiles of 16 channels, but for
 * the order of weights. Of a tile at the end of the channels all 16 bytes of a row are read. */
void petrel_qs8_qc8w_dwconv_9p16c__avx512vnni(size_t channels, size_t output_width,
                                              const int8_t** input, const void* weights,
                                              int8_t* output, intptr_t input_stride,
                                              size_t output_increment, size_t input_offset,
                                              const int8_t* zero,
                                              const union xnn_qs8_qc8w_conv_minmax_params* params);

void petrel_qs8_qc8w_dwconv_25p16c__avx512vnni(size_t channels, size_t output_width,
                                               const int8_t** input, const void* weights,
                                               int8_t* output, intptr_t input_stride,
                                               size_t output_increment, size_t input_offset,
                                               const int8_t* zero,
                                               const union xnn_qs8_qc8w_conv_minmax_params* params);

/* Puts weights into that order that XNNPACK packed, a tap of 16 channels after the other. `taps`
 * is one more than a multiple of 4, at most 25. */
void petrel_interleave_taps(size_t taps, size_t channels, void* packed);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_DOT_TAPS_TAPS_H_ */
