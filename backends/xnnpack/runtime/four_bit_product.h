// SPDX-License-Identifier: Apache-2.0
//
// Products of rows of int8, each with a scale and a zero point of its own, and weights of 4
// bits in groups with a scale each, for x86. XNNPACK's own kernels for AVX2 widen weights and
// activations to 16 bits before they multiply; these multiply bytes: 32 products with one
// instruction where XNNPACK has 16 with three. wide_four_bit_product.h has those for AVX-512.
//
//   use_four_bit_products();   // after xnn_initialize(), before operators are made
//
// Puts them into XNNPACK's table of kernels, where it chose its own for AVX2 or for AVX-512 with
// VNNI; where it chose others nothing changes. For AVX2 weights are packed as before, so
// that packed files serve both. Not thread-safe: called once, where XNNPACK is started.
//
// Sums of 32 products are exact, those of these are floats, so that results may differ from
// XNNPACK's in their last bits.
#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_FOUR_BIT_PRODUCT_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_FOUR_BIT_PRODUCT_H_

namespace petrel::backends::xnnpack {

// Whether XNNPACK now has them.
bool use_four_bit_products();

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_FOUR_BIT_PRODUCT_H_
