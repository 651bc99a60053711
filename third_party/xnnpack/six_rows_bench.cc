// SPDX-License-Identifier: Apache-2.0

// Times products and convolutions with FMA3 by XNNPACK's kernels of five rows and by those of
// six_rows.patch, in turns, in fused multiply-adds per nanosecond of one thread. The first
// line is how many the processor does when it does nothing else.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "third_party/xnnpack/fma_peak.h"
#include "third_party/xnnpack/product_of_six.h"

namespace petrel::third_party::xnnpack {
namespace {

double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void compare(const FmaLayer& layer, double limit) {
  ProductOfSix product(layer);
  double best[2] = {1, 1};
  for (int round = 0; round < 200; ++round) {
    for (const FmaKernel kernel : {FmaKernel::kFiveRows, FmaKernel::kSixRows}) {
      const double start = now();
      product.run(kernel);
      double& time = best[kernel == FmaKernel::kSixRows ? 1 : 0];
      time = std::min(time, now() - start);
    }
  }
  const auto work = 1e-9 * static_cast<double>(layer.rows * layer.depth * layer.columns *
                                               std::max<size_t>(layer.window, 1));
  std::printf("%5zu %6zu %8zu %7zu %10.1f %9.1f %7.2f %10.0f %%\n", layer.rows, layer.depth,
              layer.columns, layer.window, work / best[0], work / best[1], best[0] / best[1],
              100 * work / best[1] / limit);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main() {
  using namespace petrel::third_party::xnnpack;
  if (!ProductOfSix::is_possible()) {
    std::printf("the machine has no FMA3\n");
    return 0;
  }
  const double limit = fused_multiply_adds_per_ns(Vectors::kFma3);
  std::printf("the processor: %.1f multiply-adds per ns\n", limit);
  std::printf("%5s %6s %8s %7s %10s %9s %7s %12s\n", "rows", "depth", "columns", "window",
              "five rows", "six rows", "ratio", "of the limit");
  for (size_t rows : {1, 2, 3, 4, 8, 50, 200, 1000}) compare({rows, 256, 512, 0}, limit);
  for (size_t columns : {8, 24, 40, 96}) compare({1000, 80, columns, 0}, limit);
  for (size_t channels : {8, 16, 32, 64}) compare({1000, channels, channels, 9}, limit);
  compare({144, 240, 240, 9}, limit);
  compare({36, 480, 480, 9}, limit);
}
