// SPDX-License-Identifier: Apache-2.0

// Times a row of a depthwise convolution by XNNPACK's kernel of one pixel at a
// time and by that of depthwise_pixels.patch, in turns.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "third_party/xnnpack/depthwise_row.h"

namespace petrel::third_party::xnnpack {
namespace {

// Of one run, the best of many sequences.
void measure(DepthwiseRow& row, Pixels pixels, double* best) {
  constexpr int kRuns = 10;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRuns; ++i) row.run(pixels);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  *best = std::min(*best, time.count() / kRuns);
}

void compare(const RowShape& shape) {
  DepthwiseRow row(shape);
  double one = 1, several = 1;
  for (int round = 0; round < 100; ++round) {
    measure(row, Pixels::kOne, &one);
    measure(row, Pixels::kSeveral, &several);
  }
  std::printf("%5zu %6zu %7zu %9zu %7zu %9.2f %10.2f %7.2fx\n", shape.lanes, shape.size,
              shape.stride, shape.channels, shape.width, 1e6 * one, 1e6 * several, one / several);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main() {
  using namespace petrel::third_party::xnnpack;
  if (!DepthwiseRow::is_possible(16)) {
    std::printf("the machine has no AVX-512\n");
    return 0;
  }
  std::printf("%5s %6s %7s %9s %7s %9s %10s %8s\n", "lanes", "window", "stride", "channels",
              "width", "one us", "several us", "ratio");
  for (size_t lanes : {16, 8}) {
    for (size_t size : {3, 5}) {
      if (size == 5 && lanes == 8) continue;
      for (size_t stride : {1, 2}) {
        compare({size, stride, 32, 112, lanes});
        compare({size, stride, 144, 56, lanes});
        compare({size, stride, 240, 14, lanes});
        compare({size, stride, 576, 7, lanes});
      }
    }
  }
}
