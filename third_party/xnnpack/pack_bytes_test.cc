// SPDX-License-Identifier: Apache-2.0
//
// Filters of bytes in blocks, by one thread and by several, beside a loop over each byte.
#include <petrel/pack-s8.h>
#include <petrel/packing.h>
#include <pthreadpool.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace {

constexpr uint8_t kUntouched = 0xA5;

struct Filter {
  size_t groups = 1, outputs = 1, depth = 4, nr = 16, kr = 4, extra_bytes = 0;
  bool has_bias = true;
  uint32_t zero_point = 0;
};

struct Numbers {
  std::vector<int8_t> kernel;
  std::vector<int32_t> bias;

  explicit Numbers(const Filter& f)
      : kernel(f.groups * f.outputs * f.depth), bias(f.groups * f.outputs) {
    std::mt19937 random(static_cast<uint32_t>(kernel.size()));
    for (int8_t& one : kernel) one = static_cast<int8_t>(random());
    for (int32_t& one : bias) one = static_cast<int32_t>(random());
  }
};

std::vector<uint8_t> expected(const Filter& f, const Numbers& numbers) {
  std::vector<uint8_t> packed;
  for (size_t row = 0; row < f.groups * f.outputs; row += f.nr) {
    const size_t group_end = (row / f.outputs + 1) * f.outputs;
    const size_t end = std::min(row + f.nr, group_end);
    const size_t start = packed.size();
    packed.resize(start + f.nr * (4 + f.depth) + f.extra_bytes, kUntouched);
    for (size_t n = row; n < end; ++n) {
      uint32_t sum = f.has_bias ? static_cast<uint32_t>(numbers.bias[n]) : 0;
      for (size_t k = 0; k < f.depth; ++k) {
        const int8_t weight = numbers.kernel[n * f.depth + k];
        sum -= static_cast<uint32_t>(weight) * f.zero_point;
        const size_t part = k / f.kr * f.nr + n - row;
        packed[start + 4 * f.nr + part * f.kr + k % f.kr] = static_cast<uint8_t>(weight);
      }
      std::memcpy(&packed[start + 4 * (n - row)], &sum, sizeof sum);
    }
    if (end == group_end) row = end - f.nr;
  }
  return packed;
}

std::vector<uint8_t> packed(const Filter& f, const Numbers& numbers) {
  const size_t blocks = (f.outputs + f.nr - 1) / f.nr * f.groups;
  std::vector<uint8_t> bytes(blocks * (f.nr * (4 + f.depth) + f.extra_bytes), kUntouched);
  xnn_pack_s8_rows(f.groups, f.outputs, f.depth, f.nr, f.kr, numbers.kernel.data(),
                   f.has_bias ? numbers.bias.data() : nullptr, f.zero_point, bytes.data(),
                   f.extra_bytes);
  return bytes;
}

TEST(PackBytes, BlocksAreThoseOfALoopOverBytes) {
  const std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> threads(pthreadpool_create(3),
                                                                             pthreadpool_destroy);
  for (const Filter& f : {Filter{}, Filter{1, 1, 8, 8, 8, 0, false, 7}, Filter{1, 16, 64, 16, 4},
                          Filter{1, 17, 68, 16, 4, 128, true, 255}, Filter{3, 5, 12, 64, 4, 8},
                          Filter{2, 130, 576, 64, 4, 512, true, static_cast<uint32_t>(-128)},
                          Filter{1, 257, 1160, 16, 8, 64, true, 128}, Filter{4, 33, 72, 8, 8}}) {
    const Numbers numbers(f);
    const std::vector<uint8_t> wanted = expected(f, numbers);
    EXPECT_EQ(packed(f, numbers), wanted) << f.outputs << " x " << f.depth;
    xnn_set_packing_threads(threads.get());
    EXPECT_EQ(packed(f, numbers), wanted) << f.outputs << " x " << f.depth;
    xnn_set_packing_threads(nullptr);
  }
}

TEST(PackBytes, SumsHaveRoomForTheLargest) {
  const Filter f{1, 1, 64, 8, 4, 0, false, 1};
  Numbers numbers(f);
  for (const int8_t weight : {int8_t{-128}, int8_t{127}}) {
    std::fill(numbers.kernel.begin(), numbers.kernel.end(), weight);
    int32_t sum = 0;
    std::memcpy(&sum, packed(f, numbers).data(), sizeof sum);
    EXPECT_EQ(sum, -64 * weight);
  }
}

TEST(PackBytes, KnowsWhatItCanPack) {
  EXPECT_TRUE(xnn_can_pack_s8_rows(8, 4, 1));
  EXPECT_TRUE(xnn_can_pack_s8_rows(8, 8, 1));
  EXPECT_FALSE(xnn_can_pack_s8_rows(12, 8, 1));
  EXPECT_FALSE(xnn_can_pack_s8_rows(8, 2, 1));
  EXPECT_FALSE(xnn_can_pack_s8_rows(8, 8, 4));
}

}  // namespace
