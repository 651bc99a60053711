// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/group_scheme.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace petrel::exir {
namespace {

double error_of(const std::vector<float>& values, float scale, const int8_t* levels) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += std::pow(values[i] - scale * static_cast<float>(levels[i]), 2);
  }
  return sum;
}

TEST(Bfloat16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(to_bfloat16(1.0f), 1.0f);
  EXPECT_EQ(to_bfloat16(1.00390625f), 1.0f);       // halfway to 1.0078125
  EXPECT_EQ(to_bfloat16(1.01171875f), 1.015625f);  // halfway from 1.0078125
  EXPECT_EQ(to_bfloat16(-3.1415927f), -3.140625f);
}

TEST(QuantizeGroup, IsExactOnLevels) {
  const std::vector<float> values = {-3.5f, 0, 0.5f, 1, -1.5f, 2, 3.5f, -0.5f};
  std::array<int8_t, 8> levels;
  EXPECT_EQ(quantize_group(values.data(), values.size(), levels.data()), 0.5f);
  EXPECT_EQ(levels, (std::array<int8_t, 8>{-7, 0, 1, 2, -3, 4, 7, -1}));
}

TEST(QuantizeGroup, IsNeverWorseThanRounding) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  double least = 0, rounded = 0;
  for (int group = 0; group < 200; ++group) {
    std::vector<float> values(32);
    float most = 0;
    for (float& value : values) {
      value = normal(random);
      most = std::max(most, std::fabs(value));
    }
    std::vector<int8_t> levels(32);
    const float scale = quantize_group(values.data(), values.size(), levels.data());
    EXPECT_EQ(scale, to_bfloat16(scale));
    const double here = error_of(values, scale, levels.data());
    const float whole = to_bfloat16(most / 7);
    for (size_t i = 0; i < values.size(); ++i) {
      levels[i] = static_cast<int8_t>(std::nearbyint(values[i] / whole));
    }
    const double there = error_of(values, whole, levels.data());
    EXPECT_LE(here, there * 1.000001);
    least += here;
    rounded += there;
  }
  EXPECT_LT(least, 0.95 * rounded);
}

TEST(QuantizeGroup, MakesZerosOfWhatIsTooSmall) {
  for (const float value : {0.0f, std::numeric_limits<float>::denorm_min(), 1e-39f}) {
    const std::vector<float> values(32, value);
    std::vector<int8_t> levels(32, 1);
    EXPECT_EQ(quantize_group(values.data(), values.size(), levels.data()), 1.0f);
    EXPECT_EQ(levels, std::vector<int8_t>(32, 0));
  }
}

TEST(QuantizeGroup, TakesTheLargestFloats) {
  std::vector<float> values(32, 0);
  values[0] = std::numeric_limits<float>::max();
  std::vector<int8_t> levels(32);
  const float scale = quantize_group(values.data(), values.size(), levels.data());
  EXPECT_TRUE(std::isfinite(scale));
  EXPECT_EQ(levels[0], 7);
  EXPECT_EQ(levels[1], 0);
}

}  // namespace
}  // namespace petrel::exir
