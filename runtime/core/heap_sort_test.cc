// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/heap_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace petrel::runtime {
namespace {

struct Numbers final : Sortable {
  explicit Numbers(std::vector<int> numbers) : all(std::move(numbers)) {}

  bool is_before(size_t a, size_t b) const override {
    EXPECT_NE(a, b);
    return all.at(a) < all.at(b);
  }
  void swap(size_t a, size_t b) override { std::swap(all.at(a), all.at(b)); }

  std::vector<int> all;
};

TEST(HeapSort, PutsNumbersInOrder) {
  std::mt19937 random(1);
  for (size_t count = 0; count < 70; ++count) {
    for (const int largest : {0, 3, 1000}) {
      std::vector<int> expected(count);
      for (int& number : expected) number = std::uniform_int_distribution<int>(0, largest)(random);
      Numbers numbers(expected);
      heap_sort(&numbers, count);
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(numbers.all, expected) << count;
    }
  }
}

}  // namespace
}  // namespace petrel::runtime
