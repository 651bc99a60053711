// SPDX-License-Identifier: Apache-2.0
#include "exir/import/float8.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace petrel::exir {
namespace {

constexpr Float8 kFormats[] = {
    {29, 3, 7, true, false, 0x7f},     // float8_e4m3fn
    {30, 2, 15, true, true, 0x7f},     // float8_e5m2
    {31, 3, 8, true, false, 0x80},     // float8_e4m3fnuz
    {32, 2, 16, true, false, 0x80},    // float8_e5m2fnuz
    {33, 0, 127, false, false, 0xff},  // float8_e8m0fnu
};

}  // namespace

const Float8* find_float8(int64_t code) {
  for (const Float8& format : kFormats) {
    if (format.code == code) return &format;
  }
  return nullptr;
}

float value_of(const Float8& format, uint8_t bits) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const bool is_below = format.has_sign && (bits & 0x80) != 0;
  const uint8_t number = format.has_sign ? bits & 0x7f : bits;
  if (bits == format.nan || (format.nan != 0x80 && number == format.nan)) return kNaN;
  const int exponent = number >> format.fraction_bits;
  const int fraction = number & ((1 << format.fraction_bits) - 1);
  if (format.has_infinity && exponent == 0x7f >> format.fraction_bits) {
    if (fraction != 0) return kNaN;
    return std::copysign(std::numeric_limits<float>::infinity(), is_below ? -1.0f : 1.0f);
  }
  // e8m0 has exponents alone, and no zero.
  const bool is_whole = exponent > 0 || format.fraction_bits == 0;
  const int whole = fraction + (is_whole ? 1 << format.fraction_bits : 0);
  const int place = (is_whole ? exponent : 1) - format.bias - format.fraction_bits;
  return std::copysign(std::ldexp(static_cast<float>(whole), place), is_below ? -1.0f : 1.0f);
}

void widen(const Float8& format, absl::Span<const uint8_t> from, uint8_t* to) {
  float values[256];
  for (int i = 0; i < 256; ++i) values[i] = value_of(format, static_cast<uint8_t>(i));
  for (size_t i = 0; i < from.size(); ++i) {
    std::memcpy(to + i * sizeof(float), &values[from[i]], sizeof(float));
  }
}

}  // namespace petrel::exir
