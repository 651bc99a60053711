// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Constant weight_of(const Sizes& sizes, const std::vector<float>& elements) {
  Constant weight;
  weight.fqn = "w";
  weight.type = TensorType::contiguous(ScalarType::kFloat, sizes);
  std::vector<uint8_t> bytes(elements.size() * sizeof(float));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  weight.data = Blob::owned(std::move(bytes));
  return weight;
}

// What MinMaxObserver of torchao 0.18.0 makes of the same ranges, with levels of
// -128..127 and an eps below all of them.
TEST(Scheme, NumbersAreTorchs) {
  const struct {
    float min, max, scale;
    int32_t zero_point;
  } kCases[] = {
      {-1, 3, 0.01568627543747425f, -64},        {0, 6, 0.0235294122248888f, -128},
      {0.5f, 2.5f, 0.009803921915590763f, -128}, {-7, -0.25f, 0.027450980618596077f, 127},
      {-0.1f, 0.1f, 0.0007843137136660516f, 0},  {-1000, 1e-3f, 3.92157244682312f, 127},
  };
  for (const auto& c : kCases) {
    const Affine numbers = affine_of({c.min, c.max});
    EXPECT_EQ(numbers.scale, c.scale) << c.min << ", " << c.max;
    EXPECT_EQ(numbers.zero_point, c.zero_point) << c.min << ", " << c.max;
  }
}

TEST(Scheme, EveryRangeHasNumbersThatCanBeUsed) {
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  for (const Range range : {Range{0, 0}, Range{-most, most}, Range{0, least}, Range{-least, 0},
                            Range{most, most}, Range{-most, -most}}) {
    EXPECT_TRUE(check_affine(affine_of(range)).ok()) << range.min << ", " << range.max;
  }
  EXPECT_TRUE(Range().is_empty());
}

TEST(Scheme, RefusesNumbersByName) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float scale : {0.0f, -1.0f, infinity, 1e-40f, std::nanf("")}) {
    EXPECT_THAT(std::string(check_affine({scale, 0}).message()), HasSubstr("scale is "));
  }
  EXPECT_EQ(check_affine({1, 128}).message(), "zero point is 128, must be -128 to 127");
}

// Of lengths around those that are looked at together.
TEST(Scheme, RangesAreFromTheLeastToTheLargest) {
  for (size_t count = 2; count < 70; ++count) {
    for (size_t at = 0; 2 * at + 1 < count; ++at) {
      std::vector<float> numbers(count, -0.5f);
      numbers[at] = 2;
      numbers[count - 1 - at] = -3;
      const auto range = range_of(weight_of({static_cast<int64_t>(count)}, numbers));
      ASSERT_TRUE(range.ok());
      EXPECT_EQ(range->min, -3) << count << ": " << at;
      EXPECT_EQ(range->max, 2) << count << ": " << at;
    }
  }
  constexpr float kLargest = std::numeric_limits<float>::max();
  const auto whole = range_of(weight_of({2}, {-kLargest, kLargest}));
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->min, -kLargest);
  EXPECT_EQ(whole->max, kLargest);
  EXPECT_FALSE(std::signbit(range_of(weight_of({1}, {-0.0f}))->min));
}

TEST(Scheme, RangesAreOfFiniteNumbers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const float wrong : {kInfinity, -kInfinity, kNan, -kNan}) {
    for (size_t at = 0; at < 40; ++at) {
      std::vector<float> numbers(40, 1);
      numbers[at] = wrong;
      EXPECT_FALSE(range_of(weight_of({40}, numbers)).ok()) << wrong << " at " << at;
    }
  }
}

// PerChannelMinMaxObserver, symmetric over -127..127, and quantize_per_channel.
TEST(Scheme, WeightsAreTorchs) {
  const auto weight = quantize_weight(weight_of({2, 3}, {1, -2, 0.5f, 0.25f, 0.1f, -0.3f}), 0);
  ASSERT_TRUE(weight.ok()) << weight.status();
  EXPECT_THAT(weight->scales, ElementsAre(0.015748031437397003f, 0.0023622047156095505f));
  EXPECT_THAT(weight->levels, ElementsAre(64, -127, 32, 106, 42, -127));
}

TEST(Scheme, WeightsHaveAScaleForEachIndexOfTheirAxis) {
  const auto weight = quantize_weight(weight_of({2, 2, 1}, {127, 2, -127, -4}), 1);
  ASSERT_TRUE(weight.ok()) << weight.status();
  EXPECT_THAT(weight->scales, ElementsAre(1, 4 / 127.0f));
  EXPECT_THAT(weight->levels, ElementsAre(127, 64, -127, -127));
  const auto zeros = quantize_weight(weight_of({1, 2}, {0, 0}), 0);
  ASSERT_TRUE(zeros.ok());
  EXPECT_THAT(zeros->scales, ElementsAre(1));
  const auto tiny = quantize_weight(weight_of({2, 1}, {1e-38f, 127}), 0);
  ASSERT_TRUE(tiny.ok()) << tiny.status();
  EXPECT_THAT(tiny->scales, ElementsAre(1, 1));
  EXPECT_THAT(tiny->levels, ElementsAre(0, 127));
}

TEST(Scheme, RefusesWeightsByIndex) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::nanf("")}) {
    const auto weight = quantize_weight(weight_of({2, 2}, {1, 1, bad, 1}), 0);
    EXPECT_EQ(weight.status().message(), "weight 'w' is not finite at index 1 of dimension 0");
  }
}

}  // namespace
}  // namespace petrel::exir
