// SPDX-License-Identifier: Apache-2.0
//
// Half and bfloat16 as bits, the one definition for kernels and the compiler.
//
// Numbers are rounded to nearest even from float. What is a double comes by way
// of float, as in torch, and so is rounded twice:
//
//   2049 + 2^-30   ->   2049 as a float   ->   2048 as a half, not 2050
//
// Widening is exact. NaN stays NaN: a half keeps its sign, a bfloat16 does not.
//
//   uint16_t one = half_bits(1.0f);  // 0x3c00
//   float back = half_value(one);
#ifndef PETREL_RUNTIME_KERNELS_NARROW_NARROW_FLOAT_H_
#define PETREL_RUNTIME_KERNELS_NARROW_NARROW_FLOAT_H_

#include <cstdint>

namespace petrel::runtime {

uint16_t half_bits(float value);
float half_value(uint16_t bits);

uint16_t bfloat16_bits(float value);
float bfloat16_value(uint16_t bits);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_KERNELS_NARROW_NARROW_FLOAT_H_
