// SPDX-License-Identifier: Apache-2.0

// What the pool promises about memory; also run under ThreadSanitizer, which
// must find nothing.
#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace {

TEST(PoolTest, EachRunSeesWhatTheRunBeforeWrote) {
  std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(
      pthreadpool_create(4), &pthreadpool_destroy);
  ASSERT_NE(pool, nullptr);
  std::vector<size_t> values(1000), next(1000);
  std::iota(values.begin(), values.end(), 0);
  struct Buffers {
    std::vector<size_t>* from;
    std::vector<size_t>* to;
  } buffers;
  for (int round = 0; round < 50; ++round) {
    buffers = {&values, &next};
    pthreadpool_parallelize_1d(
        pool.get(),
        [](void* context, size_t i) {
          const auto* b = static_cast<const Buffers*>(context);
          (*b->to)[i] = (*b->from)[(i + 1) % b->from->size()];
        },
        &buffers, values.size(), 0);
    std::swap(values, next);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], (i + 50) % values.size());
  }
}

TEST(PoolTest, TilesCoverARangeOnce) {
  std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(
      pthreadpool_create(3), &pthreadpool_destroy);
  ASSERT_NE(pool, nullptr);
  constexpr size_t kRows = 37, kColumns = 53;
  std::vector<int> visits(kRows * kColumns);
  pthreadpool_parallelize_2d_tile_2d(
      pool.get(),
      [](void* context, size_t row, size_t column, size_t rows,
         size_t columns) {
        auto* visits = static_cast<std::vector<int>*>(context);
        for (size_t r = row; r < row + rows; ++r) {
          for (size_t c = column; c < column + columns; ++c) {
            ++(*visits)[r * kColumns + c];
          }
        }
      },
      &visits, kRows, kColumns, 5, 8, 0);
  EXPECT_EQ(visits, std::vector<int>(kRows * kColumns, 1));
}

}  // namespace
