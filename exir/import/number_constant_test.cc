// SPDX-License-Identifier: Apache-2.0
#include "exir/import/number_constant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace petrel::exir {
namespace {

std::vector<uint8_t> bytes_of(const Argument& number, ScalarType dtype) {
  const auto constant = number_constant(number, dtype);
  EXPECT_TRUE(constant.ok()) << constant.status();
  if (!constant.ok()) return {};
  EXPECT_EQ((*constant)->type, TensorType::contiguous(dtype, {}));
  const auto bytes = (*constant)->data.bytes();
  return std::vector<uint8_t>(bytes.span().begin(), bytes.span().end());
}

uint16_t half_of(double value) {
  const auto bytes = bytes_of(Argument(value), ScalarType::kHalf);
  return static_cast<uint16_t>(bytes.at(0) | bytes.at(1) << 8);
}

uint16_t bfloat16_of(double value) {
  const auto bytes = bytes_of(Argument(value), ScalarType::kBFloat16);
  return static_cast<uint16_t>(bytes.at(0) | bytes.at(1) << 8);
}

// Bit patterns from the IEEE 754 definition of binary16.
TEST(NumberConstant, RoundsToHalf) {
  EXPECT_EQ(half_of(0.0), 0x0000);
  EXPECT_EQ(half_of(-0.0), 0x8000);
  EXPECT_EQ(half_of(1.0), 0x3c00);
  EXPECT_EQ(half_of(-2.0), 0xc000);
  EXPECT_EQ(half_of(65504.0), 0x7bff);
  EXPECT_EQ(half_of(65519.0), 0x7bff);
  EXPECT_EQ(half_of(65520.0), 0x7c00);
  EXPECT_EQ(half_of(std::ldexp(1.0, -24)), 0x0001);
  EXPECT_EQ(half_of(std::ldexp(1.0, -25)), 0x0000);  // a tie, to even
  EXPECT_EQ(half_of(std::ldexp(3.0, -25)), 0x0002);  // a tie, to even
  EXPECT_EQ(half_of(std::ldexp(1023.5, -24)), 0x0400);
  EXPECT_EQ(half_of(1.0 + std::ldexp(1.0, -11)), 0x3c00);
  EXPECT_EQ(half_of(1.0 + std::ldexp(3.0, -11)), 0x3c02);
  EXPECT_EQ(half_of(std::numeric_limits<double>::infinity()), 0x7c00);
  EXPECT_EQ(half_of(std::nan("")) & 0x7fff, 0x7e00);
}

TEST(NumberConstant, RoundsToBfloat16) {
  EXPECT_EQ(bfloat16_of(1.0), 0x3f80);
  EXPECT_EQ(bfloat16_of(1.0 + std::ldexp(1.0, -8)), 0x3f80);
  EXPECT_EQ(bfloat16_of(1.0 + std::ldexp(3.0, -8)), 0x3f82);
  EXPECT_EQ(bfloat16_of(-std::numeric_limits<double>::infinity()), 0xff80);
  EXPECT_EQ(bfloat16_of(std::nan("")), 0x7fc0);
}

TEST(NumberConstant, WrapsIntegers) {
  EXPECT_EQ(bytes_of(Argument(int64_t{300}), ScalarType::kByte), (std::vector<uint8_t>{44}));
  EXPECT_EQ(bytes_of(Argument(int64_t{-2}), ScalarType::kShort),
            (std::vector<uint8_t>{0xfe, 0xff}));
  EXPECT_EQ(bytes_of(Argument(true), ScalarType::kLong),
            (std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(bytes_of(Argument(-2.5), ScalarType::kChar), (std::vector<uint8_t>{0xfe}));
  EXPECT_EQ(bytes_of(Argument(0.5), ScalarType::kBool), (std::vector<uint8_t>{1}));
}

TEST(NumberConstant, RefusesFloatsThatNoIntegerHolds) {
  EXPECT_FALSE(number_constant(Argument(1e19), ScalarType::kLong).ok());
  EXPECT_FALSE(number_constant(Argument(std::nan("")), ScalarType::kInt).ok());
}

TEST(NumberConstant, IsNamedAfterItsBits) {
  EXPECT_EQ((*number_constant(Argument(2.0), ScalarType::kFloat))->fqn, "literal_f32_40000000");
  EXPECT_EQ((*number_constant(Argument(int64_t{1}), ScalarType::kByte))->fqn, "literal_u8_01");
}

}  // namespace
}  // namespace petrel::exir
