// SPDX-License-Identifier: Apache-2.0

// What the pool promises about memory; also run under ThreadSanitizer, which
// must find nothing.
#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <cstddef>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace {

TEST(PoolTest, EachRunSeesWhatTheRunBeforeWrote) {
  std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(pthreadpool_create(4),
                                                                    &pthreadpool_destroy);
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
  std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(pthreadpool_create(3),
                                                                    &pthreadpool_destroy);
  ASSERT_NE(pool, nullptr);
  constexpr size_t kRows = 37, kColumns = 53;
  std::vector<int> visits(kRows * kColumns);
  pthreadpool_parallelize_2d_tile_2d(
      pool.get(),
      [](void* context, size_t row, size_t column, size_t rows, size_t columns) {
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

// More threads than processors, and commands much shorter than it takes a
// thread to wake: most threads come too late for most commands.
TEST(PoolTest, LateThreadsNeitherMissNorRepeatItems) {
  std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(pthreadpool_create(7),
                                                                    &pthreadpool_destroy);
  ASSERT_NE(pool, nullptr);
  for (size_t round = 0; round < 100000; ++round) {
    const size_t items = 2 + round % 11;
    std::vector<int> visits(items);
    pthreadpool_parallelize_1d(
        pool.get(), [](void* context, size_t i) { ++static_cast<int*>(context)[i]; }, visits.data(),
        items, 0);
    ASSERT_EQ(visits, std::vector<int>(items, 1)) << "round " << round;
  }
}

TEST(PoolTest, SeveralCallersShareAPool) {
  std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(pthreadpool_create(3),
                                                                    &pthreadpool_destroy);
  ASSERT_NE(pool, nullptr);
  std::vector<std::vector<size_t>> sums(4, std::vector<size_t>(64));
  std::vector<std::thread> callers;
  for (std::vector<size_t>& sum : sums) {
    callers.emplace_back([&pool, &sum] {
      for (int round = 0; round < 2000; ++round) {
        pthreadpool_parallelize_1d(
            pool.get(), [](void* context, size_t i) { static_cast<size_t*>(context)[i] += i; },
            sum.data(), sum.size(), 0);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::vector<size_t>& sum : sums) {
    for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], 2000 * i);
  }
}

TEST(PoolTest, EndsAtOnceAfterItsBeginning) {
  for (int round = 0; round < 200; ++round) {
    pthreadpool_t pool = pthreadpool_create(5);
    ASSERT_NE(pool, nullptr);
    EXPECT_EQ(pthreadpool_get_threads_count(pool), 5u);
    pthreadpool_destroy(pool);
  }
}

}  // namespace
