// SPDX-License-Identifier: Apache-2.0
//
// Half and bfloat16 as bits. Numbers are rounded once, to nearest even; NaN
// gives the quiet NaN without a sign.
//
//   uint16_t one = half_bits(1.0);        // 0x3c00
//   double back = half_value(one);
#ifndef PETREL_EXIR_IR_NARROW_FLOAT_H_
#define PETREL_EXIR_IR_NARROW_FLOAT_H_

#include <cstdint>

namespace petrel::exir {

uint16_t half_bits(double value);
double half_value(uint16_t bits);

uint16_t bfloat16_bits(double value);
double bfloat16_value(uint16_t bits);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_NARROW_FLOAT_H_
