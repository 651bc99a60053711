// SPDX-License-Identifier: Apache-2.0
//
// Networks whose smallest arenas are known, rebuilt from their shapes.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exir/plan/search/planner.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

// Appends a buffer alive while the operators [first, last] execute.
BufferIdx add(Problem* problem, int64_t first, int64_t last, int64_t size) {
  Buffer buffer;
  buffer.id = std::to_string(problem->buffers.size());
  buffer.lifetime = {first, last + 1};
  buffer.size = size;
  problem->buffers.push_back(buffer);
  return static_cast<BufferIdx>(problem->buffers.size()) - 1;
}

Problem empty_problem() {
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  return problem;
}

// Operator i reads value i and writes value i + 1.
Problem chain(const std::vector<int64_t>& sizes) {
  Problem problem = empty_problem();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto op = static_cast<int64_t>(i);
    add(&problem, i == 0 ? 0 : op - 1, i + 1 == sizes.size() ? op - 1 : op, sizes[i]);
  }
  return problem;
}

void expect_optimum(const Problem& problem, int64_t peak) {
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->peak, peak);
  EXPECT_TRUE(solution->optimal);
}

// Sizes rounded up to 16 bytes, int8.
int64_t bytes(int64_t elements) { return (elements + 15) / 16 * 16; }

TEST(PublishedTest, AnomalyDetectionAutoencoder) {
  std::vector<int64_t> sizes = {bytes(640)};
  for (int i = 0; i < 4; ++i) sizes.push_back(bytes(128));
  sizes.push_back(bytes(8));
  for (int i = 0; i < 4; ++i) sizes.push_back(bytes(128));
  sizes.push_back(bytes(640));
  expect_optimum(chain(sizes), 768);
}

TEST(PublishedTest, KeywordSpottingDsCnn) {
  std::vector<int64_t> sizes = {bytes(49 * 10)};
  for (int i = 0; i < 9; ++i) sizes.push_back(bytes(25 * 5 * 64));
  sizes.push_back(bytes(64));  // pooled
  sizes.push_back(bytes(64));  // flat
  sizes.push_back(bytes(12));
  sizes.push_back(bytes(12));
  expect_optimum(chain(sizes), 16000);
}

TEST(PublishedTest, ImageClassificationResNet8) {
  // input; stem; then three stacks of two convolutions and a shortcut.
  Problem problem = empty_problem();
  int64_t op = 0;
  add(&problem, 0, 0, bytes(32 * 32 * 3));
  BufferIdx trunk = add(&problem, op++, 0, bytes(32 * 32 * 16));
  const std::vector<int64_t> outputs = {32 * 32 * 16, 16 * 16 * 32, 8 * 8 * 64};
  for (size_t stack = 0; stack < 3; ++stack) {
    const int64_t size = bytes(outputs[stack]);
    const int64_t conv1 = op++;
    const int64_t conv2 = op++;
    const int64_t shortcut = stack == 0 ? -1 : op++;
    const int64_t sum = op++;
    add(&problem, conv1, conv2, size);
    add(&problem, conv2, sum, size);
    problem.buffers[trunk].lifetime.end = (stack == 0 ? sum : shortcut) + 1;
    if (stack > 0) add(&problem, shortcut, sum, size);
    trunk = add(&problem, sum, sum, size);
  }
  problem.buffers[trunk].lifetime.end = op + 1;
  add(&problem, op, op + 1, bytes(64));
  ++op;
  add(&problem, op, op + 1, bytes(10));
  ++op;
  add(&problem, op, op, bytes(10));
  expect_optimum(problem, 49152);
}

TEST(PublishedTest, VisualWakeWordsMobileNet) {
  std::vector<int64_t> sizes = {bytes(96 * 96 * 3), bytes(48 * 48 * 8)};
  const std::vector<std::pair<int64_t, int64_t>> blocks = {
      {48, 16}, {24, 32}, {24, 32}, {12, 64}, {12, 64}, {6, 128}, {6, 128},
      {6, 128}, {6, 128}, {6, 128}, {6, 128}, {3, 256}, {3, 256}};
  int64_t channels = 8;
  for (const auto& [side, out] : blocks) {
    sizes.push_back(bytes(side * side * channels));  // depthwise
    sizes.push_back(bytes(side * side * out));       // pointwise
    channels = out;
  }
  sizes.push_back(bytes(256));
  sizes.push_back(bytes(256));
  sizes.push_back(bytes(2));
  sizes.push_back(bytes(2));
  ASSERT_EQ(sizes.size(), 32u);
  expect_optimum(chain(sizes), 55296);
}

TEST(PublishedTest, StreamingWakeWord) {
  // 30 frames of 40 features; three times a convolution along time for each
  // channel by itself and one across channels, then all frames at once.
  std::vector<int64_t> sizes = {bytes(30 * 40), bytes(28 * 40), bytes(28 * 128)};
  for (const int64_t frames : {24, 15}) {
    sizes.push_back(bytes(frames * 128));
    sizes.push_back(bytes(frames * 128));
  }
  sizes.insert(sizes.end(), {bytes(128), bytes(32), bytes(3), bytes(3)});
  expect_optimum(chain(sizes), 6656);
}

// Lifetimes that are published with both ends included.
TEST(PublishedTest, SpeechRecognizerOfSixteenSteps) {
  constexpr int64_t kSteps = 16;
  constexpr int64_t kEnd = 626;
  Problem problem = empty_problem();
  // The features, then a stack of dense layers over all steps.
  for (const int64_t last : {159, 151}) add(&problem, 0, last, 2048);
  add(&problem, 0, 13, 7904);
  add(&problem, 2, 49, 16);
  add(&problem, 4, 35, 16);
  add(&problem, 6, 21, 16);
  for (const int64_t first : {12, 26, 40}) {
    add(&problem, first, first + 5, 32768);
    add(&problem, first + 4, first + 9, 32768);
    if (first < 40) add(&problem, first + 8, first + 15, 32768);
  }
  add(&problem, 48, 145, 32768);
  // Cut into steps, of which each waits for its turn; the last comes first.
  for (int64_t i = 0; i < kSteps; ++i) {
    add(&problem, 54 + 6 * i, 59 + 6 * i, 2048);
    add(&problem, 58 + 6 * i, 483 - 22 * i, 4096);
  }
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t t = 152 + 22 * i;
    const bool is_last = i + 1 == kSteps;
    add(&problem, t, t + 11, 8192);
    add(&problem, t + 2, t + 19, 2048);
    add(&problem, t + 4, is_last ? t + 15 : t + 29, 2048);
    add(&problem, t + 8, t + 15, 2048);
    add(&problem, t + 10, t + 13, 2048);
    if (is_last) add(&problem, t + 14, kEnd, 2048);
    add(&problem, t + 16, t + 19, 2048);
    add(&problem, t + 18, is_last ? kEnd : 509 + 2 * i, 2048);
  }
  add(&problem, 504, 549, 16);
  add(&problem, 508, 543, 32768);
  add(&problem, 542, 549, 32768);
  add(&problem, 548, 555, 32768);
  add(&problem, 554, 563, 464);
  add(&problem, 560, 563, 256);
  expect_optimum(problem, 100352);
}

TEST(PublishedTest, ShortLivesAroundLongOnes) {
  Problem simple = empty_problem();
  add(&simple, 0, 23, 131072);
  add(&simple, 4, 5, 65568);
  add(&simple, 4, 9, 8192);
  add(&simple, 8, 30, 15360);
  add(&simple, 10, 11, 65568);
  add(&simple, 10, 15, 4096);
  add(&simple, 16, 17, 65552);
  add(&simple, 16, 21, 2048);
  add(&simple, 22, 23, 32784);
  add(&simple, 22, 27, 1024);
  expect_optimum(simple, 216096);

  Problem five = empty_problem();
  add(&five, 4, 5, 95);
  add(&five, 1, 4, 52135);
  add(&five, 3, 4, 12136);
  add(&five, 3, 5, 62099);
  add(&five, 4, 5, 50458);
  expect_optimum(five, 176923);

  Problem allocations = empty_problem();
  add(&allocations, 0, 159, 2048);
  add(&allocations, 0, 13, 7904);
  add(&allocations, 4, 35, 16);
  add(&allocations, 12, 17, 32768);
  add(&allocations, 16, 21, 32768);
  expect_optimum(allocations, 67600);
}

TEST(PublishedTest, ChainAndFanOut) {
  expect_optimum(chain({10, 20, 100, 40, 50, 50}), 140);
  // a feeds b and c, these d and e, these f, and that g.
  Problem problem = empty_problem();
  add(&problem, 0, 2, 10);
  add(&problem, 1, 3, 20);
  add(&problem, 2, 4, 100);
  add(&problem, 3, 5, 40);
  add(&problem, 4, 5, 50);
  add(&problem, 5, 6, 60);
  add(&problem, 6, 7, 70);
  expect_optimum(problem, 190);
}

// Convolution that pads its input first, then pooling with a scratch tensor;
// the fast memory holds what fits, the rest is as small as the convolution.
TEST(PublishedTest, MobileNetStemInTwoPools) {
  Problem problem = empty_problem();
  problem.pools[0].name = "fast";
  problem.pools[0].capacity = 200704;
  problem.pools.resize(2);
  problem.pools[1].name = "slow";
  add(&problem, 0, 1, 301056);  // cast input
  const BufferIdx padded = add(&problem, 1, 2, 314646);
  const BufferIdx row = add(&problem, 2, 2, 256);
  const BufferIdx features = add(&problem, 2, 3, 802816);
  const BufferIdx pooled = add(&problem, 3, 3, 200704);
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->pools[0].peak, 200704);
  EXPECT_EQ(solution->pools[1].peak, 1117462);
  EXPECT_EQ(solution->placements[row].pool, 0);
  EXPECT_EQ(solution->placements[pooled].pool, 0);
  EXPECT_EQ(solution->placements[padded].pool, 1);
  EXPECT_EQ(solution->placements[features].pool, 1);
  EXPECT_TRUE(solution->optimal);
}

TEST(PublishedTest, ResNetBottleneck) {
  const int64_t narrow = 75 * 75 * 64 * 2;  // int16
  const int64_t wide = 75 * 75 * 256 * 4;   // int32
  const int64_t padded = 77 * 77 * 64 * 2;
  Problem problem = empty_problem();
  add(&problem, 0, 7, narrow);  // input, read again by the shortcut
  add(&problem, 1, 2, narrow);  // 1x1: copy of the input
  add(&problem, 2, 2, 256);
  add(&problem, 2, 3, narrow);
  add(&problem, 3, 4, padded);  // 3x3
  add(&problem, 4, 4, 256);
  add(&problem, 4, 5, narrow);
  add(&problem, 5, 6, narrow);  // 1x1 to 256 channels
  add(&problem, 6, 6, 256);
  add(&problem, 6, 8, wide);
  add(&problem, 7, 8, narrow);  // shortcut
  add(&problem, 8, 8, 256);
  expect_optimum(problem, 7200256);
}

}  // namespace
}  // namespace petrel::exir::plan
