// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/checked_math.h"

#include <gtest/gtest.h>

namespace petrel::runtime {
namespace {

Span<const int32_t> span(std::initializer_list<int32_t> sizes) {
  return {sizes.begin(), sizes.size()};
}

TEST(CheckedMathTest, NoticesOverflow) {
  size_t result = 0;
  EXPECT_TRUE(checked_add(SIZE_MAX - 1, size_t{1}, &result));
  EXPECT_EQ(result, SIZE_MAX);
  EXPECT_FALSE(checked_add(SIZE_MAX, size_t{1}, &result));
  EXPECT_TRUE(checked_mul(SIZE_MAX / 2, size_t{2}, &result));
  EXPECT_FALSE(checked_mul(SIZE_MAX / 2 + 1, size_t{2}, &result));
  EXPECT_FALSE(checked_sub(size_t{1}, size_t{2}, &result));
}

TEST(CheckedMathTest, CastsOnlyWhatFits) {
  int32_t narrow = 0;
  EXPECT_TRUE(checked_cast(int64_t{INT32_MAX}, &narrow));
  EXPECT_FALSE(checked_cast(int64_t{INT32_MAX} + 1, &narrow));
  size_t size = 0;
  EXPECT_FALSE(checked_cast(int64_t{-1}, &size));
}

TEST(CheckedMathTest, AlignsUp) {
  size_t result = 0;
  EXPECT_TRUE(checked_align_up(0, 16, &result));
  EXPECT_EQ(result, 0u);
  EXPECT_TRUE(checked_align_up(17, 16, &result));
  EXPECT_EQ(result, 32u);
  EXPECT_FALSE(checked_align_up(SIZE_MAX - 3, 16, &result));
}

TEST(CheckedMathTest, CountsElements) {
  size_t numel = 0;
  EXPECT_TRUE(checked_numel(span({}), &numel));
  EXPECT_EQ(numel, 1u);
  EXPECT_TRUE(checked_numel(span({2, 3, 4}), &numel));
  EXPECT_EQ(numel, 24u);
  EXPECT_TRUE(checked_numel(span({2, 0, 4}), &numel));
  EXPECT_EQ(numel, 0u);
  EXPECT_FALSE(checked_numel(span({2, -1}), &numel));
  EXPECT_FALSE(checked_numel(span({INT32_MAX, INT32_MAX, 4}), &numel));
  // The product of the others overflows: strides would.
  EXPECT_FALSE(checked_numel(span({INT32_MAX, INT32_MAX, 4, 0}), &numel));
}

TEST(CheckedMathTest, LimitsBytesToWhatAnObjectCanHave) {
  size_t bytes = 0;
  EXPECT_TRUE(checked_nbytes(SIZE_MAX / 8, 4, &bytes));
  EXPECT_FALSE(checked_nbytes(SIZE_MAX / 4, 4, &bytes));
  EXPECT_FALSE(checked_nbytes(SIZE_MAX / 2, 4, &bytes));
}

TEST(CheckedMathTest, KnowsBounds) {
  EXPECT_TRUE(in_bounds(0, 0, 0));
  EXPECT_TRUE(in_bounds(4, 6, 10));
  EXPECT_FALSE(in_bounds(4, 7, 10));
  EXPECT_FALSE(in_bounds(11, 0, 10));
  EXPECT_FALSE(in_bounds(UINT64_MAX, 2, 10));
}

}  // namespace
}  // namespace petrel::runtime
