// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/round_with_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "exir/quantize/group_scheme.h"

namespace petrel::exir {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::Le;

constexpr size_t kOut = 24, kIn = 128, kGroup = 32, kSamples = 512;

std::vector<float> normal(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> numbers(count);
  for (float& number : numbers) number = distribution(random);
  return numbers;
}

// Rows of kIn elements that `causes` numbers each decide, but for a little noise.
std::vector<float> inputs_of(size_t causes, unsigned seed) {
  const std::vector<float> mix = normal(causes * kIn, seed);
  const std::vector<float> cause = normal(kSamples * causes, seed + 1);
  std::vector<float> rows = normal(kSamples * kIn, seed + 2);
  for (size_t s = 0; s < kSamples; ++s) {
    for (size_t i = 0; i < kIn; ++i) {
      float& x = rows[s * kIn + i];
      x *= 0.1f;
      for (size_t c = 0; c < causes; ++c) x += cause[s * causes + c] * mix[c * kIn + i];
    }
  }
  return rows;
}

// The squared error of the layer's results, over all inputs.
double error_of(const std::vector<float>& weight, const RoundedWeight& rounded,
                const std::vector<float>& rows) {
  double sum = 0;
  for (size_t n = 0; n < kOut; ++n) {
    for (size_t s = 0; s < kSamples; ++s) {
      double off = 0;
      for (size_t i = 0; i < kIn; ++i) {
        const float stored = rounded.scales[(n * kIn + i) / kGroup] * rounded.levels[n * kIn + i];
        off += static_cast<double>(weight[n * kIn + i] - stored) *
               static_cast<double>(rows[s * kIn + i]);
      }
      sum += off * off;
    }
  }
  return sum;
}

TEST(RoundWithInputs, ErrsLessThanRoundingWhereInputsGoTogether) {
  const std::vector<float> weight = normal(kOut * kIn, 1);
  for (const size_t causes : {4u, 16u, 64u}) {
    const std::vector<float> seen = inputs_of(causes, 2);
    GramMatrix gram(kIn);
    gram.add(seen.data(), kSamples);
    const RoundedWeight rounded = round_with_inputs(weight, kOut, kIn, kGroup, gram);
    const RoundedWeight nearest = round_to_nearest(weight, kIn, kGroup);
    EXPECT_THAT(rounded.levels, Each(Ge(kLeastLevel4)));
    EXPECT_THAT(rounded.levels, Each(Le(kMostLevel4)));
    for (const float scale : rounded.scales) EXPECT_EQ(scale, to_bfloat16(scale));
    // Below by a third or more, in root mean square.
    EXPECT_LT(std::sqrt(error_of(weight, rounded, seen)),
              std::sqrt(error_of(weight, nearest, seen)) * 2 / 3)
        << causes;
  }
}

TEST(RoundWithInputs, IsRoundingWhereInputsHaveNothingInCommon) {
  const std::vector<float> weight = normal(kOut * kIn, 3);
  GramMatrix gram(kIn);
  std::vector<float> rows(kIn * kIn, 0);
  for (size_t i = 0; i < kIn; ++i) rows[i * kIn + i] = 2;
  gram.add(rows.data(), kIn);
  const RoundedWeight rounded = round_with_inputs(weight, kOut, kIn, kGroup, gram);
  const RoundedWeight nearest = round_to_nearest(weight, kIn, kGroup);
  EXPECT_EQ(rounded.levels, nearest.levels);
  EXPECT_EQ(rounded.scales, nearest.scales);
}

TEST(RoundWithInputs, TakesInputsThatAreNeverThereOrFew) {
  const std::vector<float> weight = normal(kOut * kIn, 4);
  const RoundedWeight nearest = round_to_nearest(weight, kIn, kGroup);
  // Never anything but 0.
  EXPECT_EQ(round_with_inputs(weight, kOut, kIn, kGroup, GramMatrix(kIn)).levels, nearest.levels);
  // One row: every element goes together with every other.
  const std::vector<float> row = normal(kIn, 5);
  GramMatrix gram(kIn);
  gram.add(row.data(), 1);
  const RoundedWeight rounded = round_with_inputs(weight, kOut, kIn, kGroup, gram);
  std::vector<float> rows;
  for (size_t s = 0; s < kSamples; ++s) rows.insert(rows.end(), row.begin(), row.end());
  EXPECT_LT(error_of(weight, rounded, rows), error_of(weight, nearest, rows) / 4);
}

TEST(GramMatrix, IsTheSumOverAllRows) {
  GramMatrix gram(2);
  std::vector<float> rows;
  for (int i = 0; i < 11; ++i) rows.insert(rows.end(), {1.0f, static_cast<float>(i)});
  gram.add(rows.data(), 11);
  EXPECT_EQ(gram.sums()[0], 11);
  EXPECT_EQ(gram.sums()[1], 55);
  EXPECT_EQ(gram.sums()[3], 385);
}

}  // namespace
}  // namespace petrel::exir
