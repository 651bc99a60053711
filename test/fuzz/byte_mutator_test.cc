// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/byte_mutator.h"

#include <set>

#include "gtest/gtest.h"

namespace petrel::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(ByteMutator, KeepsToTheBound) {
  std::minstd_rand random(1);
  const Bytes other(40, 7);
  for (size_t size = 0; size < 20; ++size) {
    for (int i = 0; i < 500; ++i) {
      Bytes bytes(size, 1);
      mutate_bytes_with(random, other, 16, &bytes);
      EXPECT_LE(bytes.size(), 16u);
    }
  }
}

TEST(ByteMutator, ChangesMostlyAnythingAnywhere) {
  std::minstd_rand random(2);
  std::set<Bytes> seen;
  std::set<size_t> sizes;
  for (int i = 0; i < 1000; ++i) {
    Bytes bytes(12, 100);
    mutate_bytes(random, 64, &bytes);
    sizes.insert(bytes.size());
    seen.insert(bytes);
  }
  EXPECT_GT(seen.size(), 300u);
  EXPECT_GT(sizes.size(), 10u);
}

TEST(ByteMutator, TakesPartsOfAnotherInput) {
  std::minstd_rand random(3);
  const Bytes other = {11, 12, 13, 14};
  int taken = 0;
  for (int i = 0; i < 1000; ++i) {
    Bytes bytes(8, 100);
    mutate_bytes_with(random, other, 64, &bytes);
    for (size_t k = 1; k < bytes.size(); ++k) {
      if (bytes[k - 1] != 13 || bytes[k] != 14) continue;
      ++taken;
      break;
    }
  }
  EXPECT_GT(taken, 20);
}

}  // namespace
}  // namespace petrel::fuzz
