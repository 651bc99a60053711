// SPDX-License-Identifier: Apache-2.0
#include "exir/import/float8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace petrel::exir {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What torch 2.13 widens `kBits` to.
constexpr uint8_t kBits[] = {0x00, 0x01, 0x02, 0x07, 0x08, 0x3b, 0x40, 0x7b, 0x7c,
                             0x7e, 0x7f, 0x80, 0x81, 0xb9, 0xfb, 0xfc, 0xfe, 0xff};

struct Case {
  int64_t code;
  std::vector<float> numbers;
};

const std::vector<Case>& cases() {
  static const auto& all = *new std::vector<Case>{
      {29,
       {0.0f, 0x1p-9f, 0x1p-8f, 0x1.cp-7f, 0x1p-6f, 0x1.6p+0f, 0x1p+1f, 0x1.6p+8f, 0x1.8p+8f,
        0x1.cp+8f, kNaN, -0.0f, -0x1p-9f, -0x1.2p+0f, -0x1.6p+8f, -0x1.8p+8f, -0x1.cp+8f, kNaN}},
      {30,
       {0.0f, 0x1p-16f, 0x1p-15f, 0x1.cp-14f, 0x1p-13f, 0x1.cp-1f, 0x1p+1f, 0x1.cp+15f, kInfinity,
        kNaN, kNaN, -0.0f, -0x1p-16f, -0x1.4p-1f, -0x1.cp+15f, -kInfinity, kNaN, kNaN}},
      {31,
       {0.0f, 0x1p-10f, 0x1p-9f, 0x1.cp-8f, 0x1p-7f, 0x1.6p-1f, 0x1p+0f, 0x1.6p+7f, 0x1.8p+7f,
        0x1.cp+7f, 0x1.ep+7f, kNaN, -0x1p-10f, -0x1.2p-1f, -0x1.6p+7f, -0x1.8p+7f, -0x1.cp+7f,
        -0x1.ep+7f}},
      {32,
       {0.0f, 0x1p-17f, 0x1p-16f, 0x1.cp-15f, 0x1p-14f, 0x1.cp-2f, 0x1p+0f, 0x1.cp+14f, 0x1p+15f,
        0x1.8p+15f, 0x1.cp+15f, kNaN, -0x1p-17f, -0x1.4p-2f, -0x1.cp+14f, -0x1p+15f, -0x1.8p+15f,
        -0x1.cp+15f}},
      {33,
       {0x1p-127f, 0x1p-126f, 0x1p-125f, 0x1p-120f, 0x1p-119f, 0x1p-68f, 0x1p-63f, 0x1p-4f, 0x1p-3f,
        0x1p-1f, 0x1p+0f, 0x1p+1f, 0x1p+2f, 0x1p+58f, 0x1p+124f, 0x1p+125f, 0x1p+127f, kNaN}},
  };
  return all;
}

TEST(Float8, WidensAsTorchDoes) {
  for (const Case& one : cases()) {
    const Float8* format = find_float8(one.code);
    ASSERT_NE(format, nullptr) << one.code;
    std::vector<float> made(one.numbers.size());
    widen(*format, kBits, reinterpret_cast<uint8_t*>(made.data()));
    for (size_t i = 0; i < made.size(); ++i) {
      SCOPED_TRACE(testing::Message() << one.code << " of " << static_cast<int>(kBits[i]));
      EXPECT_EQ(std::isnan(made[i]), std::isnan(one.numbers[i]));
      if (std::isnan(made[i])) continue;
      EXPECT_EQ(made[i], one.numbers[i]);
      EXPECT_EQ(std::signbit(made[i]), std::signbit(one.numbers[i]));
    }
  }
}

TEST(Float8, IsNoOtherDtype) {
  for (const int64_t code : {0, 1, 7, 13, 28, 34}) EXPECT_EQ(find_float8(code), nullptr) << code;
}

}  // namespace
}  // namespace petrel::exir
