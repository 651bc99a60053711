// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/narrow_float.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace petrel::exir {

double half_value(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  double value = 0;
  if (exponent == 31) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else {
    value = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

uint16_t half_bits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  // 65520 is half way between the largest half and the next power.
  if (magnitude >= 65520.0) return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < std::ldexp(1.0, -14)) {
    // Subnormal; a carry into the exponent is the smallest normal number.
    return static_cast<uint16_t>(
        sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24))));
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude in [2^(e-1), 2^e)
  const double scaled = std::nearbyint(std::ldexp(magnitude, 11 - exponent));
  const int bits =
      ((exponent + 14) << 10) + (static_cast<int>(scaled) - 1024);
  return static_cast<uint16_t>(sign | bits);
}

uint16_t bfloat16_bits(double value) {
  // Rounding through float would round twice.
  if (std::isnan(value)) return 0x7fc0;
  float rounded = static_cast<float>(value);
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(value)) {
    rounded = std::nextafter(rounded, 0.0f);
  }
  uint32_t bits = 0;
  std::memcpy(&bits, &rounded, sizeof(bits));
  const uint32_t rest = bits & 0xffff;
  const bool exact = static_cast<double>(rounded) == value;
  const bool up = rest > 0x8000 ||
                  (rest == 0x8000 && (!exact || ((bits >> 16) & 1) != 0));
  return static_cast<uint16_t>((bits >> 16) + (up ? 1 : 0));
}

double bfloat16_value(uint16_t half) {
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return static_cast<double>(value);
}

}  // namespace petrel::exir
