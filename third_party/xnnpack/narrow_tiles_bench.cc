// SPDX-License-Identifier: Apache-2.0

// Times one tile of rows by XNNPACK's kernel of whole tiles or of one row, and by the kernel
// of narrow_tiles.patch, in turns.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "third_party/xnnpack/narrow_product.h"

namespace petrel::third_party::xnnpack {
namespace {

// Of one run, the best of many sequences.
void measure(NarrowProduct& product, Kernel kernel, double* best) {
  constexpr int kRuns = 50;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRuns; ++i) product.run(kernel);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  *best = std::min(*best, time.count() / kRuns);
}

void compare(const Tile& tile) {
  NarrowProduct product(tile);
  double whole = 1, narrow = 1;
  for (int round = 0; round < 100; ++round) {
    measure(product, Kernel::kWhole, &whole);
    measure(product, Kernel::kNarrow, &narrow);
  }
  std::printf("%4zu %6zu %8zu %7zu %9.3f %9.3f %7.2fx\n", tile.rows, tile.depth, tile.columns,
              tile.window, 1e6 * whole, 1e6 * narrow, whole / narrow);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main() {
  using namespace petrel::third_party::xnnpack;
  if (!NarrowProduct::is_possible()) {
    std::printf("the machine has no AVX-512\n");
    return 0;
  }
  std::printf("%4s %6s %8s %7s %9s %9s %8s\n", "rows", "depth", "columns", "window", "whole us",
              "narrow us", "ratio");
  for (size_t columns : {8, 16, 24, 32, 40, 72, 80, 112, 144, 200}) {
    compare({7, 144, columns, 0});
  }
  for (size_t columns : {16, 24, 64}) compare({7, 32, columns, 9});
  for (size_t columns : {32, 96, 200}) compare({3, 144, columns, 0});
  for (size_t rows : {1, 2, 3, 4}) compare({rows, 128, 512, 0});
  compare({1, 1024, 1024, 0});
}
