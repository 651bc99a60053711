// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

extern "C" uint32_t arc4random(void) noexcept;

namespace {

TEST(OlderGlibc, GivesNumbersOfAllBits) {
  uint32_t any = 0, all = UINT32_MAX;
  for (int i = 0; i < 64; ++i) {
    const uint32_t number = arc4random();
    any |= number;
    all &= number;
  }
  EXPECT_EQ(any, UINT32_MAX);
  EXPECT_EQ(all, 0u);
}

}  // namespace
