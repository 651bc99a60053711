// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace petrel::exir {
namespace {

Range range_of(const std::vector<float>& elements) {
  Range range;
  for (const float x : elements) range.include({x, x});
  return range;
}

// The sum of squared errors of the elements as int8 of that range.
double error_of(const std::vector<float>& elements, const Range& range) {
  const Affine numbers = affine_of(range);
  double sum = 0;
  for (const float x : elements) {
    const double level = std::nearbyint(x / numbers.scale) + numbers.zero_point;
    const double shown = (std::min(std::max(level, -128.0), 127.0) - numbers.zero_point) *
                         static_cast<double>(numbers.scale);
    sum += (x - shown) * (x - shown);
  }
  return sum;
}

std::vector<float> normal(size_t count, float outlier) {
  std::mt19937 random(7);
  std::normal_distribution<float> distribution;
  std::vector<float> elements(count);
  for (float& x : elements) x = distribution(random);
  elements.push_back(outlier);
  return elements;
}

Range best_of(const std::vector<float>& elements) {
  Histogram histogram(range_of(elements));
  histogram.add(elements.data(), elements.size());
  return histogram.best_range();
}

TEST(Histogram, CutsWhatLiesFarOut) {
  const std::vector<float> elements = normal(1000000, 40);
  const Range best = best_of(elements);
  EXPECT_LT(best.max, 20);
  EXPECT_LT(error_of(elements, best), 0.6 * error_of(elements, range_of(elements)));
}

// No other ends on a grid are better by more than the approximation costs.
TEST(Histogram, FindsTheLeastError) {
  for (const float outlier : {0.0f, 8.0f, -20.0f}) {
    const std::vector<float> elements = normal(20000, outlier);
    const Range whole = range_of(elements);
    const double found = error_of(elements, best_of(elements));
    for (int a = 1; a <= 20; ++a) {
      for (int b = 1; b <= 20; ++b) {
        const Range other = {whole.min * static_cast<float>(a) / 20,
                             whole.max * static_cast<float>(b) / 20};
        EXPECT_LT(found, 1.03 * error_of(elements, other)) << outlier << " " << a << " " << b;
      }
    }
  }
}

TEST(Histogram, KeepsRangesThatAreAllNeeded) {
  std::vector<float> even;
  for (int i = 0; i <= 1000; ++i) even.push_back(static_cast<float>(i) / 100);
  const Range best = best_of(even);
  EXPECT_EQ(best.min, 0);
  EXPECT_GT(best.max, 9.8f);
}

// A rectified value: zeros are shown exactly and must not keep others from their levels.
TEST(Histogram, DoesNotCountZeros) {
  std::vector<float> elements = normal(20000, 6);
  for (float& x : elements) x = std::max(x, 0.0f);
  const Range with_zeros = best_of(elements);
  elements.erase(std::remove(elements.begin(), elements.end(), 0.0f), elements.end());
  elements.push_back(0);
  EXPECT_EQ(with_zeros.max, best_of(elements).max);
}

TEST(Histogram, OfNothingOrOneNumberIsTheRange) {
  const Range range = {-1, 2};
  EXPECT_EQ(Histogram(range).best_range().max, 2);
  const float zeros[] = {0, 0};
  Histogram flat({0, 0});
  flat.add(zeros, 2);
  EXPECT_EQ(flat.best_range().min, 0);
  EXPECT_EQ(flat.best_range().max, 0);
}

}  // namespace
}  // namespace petrel::exir
