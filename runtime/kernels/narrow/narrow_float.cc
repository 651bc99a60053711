// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/narrow/narrow_float.h"

#include <cstring>

namespace petrel::runtime {
namespace {

//          sign   exponent (bias)   fraction
//   float    1         8 (127)         23
//   half     1         5 (15)          10
constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kRoundsToInfinity = 0x477ff000;  // 65520
constexpr uint32_t kSmallestNormal = 0x38800000;    // 2^-14
constexpr uint32_t kHalfOfSmallest = 0x33000000;    // 2^-25
constexpr uint32_t kBiases = (127 - 15) << 23;

uint32_t bits_of(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float float_of(uint32_t bits) {
  float value = 0.0f;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace

uint16_t half_bits(float value) {
  const uint32_t bits = bits_of(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > kInfinity) return sign | 0x7e00;
  if (magnitude >= kRoundsToInfinity) return sign | 0x7c00;
  if (magnitude >= kSmallestNormal) {
    const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    return sign | static_cast<uint16_t>((rounded - kBiases) >> 13);
  }
  if (magnitude <= kHalfOfSmallest) return sign;
  // Subnormal, in units of 2^-24; a carry makes the smallest normal number.
  const uint32_t shift = 126 - (magnitude >> 23);
  const uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
  const uint32_t units = fraction >> shift;
  const uint32_t rest = fraction & ((uint32_t{1} << shift) - 1);
  const uint32_t middle = uint32_t{1} << (shift - 1);
  const bool up = rest > middle || (rest == middle && (units & 1) != 0);
  return sign | static_cast<uint16_t>(units + (up ? 1 : 0));
}

float half_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 31;
  const uint32_t fraction = bits & 1023;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) return float_of(sign | kInfinity | (fraction << 13));
  return float_of(sign | (((exponent << 10 | fraction) << 13) + kBiases));
}

uint16_t bfloat16_bits(float value) {
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffff) > kInfinity) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float bfloat16_value(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }

}  // namespace petrel::runtime
