// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/size_points.h"

#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

const SizeExpression kRows("s0", {2, 1000});

bool tells_apart(const SizePoints& made, const SizeExpression& a, const SizeExpression& b) {
  for (const SizePoint& point : made.points) {
    if (point.value_of(a) != point.value_of(b)) return true;
  }
  return false;
}

TEST(SizePoints, AreTheGeneralSamplesWhereThoseTellSizesApart) {
  const SizePoints made = points_for({kRows, *divide(kRows, 2), kRows, SizeExpression(8)});
  EXPECT_EQ(made.points.size(), kSamples - kFirstGeneralSample);
  EXPECT_TRUE(made.alike.empty());
}

TEST(SizePoints, TellApartWhatAgreesAtAllSamples) {
  const SizeExpression cut = *smallest({kRows, 998});
  for (size_t k = kFirstGeneralSample; k < kSamples; ++k) {
    ASSERT_EQ(cut.sample(k), kRows.sample(k));
  }
  const SizePoints made = points_for({kRows, cut});
  EXPECT_TRUE(tells_apart(made, kRows, cut));
  EXPECT_TRUE(made.alike.empty());
  const SizeExpression other("s1", {2, 9});
  EXPECT_TRUE(points_for({kRows, cut, other}).points.back().value_of(other).has_value());
}

TEST(SizePoints, TellApartFromAFixedSize) {
  const SizeExpression three = *smallest({kRows, 3});
  const SizePoints made = points_for({three});
  EXPECT_TRUE(tells_apart(made, three, SizeExpression(3)));
  EXPECT_TRUE(made.alike.empty());
}

TEST(SizePoints, NameWhatNothingTellsApart) {
  const SampleValues samples = {9, 9, 9, 9, 9, 9, 9, 9};
  const SizeExpression unknown(
      std::make_shared<const SizeSymbol>("u", SizeRange{0, 99}, samples, true));
  const SizePoints made = points_for({unknown, kRows});
  ASSERT_EQ(made.alike.size(), 1u);
  EXPECT_EQ(made.alike[0].first, unknown);
  EXPECT_EQ(made.alike[0].second, SizeExpression(9));
}

TEST(SizePoints, GiveTypes) {
  const TensorType type = TensorType::dynamic(ScalarType::kFloat, {kRows, 8});
  EXPECT_EQ(SizePoint(SymbolValues{{"s0", 5}}).type_at(type),
            TensorType::contiguous(ScalarType::kFloat, {5, 8}));
  EXPECT_EQ(SizePoint(SymbolValues{{"s1", 5}}).type_at(type), std::nullopt);
}

}  // namespace
}  // namespace petrel::exir
