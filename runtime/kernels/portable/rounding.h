// SPDX-License-Identifier: Apache-2.0
//
// Roundings of a double to what a narrower type holds, for kernels that compute in
// double and must round where eager torch rounds.
//
//   const Rounding rounded = rounding_of(ScalarType::Half);
//   rounded(1.0 / 3.0);    // 0.333251953125
//   round_half_even(2.5);  // 2
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_ROUNDING_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_ROUNDING_H_

#include <cmath>

#include "runtime/core/scalar_type.h"
#include "runtime/kernels/narrow/narrow_float.h"

namespace petrel::runtime::portable {

using Rounding = double (*)(double value);

inline double as_double(double value) { return value; }
inline double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }
inline double as_half(double value) {
  return static_cast<double>(half_value(half_bits(static_cast<float>(value))));
}
inline double as_bfloat16(double value) {
  return static_cast<double>(bfloat16_value(bfloat16_bits(static_cast<float>(value))));
}

// `type` is a floating type.
inline Rounding rounding_of(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
      return as_half;
    case ScalarType::BFloat16:
      return as_bfloat16;
    case ScalarType::Float:
      return as_float;
    default:
      return as_double;
  }
}

// To an integer, ties to the even one. Does not depend on the rounding mode.
inline double round_half_even(double value) {
  const double down = std::floor(value);
  const double rest = value - down;
  if (rest < 0.5) return down;
  if (rest > 0.5) return down + 1;
  if (rest != 0.5) return value;  // NaN and infinities
  return std::fmod(down, 2.0) == 0.0 ? down : down + 1;
}

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_ROUNDING_H_
