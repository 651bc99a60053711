// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/extent.h"

#include <gtest/gtest.h>

#include <string>

namespace petrel::exir::emit_c {
namespace {

Extent symbol(int i) { return SizeExpression("s" + std::to_string(i), {1, 64}); }

TEST(Extent, IsTheSmallerOfTwo) {
  const std::string text = smaller_of(symbol(0), symbol(1)).text();
  EXPECT_EQ(text, "((sizes->s0) < (sizes->s1) ? (sizes->s0) : (sizes->s1))");
}

// Each more operand doubles the text, and each nesting does so for all of its operands.
TEST(Extent, IsNotKnownInCWhereItsTextWouldBeLong) {
  Extent least = symbol(0);
  for (int i = 1; i < 16; ++i) least = smaller_of(least, symbol(i));
  ASSERT_TRUE(least.is_known());
  EXPECT_EQ(least.text(), "");
  Extent nested = symbol(0);
  for (int i = 1; i < 40 && nested.is_known(); ++i) {
    nested = i % 2 == 0 ? smaller_of(nested + 1, symbol(i)) : larger_of(nested + 1, symbol(i));
    EXPECT_LE(nested.text().size(), 8192u) << i;
  }
}

// The third power would overflow, and its minimum with 4 be negative.
TEST(Extent, IsNotKnownInCWhereItWouldOverflow) {
  const Extent size = SizeExpression("s0", {1, 1 << 21});
  EXPECT_NE(smaller_of(size * size - 2, 4).text(), "");
  const Extent cube = size * size * size;
  EXPECT_EQ(cube.text(), "");
  EXPECT_EQ(smaller_of(cube - 2, 4).text(), "");
}

}  // namespace
}  // namespace petrel::exir::emit_c
