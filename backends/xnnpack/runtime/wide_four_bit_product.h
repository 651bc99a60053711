// SPDX-License-Identifier: Apache-2.0
//
// What four_bit_product.h is, for x86 with AVX-512 and VNNI, with AMX or without. XNNPACK packs
// eight rows of a column together for its kernels, which then add up neighbours of each vector;
// these have four rows together, as both VNNI and AMX add up four products themselves.
//
//   use_wide_four_bit_products(config);   // XNNPACK's own, before operators are made
//
// With AMX, tiles multiply 16 rows by 16 columns, 32 of the depth at a time; what they sum is
// scaled and added up in floats. One row goes through weights that come from memory, so it is
// computed without tiles, and brings what it needs next.
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_WIDE_FOUR_BIT_PRODUCT_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_WIDE_FOUR_BIT_PRODUCT_H_

struct xnn_gemm_config;

namespace petrel::backends::xnnpack {

// Puts the kernels into the table if XNNPACK chose its own for AVX-512 with VNNI; returns whether.
// `has_tiles`: AMX for bytes may be used.
bool use_wide_four_bit_products(xnn_gemm_config* config, bool has_tiles);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_WIDE_FOUR_BIT_PRODUCT_H_
