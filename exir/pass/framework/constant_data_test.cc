// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/constant_data.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

uint16_t bits_of(double value, ScalarType dtype) {
  uint16_t bits = 0;
  encode_element(value, dtype, reinterpret_cast<uint8_t*>(&bits));
  return bits;
}

// Patterns from the definition of IEEE 754 binary16.
TEST(ConstantData, HalvesRoundToNearestEven) {
  EXPECT_EQ(bits_of(1.0, ScalarType::kHalf), 0x3c00);
  EXPECT_EQ(bits_of(-2.0, ScalarType::kHalf), 0xc000);
  EXPECT_EQ(bits_of(65504, ScalarType::kHalf), 0x7bff);
  EXPECT_EQ(bits_of(65519.99, ScalarType::kHalf), 0x7bff);
  EXPECT_EQ(bits_of(65520, ScalarType::kHalf), 0x7c00);
  EXPECT_EQ(bits_of(std::ldexp(1.0, -24), ScalarType::kHalf), 0x0001);
  EXPECT_EQ(bits_of(std::ldexp(1.0, -25), ScalarType::kHalf), 0x0000);
  EXPECT_EQ(bits_of(std::ldexp(1.5, -25), ScalarType::kHalf), 0x0001);
  EXPECT_EQ(bits_of(std::ldexp(1.0, -14), ScalarType::kHalf), 0x0400);
  EXPECT_EQ(bits_of(1 + std::ldexp(1.0, -11), ScalarType::kHalf), 0x3c00);
  EXPECT_EQ(bits_of(1 + std::ldexp(3.0, -11), ScalarType::kHalf), 0x3c02);
  EXPECT_EQ(bits_of(-0.0, ScalarType::kHalf), 0x8000);
  // A mantissa that rounds up into the next power.
  EXPECT_EQ(bits_of(2 - std::ldexp(1.0, -12), ScalarType::kHalf), 0x4000);
}

TEST(ConstantData, BFloat16RoundsByWayOfFloat) {
  EXPECT_EQ(bits_of(1.0, ScalarType::kBFloat16), 0x3f80);
  EXPECT_EQ(bits_of(1 + std::ldexp(1.0, -8), ScalarType::kBFloat16), 0x3f80);
  EXPECT_EQ(bits_of(1 + std::ldexp(3.0, -8), ScalarType::kBFloat16), 0x3f82);
  // As torch: just above half way as a double, half way as a float.
  EXPECT_EQ(bits_of(1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40), ScalarType::kBFloat16), 0x3f80);
  EXPECT_EQ(bits_of(-std::numeric_limits<double>::infinity(), ScalarType::kBFloat16), 0xff80);
}

TEST(ConstantData, EveryHalfReadsBack) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    for (ScalarType type : {ScalarType::kHalf, ScalarType::kBFloat16}) {
      const double value = decode_element(reinterpret_cast<const uint8_t*>(&bits), type);
      if (std::isnan(value)) continue;
      EXPECT_EQ(bits_of(value, type), bits);
    }
  }
}

TEST(ConstantData, DecodesInRowMajorOrder) {
  Constant constant;
  constant.type = TensorType::contiguous(ScalarType::kFloat, {2, 3});
  constant.type.dim_order = {1, 0};  // columns lie together
  auto data = encode_constant({1, 4, 2, 5, 3, 6}, ScalarType::kFloat);
  ASSERT_TRUE(data.ok());
  constant.data = *data;
  auto values = decode_constant(constant);
  ASSERT_TRUE(values.ok());
  EXPECT_THAT(*values, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(ConstantData, IntegersThatDoNotFitAreRefused) {
  EXPECT_TRUE(encode_constant({-128, 127}, ScalarType::kChar).ok());
  EXPECT_THAT(std::string(encode_constant({128}, ScalarType::kChar).status().message()),
              HasSubstr("value 128 does not fit i8"));
  EXPECT_FALSE(encode_constant({-1}, ScalarType::kByte).ok());
  EXPECT_FALSE(encode_constant({9.3e18}, ScalarType::kLong).ok());
  EXPECT_FALSE(encode_constant({std::nan("")}, ScalarType::kInt).ok());
}

TEST(ConstantData, RefusesTooFewBytes) {
  Constant constant;
  constant.fqn = "w";
  constant.type = TensorType::contiguous(ScalarType::kFloat, {2});
  constant.data = Blob::owned(std::vector<uint8_t>(7));
  EXPECT_THAT(std::string(decode_constant(constant).status().message()),
              HasSubstr("constant 'w' has 7 bytes, its type 8"));
}

}  // namespace
}  // namespace petrel::exir
