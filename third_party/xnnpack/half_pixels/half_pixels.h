/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions of halves by windows of 3 x 3, 5 x 5 and 7 x 7, several pixels at once.
 *
 * They are petrel/f32-window-body.h with elements of two bytes: sums are of floats, which are
 * rounded to halves once, where XNNPACK's kernels of x86 round after each tap.
 *
 * The contracts are those of XNNPACK's kernels of these names; a window of so many elements may
 * have any form. Nothing outside of the channels is read or written.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_HALF_PIXELS_HALF_PIXELS_H_
#define PETREL_THIRD_PARTY_XNNPACK_HALF_PIXELS_HALF_PIXELS_H_

#include <stddef.h>
#include <stdint.h>

#include "xnnpack/math.h"
#include "xnnpack/microparams.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PETREL_DECLARE_HALF_PIXELS(name)                                            \
  void name(size_t channels, size_t output_width, const xnn_float16** input,        \
            const xnn_float16* weights, xnn_float16* output, intptr_t input_stride, \
            size_t output_increment, size_t input_offset, const xnn_float16* zero,  \
            const union xnn_f16_minmax_params* params);

PETREL_DECLARE_HALF_PIXELS(petrel_f16_dwconv_minmax_ukernel_9p16c__avx512skx)
PETREL_DECLARE_HALF_PIXELS(petrel_f16_dwconv_minmax_ukernel_25p16c__avx512skx)
PETREL_DECLARE_HALF_PIXELS(petrel_f16_dwconv_minmax_ukernel_49p16c__avx512skx)
PETREL_DECLARE_HALF_PIXELS(petrel_f16_dwconv_minmax_ukernel_9p8c__fma3)
PETREL_DECLARE_HALF_PIXELS(petrel_f16_dwconv_minmax_ukernel_25p8c__fma3)
PETREL_DECLARE_HALF_PIXELS(petrel_f16_dwconv_minmax_ukernel_49p8c__fma3)

#undef PETREL_DECLARE_HALF_PIXELS

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_HALF_PIXELS_HALF_PIXELS_H_ */
