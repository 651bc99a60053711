// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/narrow/narrow_float.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"

namespace petrel::runtime {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// What a half means, from its definition.
double meaning_of_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(NarrowFloat, EveryHalfReadsBack) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = half_value(bits);
    if ((bits & 0x7fff) > 0x7c00) {
      EXPECT_TRUE(std::isnan(value)) << i;
      EXPECT_EQ(half_bits(value), (bits & 0x8000) | 0x7e00) << i;
      continue;
    }
    EXPECT_EQ(half_bits(value), bits) << i;
    if ((bits & 0x7fff) == 0x7c00) {
      EXPECT_EQ(value, bits == 0x7c00 ? kInf : -kInf);
    } else {
      EXPECT_EQ(value, meaning_of_half(bits)) << i;
    }
  }
}

TEST(NarrowFloat, EveryBfloat16ReadsBack) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = bfloat16_value(bits);
    EXPECT_EQ(bfloat16_bits(value), std::isnan(value) ? 0x7fc0 : bits) << i;
  }
}

// Rounding is monotonic, so it is right everywhere when it is right on both sides
// of the middle between any two neighbours, and on it.
TEST(NarrowFloat, FloatsRoundToTheNearestHalfAndTiesToTheEvenOne) {
  for (uint16_t low = 0; low < 0x7c00; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    // The neighbour of the largest half would be 2^16.
    const double above = high == 0x7c00 ? 65536.0 : meaning_of_half(high);
    const auto middle = static_cast<float>((meaning_of_half(low) + above) / 2);
    const uint16_t even = (low & 1) == 0 ? low : high;
    for (const uint16_t sign : {0, 0x8000}) {
      const auto round = [&](float magnitude) {
        return half_bits(sign != 0 ? -magnitude : magnitude);
      };
      EXPECT_EQ(round(middle), sign | even) << low;
      EXPECT_EQ(round(std::nextafter(middle, 0.0f)), sign | low) << low;
      EXPECT_EQ(round(std::nextafter(middle, kInf)), sign | high) << low;
    }
  }
}

TEST(NarrowFloat, FloatsRoundToTheNearestBfloat16AndTiesToTheEvenOne) {
  for (uint16_t low = 0; low < 0x7f80; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const uint32_t bits = (static_cast<uint32_t>(low) << 16) | 0x8000;
    float middle = 0;
    std::memcpy(&middle, &bits, sizeof(middle));
    const uint16_t even = (low & 1) == 0 ? low : high;
    for (const uint16_t sign : {0, 0x8000}) {
      const auto round = [&](float magnitude) {
        return bfloat16_bits(sign != 0 ? -magnitude : magnitude);
      };
      EXPECT_EQ(round(middle), sign | even) << low;
      EXPECT_EQ(round(std::nextafter(middle, 0.0f)), sign | low) << low;
      EXPECT_EQ(round(std::nextafter(middle, kInf)), sign | high) << low;
    }
  }
}

// As torch.tensor([2049 + 2**-30], dtype=torch.float64).half() and the sums of
// halves, which torch takes in float.
TEST(NarrowFloat, DoublesComeByWayOfFloat) {
  const double value = 2049 + std::ldexp(1.0, -30);
  EXPECT_EQ(half_value(half_bits(static_cast<float>(value))), 2048.0f);
  const double other = 257 + std::ldexp(1.0, -30);
  EXPECT_EQ(bfloat16_value(bfloat16_bits(static_cast<float>(other))), 256.0f);
}

}  // namespace
}  // namespace petrel::runtime
