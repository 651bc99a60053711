// SPDX-License-Identifier: Apache-2.0
//
// Packs weights of 4 bits for wide_four_bit_product.h, a line of 16 columns at a time; XNNPACK's
// function that packs them in any order goes from one weight to the next.
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_WIDE_FOUR_BIT_PACK_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_WIDE_FOUR_BIT_PACK_H_

#include <cstddef>

namespace petrel::backends::xnnpack {

// XNNPACK's kind of function (xnn_packw_gemm_goi_bl_ukernel_fn). `weights` has rows of `kc`
// levels from 0 to 15, two in a byte, one for each of `nc` columns; `scales` are bfloat16, one for
// each `bl` of them. Scales and biases are left out, for XNNPACK to fill in.
void pack_wide_four_bits(size_t g, size_t nc, size_t kc, size_t nr, size_t kr, size_t sr, size_t bl,
                         const void* weights, const void* bias, const void* scales, void* packed,
                         size_t extra_bytes_bl, size_t extra_bytes_n, const void* params);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_WIDE_FOUR_BIT_PACK_H_
