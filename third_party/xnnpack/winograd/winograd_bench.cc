// SPDX-License-Identifier: Apache-2.0

// Times convolutions of 3 x 3 in turns on one thread: direct, by Winograd's algorithm with a filter
// that is packed, and with one that is transformed in each run. Compares their largest errors, of
// sums in double; both ways of Winograd give the same bits.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "third_party/xnnpack/winograd/convolution.h"

namespace petrel::third_party::xnnpack {
namespace {

// Of one run, in seconds.
double time_of(Convolution& layer) {
  const auto start = std::chrono::steady_clock::now();
  layer.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int compare(size_t side, size_t depth, size_t outputs) {
  Plane plane;
  plane.height = plane.width = side;
  plane.depth = depth;
  plane.outputs = outputs;
  Convolution direct(plane), winograd(plane), each_run(plane);
  if (!direct.make(Way::kDirect, nullptr) || !winograd.make(Way::kWinograd, nullptr) ||
      !each_run.make(Way::kWinogradEachRun, nullptr)) {
    return 1;
  }
  const int rounds = static_cast<int>(std::max(10.0, 4e9 / plane.multiply_adds()));
  double best[3] = {1e9, 1e9, 1e9};
  for (int i = 0; i < rounds; ++i) {
    best[0] = std::min(best[0], time_of(direct));
    best[1] = std::min(best[1], time_of(winograd));
    best[2] = std::min(best[2], time_of(each_run));
  }
  const size_t every = direct.output().size() / 5000 + 1;
  std::printf("%5zu %6zu %8zu %10.1f %10.1f %10.1f %7.2f %8.2f %8.2f\n", side, depth, outputs,
              1e6 * best[0], 1e6 * best[1], 1e6 * best[2], best[0] / best[1], best[0] / best[2],
              winograd.worst_error(every) / direct.worst_error(every));
  return 0;
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main() {
  using petrel::third_party::xnnpack::compare;
  std::printf("%5s %6s %8s %10s %10s %10s %7s %8s %8s\n", "side", "depth", "outputs", "direct us",
              "winograd", "each run", "ratio", "each run", "error");
  int failed = 0;
  for (const size_t channels : {16, 24, 32, 48, 64, 128}) failed += compare(56, channels, channels);
  for (const size_t channels : {32, 64, 128, 256}) failed += compare(28, channels, channels);
  for (const size_t channels : {64, 128, 256, 512}) failed += compare(14, channels, channels);
  for (const size_t channels : {128, 256, 512}) failed += compare(7, channels, channels);
  failed += compare(112, 16, 32) + compare(56, 64, 16) + compare(56, 16, 64) +
            compare(224, 32, 32) + compare(224, 64, 64) + compare(112, 64, 64) +
            compare(112, 128, 128);
  return failed;
}
