// SPDX-License-Identifier: Apache-2.0
//
// Numbers of 8 bits, as weights are stored by torchao's float8 schemes. No operator of the IR
// computes with them: what an archive stores is widened to floats, which hold all of them.
//
//   const Float8* format = find_float8(30);   // float8_e5m2, by the numbering of archives
//   value_of(*format, 0x3c)                   // 1
#ifndef PETREL_EXIR_IMPORT_FLOAT8_H_
#define PETREL_EXIR_IMPORT_FLOAT8_H_

#include <cstdint>

#include "absl/types/span.h"

namespace petrel::exir {

struct Float8 {
  int64_t code;
  int fraction_bits;
  int bias;
  bool has_sign;
  bool has_infinity;  // the last exponent is that of infinity and NaN, else NaN is one pattern
  uint8_t nan;        // without a sign where both are NaN
};

// Null for other dtypes.
const Float8* find_float8(int64_t code);
float value_of(const Float8& format, uint8_t bits);
// Precondition: `to` has room for a float of each.
void widen(const Float8& format, absl::Span<const uint8_t> from, uint8_t* to);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_FLOAT8_H_
