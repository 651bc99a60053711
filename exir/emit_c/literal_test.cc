// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/literal.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace petrel::exir::emit_c {
namespace {

template <typename T>
std::string text_of(ScalarType type, T value) {
  uint8_t bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  return literal(type, bytes);
}

TEST(Literal, FloatsAreReadBackBitForBit) {
  uint32_t seed = 7;
  for (int i = 0; i < 20000; ++i) {
    seed = seed * 1664525u + 1013904223u;
    float value;
    std::memcpy(&value, &seed, sizeof(value));
    if (!std::isfinite(value)) continue;
    const std::string text = text_of(ScalarType::kFloat, value);
    ASSERT_EQ(text.back(), 'f') << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;
    const float back = std::strtof(text.c_str(), nullptr);
    ASSERT_EQ(std::memcmp(&back, &value, sizeof(value)), 0) << text;
  }
}

TEST(Literal, BitsOfHalfAndBfloat16) {
  EXPECT_EQ(text_of(ScalarType::kHalf, uint16_t{0x3c00}), "0x3c00u");
  EXPECT_EQ(text_of(ScalarType::kHalf, uint16_t{0x8001}), "0x8001u");
  EXPECT_EQ(text_of(ScalarType::kBFloat16, uint16_t{0x7fc0}), "0x7fc0u");
  EXPECT_EQ(text_of(ScalarType::kBFloat16, uint16_t{0}), "0x0000u");
}

TEST(Literal, OddFloats) {
  EXPECT_EQ(text_of(ScalarType::kFloat, 0.1f), "0.1f");
  EXPECT_EQ(text_of(ScalarType::kFloat, -0.0f), "-0.0f");
  EXPECT_EQ(text_of(ScalarType::kFloat, 1.0f), "1.0f");
  EXPECT_EQ(text_of(ScalarType::kFloat, std::numeric_limits<float>::infinity()), "INFINITY");
  EXPECT_EQ(text_of(ScalarType::kFloat, -std::numeric_limits<float>::infinity()), "-INFINITY");
  EXPECT_EQ(text_of(ScalarType::kFloat, std::numeric_limits<float>::quiet_NaN()), "NAN");
  const std::string denormal =
      text_of(ScalarType::kFloat, std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(std::strtof(denormal.c_str(), nullptr), std::numeric_limits<float>::denorm_min());
}

TEST(Literal, LimitsOfIntegersHaveLiterals) {
  EXPECT_EQ(text_of(ScalarType::kLong, std::numeric_limits<int64_t>::min()), "INT64_MIN");
  EXPECT_EQ(text_of(ScalarType::kLong, std::numeric_limits<int64_t>::max()),
            "INT64_C(9223372036854775807)");
  EXPECT_EQ(text_of(ScalarType::kLong, int64_t{-5}), "-5");
  EXPECT_EQ(text_of(ScalarType::kInt, std::numeric_limits<int32_t>::min()), "-INT64_C(2147483648)");
  EXPECT_EQ(text_of(ScalarType::kChar, int8_t{-128}), "-128");
  EXPECT_EQ(text_of(ScalarType::kByte, uint8_t{255}), "255");
  EXPECT_EQ(text_of(ScalarType::kUInt64, std::numeric_limits<uint64_t>::max()),
            "UINT64_C(18446744073709551615)");
  EXPECT_EQ(text_of(ScalarType::kBool, uint8_t{1}), "true");
}

TEST(Literal, NumbersStandInExpressions) {
  EXPECT_EQ(number(0.5), "0.5");
  EXPECT_EQ(number(-2.0), "(-2.0)");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "((double)INFINITY)");
  EXPECT_EQ(number(int64_t{-3}), "(-3)");
  EXPECT_EQ(list({2, 3}), "{2, 3}");
  EXPECT_EQ(list({}), "{1}");
}

}  // namespace
}  // namespace petrel::exir::emit_c
