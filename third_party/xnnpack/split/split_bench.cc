// SPDX-License-Identifier: Apache-2.0

// Times layers in floats and in split ones, in turns on one thread, and prints their largest
// errors as parts of the sums of products without signs.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "third_party/xnnpack/split/flag.h"
#include "third_party/xnnpack/split/layer.h"

namespace petrel::third_party::xnnpack::split {
namespace {

// Of one run, in seconds.
double time_of(Layer& layer) {
  const auto start = std::chrono::steady_clock::now();
  layer.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int compare(size_t kernel, size_t side, size_t depth, size_t columns) {
  Shape shape;
  shape.kernel = kernel;
  shape.side = side;
  shape.depth = depth;
  shape.columns = columns;
  Layer plain(shape), split(shape);
  if (!plain.make(0, nullptr) || !split.make(XNN_FLAG_SPLIT, nullptr)) return 1;
  const int rounds = static_cast<int>(std::max(20.0, 4e9 / shape.multiply_adds()));
  double best[2] = {1e9, 1e9};
  for (int i = 0; i < rounds; ++i) {
    best[0] = std::min(best[0], time_of(plain));
    best[1] = std::min(best[1], time_of(split));
  }
  const size_t every = plain.output().size() / 5000 + 1;
  std::printf("%6zu %6zu %6zu %8zu %10.1f %10.1f %7.2f %9.1e %9.1e\n", kernel, shape.rows(), depth,
              columns, 1e6 * best[0], 1e6 * best[1], best[0] / best[1], plain.worst_error(every),
              split.worst_error(every));
  return 0;
}

}  // namespace
}  // namespace petrel::third_party::xnnpack::split

int main() {
  using namespace petrel::third_party::xnnpack::split;
  if (xnn_initialize(nullptr) != xnn_status_success) return 1;
  if (!split_is_available()) {
    std::puts("this processor does not multiply bfloat16 faster than floats");
    return 0;
  }
  std::printf("%6s %6s %6s %8s %10s %10s %7s %9s %9s\n", "window", "rows", "depth", "columns",
              "floats us", "split us", "ratio", "error", "error");
  int failed = 0;
  for (const size_t rows : {8, 16, 50, 200, 1000}) failed += compare(0, rows, 768, 768);
  failed += compare(0, 197, 192, 768) + compare(0, 197, 768, 192) + compare(0, 128, 384, 1536);
  failed += compare(1, 56, 64, 256) + compare(1, 28, 128, 512) + compare(1, 14, 1024, 256);
  failed += compare(1, 7, 512, 2048) + compare(3, 14, 256, 256) + compare(3, 28, 128, 128);
  return failed;
}
