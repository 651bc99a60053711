// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/element.h"

#include <cmath>

namespace petrel::runtime::portable {

double half_to_double(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  double value = 0.0;
  if (exponent == 31) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else {
    value = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

uint16_t double_to_half(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double a = std::fabs(value);
  if (value != value) return 0x7e00;
  if (a >= 65520.0) return sign | 0x7c00;  // rounds to infinity
  if (a == 0.0) return sign;               // has no exponent
  int exponent = 0;
  std::frexp(a, &exponent);  // a in [2^(e-1), 2^e)
  if (exponent < -13) exponent = -13;  // subnormal halves share one exponent
  // One unit of the last place is 2^(exponent - 11).
  const double scaled = std::ldexp(a, 11 - exponent);
  double whole = std::floor(scaled);
  const double rest = scaled - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) == 1.0)) whole += 1.0;
  const int units = static_cast<int>(whole);  // up to 2048, which carries over
  return sign | static_cast<uint16_t>(((exponent + 13) << 10) + units);
}

double bfloat16_to_double(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value = 0.0f;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

uint16_t double_to_bfloat16(double value) {
  const float narrow = static_cast<float>(value);
  if (narrow != narrow) return 0x7fc0;
  uint32_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof(bits));
  const uint32_t round = 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>((bits + round) >> 16);
}

}  // namespace petrel::runtime::portable
