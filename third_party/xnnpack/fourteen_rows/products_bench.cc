// SPDX-License-Identifier: Apache-2.0

// Times products and convolutions with AVX-512 by XNNPACK's kernels of seven rows and by those
// of fourteen, in turns, in fused multiply-adds per nanosecond of one thread. The first line is
// how many the processor does when it does nothing else.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "third_party/xnnpack/fma_peak.h"
#include "third_party/xnnpack/fourteen_rows/tile_product.h"

namespace petrel::third_party::xnnpack {
namespace {

double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void compare(const TileLayer& layer, double limit) {
  TileProduct product(layer);
  double best[2] = {1, 1};
  for (int round = 0; round < 200; ++round) {
    for (const Kernel kernel : {Kernel::kSeven, Kernel::kFourteen}) {
      const double start = now();
      product.run(kernel);
      double& time = best[kernel == Kernel::kFourteen ? 1 : 0];
      time = std::min(time, now() - start);
    }
  }
  const auto work = 1e-9 * static_cast<double>(layer.rows * layer.depth * layer.columns *
                                               std::max<size_t>(layer.window, 1));
  std::printf("%5zu %6zu %8zu %7zu %10.1f %13.1f %7.2f %10.0f %%\n", layer.rows, layer.depth,
              layer.columns, layer.window, work / best[0], work / best[1], best[0] / best[1],
              100 * work / best[1] / limit);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main() {
  using namespace petrel::third_party::xnnpack;
  if (!TileProduct::is_possible()) {
    std::printf("the machine has no AVX-512\n");
    return 0;
  }
  const double limit = fused_multiply_adds_per_ns(Vectors::kAvx512);
  std::printf("the processor: %.1f multiply-adds per ns\n", limit);
  std::printf("%5s %6s %8s %7s %10s %13s %7s %12s\n", "rows", "depth", "columns", "window",
              "seven rows", "fourteen rows", "ratio", "of the limit");
  for (size_t rows : {1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 25, 50, 200, 1000}) {
    compare({rows, 256, 512, 0}, limit);
  }
  for (size_t columns : {8, 16, 24, 40, 48, 72, 80, 96}) compare({1000, 80, columns, 0}, limit);
  for (size_t depth : {16, 24, 32, 48, 64, 96, 128, 192}) compare({784, depth, 128, 0}, limit);
  for (size_t channels : {8, 16, 32, 64}) compare({1000, channels, channels, 9}, limit);
  for (size_t depth : {512, 768, 1024, 1040, 1536, 2048, 2080}) compare({98, depth, 512, 0}, limit);
  compare({196, 256, 256, 9}, limit);
  compare({49, 512, 512, 9}, limit);
}
