// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
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

// Ends against those of the sorted numbers, on either side of 0.
TEST(Histogram, PercentilesLeaveOutAsManyAsTheyMay) {
  std::vector<float> elements = normal(20000, 8);
  for (float& x : elements) x = x < 0 ? 3 * x : x;
  const Range whole = range_of(elements);
  Histogram histogram(whole);
  histogram.add(elements.data(), elements.size());
  std::sort(elements.begin(), elements.end());
  const auto zero = std::lower_bound(elements.begin(), elements.end(), 0.0f);
  const float bin = (whole.max - whole.min) / 2048;
  for (const double percent : {50.0, 90.0, 99.0, 99.9}) {
    const double cut = 1 - percent / 100;
    const auto below = static_cast<std::ptrdiff_t>(cut * (zero - elements.begin()));
    const auto above = static_cast<std::ptrdiff_t>(cut * (elements.end() - zero));
    const float lowest = *(elements.begin() + below), highest = *(elements.end() - 1 - above);
    const Range part = histogram.percentile_range(percent);
    EXPECT_LE(part.min, lowest + bin * 1e-3f) << percent;
    EXPECT_GE(part.min, lowest - 1.01f * bin) << percent;
    EXPECT_GE(part.max, highest - bin * 1e-3f) << percent;
    EXPECT_LE(part.max, highest + 1.01f * bin) << percent;
  }
  const Range all = histogram.percentile_range(100);
  EXPECT_EQ(all.min, whole.min);
  EXPECT_EQ(all.max, whole.max);
}

// However few numbers there are, one remains on each side that has some.
TEST(Histogram, PercentilesKeepTheLastNumberOfASide) {
  const std::vector<float> elements = {-3, 0, 0, 0, 5};
  Histogram histogram(range_of(elements));
  histogram.add(elements.data(), elements.size());
  const Range part = histogram.percentile_range(50);
  EXPECT_EQ(part.min, -3);
  EXPECT_EQ(part.max, 5);
}

TEST(Histogram, PercentilesOfSharedRangesCountAllThatShare) {
  Histogram all({0, 100});
  for (const float end : {1.0f, 100.0f}) {
    Histogram one({0, 100});
    for (int i = 1; i <= 1000; ++i) {
      const float x = end * static_cast<float>(i) / 1000;
      one.add(&x, 1);
    }
    all.add(one);
  }
  EXPECT_NEAR(all.percentile_range(75).max, 50, 0.2);
}

TEST(Histogram, ShowsWhatIsChosen) {
  const std::vector<float> elements = normal(20000, 40);
  Histogram histogram(range_of(elements));
  histogram.add(elements.data(), elements.size());
  EXPECT_EQ(histogram.part({}).max, 40);
  RangeChoice choice;
  choice.kind = RangeChoice::Kind::kLeastError;
  EXPECT_EQ(histogram.part(choice).max, histogram.best_range().max);
  choice.kind = RangeChoice::Kind::kPercentile;
  choice.percent = 99;
  EXPECT_EQ(histogram.part(choice).max, histogram.percentile_range(99).max);
  EXPECT_LT(histogram.part(choice).max, 4);
}

TEST(Histogram, OfNothingOrOneNumberIsTheRange) {
  const Range range = {-1, 2};
  EXPECT_EQ(Histogram(range).best_range().max, 2);
  const float zeros[] = {0, 0};
  Histogram flat({0, 0});
  flat.add(zeros, 2);
  EXPECT_EQ(flat.best_range().min, 0);
  EXPECT_EQ(flat.best_range().max, 0);
  EXPECT_EQ(flat.percentile_range(99).max, 0);
  EXPECT_EQ(Histogram(range).percentile_range(99).max, 2);
}

}  // namespace
}  // namespace petrel::exir
