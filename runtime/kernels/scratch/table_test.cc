// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/scratch/table.h"

#include <gtest/gtest.h>

#include <vector>

namespace petrel::runtime::scratch {
namespace {

size_t convolution(std::vector<int32_t> input, std::vector<int32_t> weight, int64_t stride,
                   int64_t padding, bool transposed = false) {
  const int64_t strides[] = {stride, stride}, paddings[] = {padding, padding};
  const int64_t ones[] = {1, 1}, zeros[] = {0, 0};
  const int64_t is_transposed[] = {transposed}, groups[] = {input[1]};
  const Sizes sizes[9] = {Sizes(input.data(), input.size()), Sizes(weight.data(), weight.size())};
  const Ints ints[9] = {{}, {}, {}, strides, paddings, ones, is_transposed, zeros, groups};
  return scratch_bytes("aten::convolution.out", {sizes, ints});
}

TEST(ScratchTable, DepthwiseConvolutionsTakeABandWithItsPadding) {
  // 112 rows and columns, and one more on each side.
  EXPECT_EQ(convolution({1, 8, 112, 112}, {8, 1, 3, 3}, 1, 1), 4u * (114 * 114 + 32));
  // Four rectangles of 57 x 57, by the remainders of row and column.
  EXPECT_EQ(convolution({1, 8, 112, 112}, {8, 1, 3, 3}, 2, 1), 4u * (4 * 57 * 57 + 32));
  // The largest band of 1024 columns below 16384 floats: 15 rows.
  EXPECT_EQ(convolution({1, 8, 500, 1022}, {8, 1, 3, 3}, 1, 1), 4u * (15 * 1024 + 32));
}

TEST(ScratchTable, OtherConvolutionsTakeNone) {
  EXPECT_EQ(convolution({1, 8, 112, 112}, {8, 8, 3, 3}, 1, 1), 0u);
  EXPECT_EQ(convolution({1, 8, 112, 112}, {8, 1, 3, 3}, 1, 1, true), 0u);
  EXPECT_EQ(convolution({1, 8, 8, 100000}, {8, 1, 3, 3}, 1, 1), 0u);
  EXPECT_EQ(convolution({1, 8, 8, 8}, {8, 1, 3, 3}, 0, 1), 0u);
  EXPECT_EQ(convolution({1, 8, 2, 2}, {8, 1, 5, 5}, 1, 1), 0u);
}

TEST(ScratchTable, PoolsTakeABand) {
  const int32_t self[] = {1, 8, 28, 28};
  const int64_t two[] = {2, 2}, zero[] = {0, 0}, one[] = {1, 1}, no[] = {0};
  const Sizes sizes[7] = {self};
  const Ints largest[7] = {{}, two, {}, zero, one, no, {}};
  EXPECT_EQ(scratch_bytes("aten::max_pool2d_with_indices.out", {sizes, largest}),
            4u * (4 * 14 * 14 + 32));
  const Ints average[7] = {{}, two, {}, zero, no, no, {}};
  EXPECT_EQ(scratch_bytes("aten::avg_pool2d.out", {sizes, average}), 4u * (4 * 14 * 14 + 32));
}

// Of 16,000 rows between the taps 16,000 would be copied for each row of the output.
TEST(ScratchTable, PoolsWithTapsFarApartTakeNone) {
  const int32_t self[] = {1, 8, 32000, 1};
  const int64_t kernel[] = {2, 1}, far[] = {16000, 1}, one[] = {1, 1}, no[] = {0};
  const Sizes sizes[7] = {self};
  const Ints largest[7] = {{}, kernel, one, no, far, no, {}};
  EXPECT_EQ(scratch_bytes("aten::max_pool2d_with_indices.out", {sizes, largest}), 0u);
  const Ints near[7] = {{}, kernel, one, no, one, no, {}};
  EXPECT_GT(scratch_bytes("aten::max_pool2d_with_indices.out", {sizes, near}), 0u);
}

size_t attention(std::vector<int32_t> query) {
  const Sizes sizes[7] = {Sizes(query.data(), query.size())};
  const Ints ints[7] = {};
  return scratch_bytes("petrel::attention.out", {sizes, ints});
}

TEST(ScratchTable, AttentionTakesATileOfScores) {
  // One row, and all rows of plenty of heads.
  EXPECT_EQ(attention({1, 8, 1, 64}), 4u * 128);
  EXPECT_EQ(attention({1, 8, 100, 64}), 4u * 100 * 128);
  // 197 rows are too many for one block: two of 99, rounded up to twelves.
  EXPECT_EQ(attention({1, 12, 197, 64}), 4u * 108 * 128);
  // One head is cut for the threads: eight blocks of 120.
  EXPECT_EQ(attention({1, 1, 960, 64}), 4u * 120 * 128);
  EXPECT_EQ(attention({4, 8, 1 << 30, 64}), 4u * 192 * 128);
}

TEST(ScratchTable, AttentionOfNothingTakesNone) {
  EXPECT_EQ(attention({1, 0, 5, 64}), 0u);
  EXPECT_EQ(attention({1, 8, 0, 64}), 0u);
  EXPECT_EQ(attention({8, 5, 64}), 0u);
}

TEST(ScratchTable, RefusesWhatIsTooShortOrUnknown) {
  EXPECT_EQ(scratch_bytes("aten::convolution.out", {}), 0u);
  EXPECT_EQ(scratch_bytes("aten::avg_pool2d.out", {}), 0u);
  EXPECT_EQ(scratch_bytes("aten::max_pool2d_with_indices.out", {}), 0u);
  EXPECT_EQ(scratch_bytes("petrel::attention.out", {}), 0u);
  EXPECT_EQ(scratch_bytes("aten::relu.out", {}), 0u);
}

}  // namespace
}  // namespace petrel::runtime::scratch
