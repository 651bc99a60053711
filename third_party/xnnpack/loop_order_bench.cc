// SPDX-License-Identifier: Apache-2.0

// Times XNNPACK's layers with row tiles outermost, as upstream has it, and with
// panels of weights outermost, as loop_order.patch has it, in turns.
//
//   loop_order_bench [MAX_PANEL_BYTES]
#include <pthreadpool.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "third_party/xnnpack/layer.h"

namespace petrel::third_party::xnnpack {
namespace {

struct Case {
  const char* name;
  Shape shape;
};

const Case kCases[] = {
    {"fc 128 x 768 x 3072", {Kind::kFullyConnected, 128, 0, 0, 768, 3072}},
    {"fc 128 x 3072 x 768", {Kind::kFullyConnected, 128, 0, 0, 3072, 768}},
    {"fc 128 x 768 x 768", {Kind::kFullyConnected, 128, 0, 0, 768, 768}},
    {"fc 32 x 4096 x 4096", {Kind::kFullyConnected, 32, 0, 0, 4096, 4096}},
    {"fc 1 x 2048 x 1000", {Kind::kFullyConnected, 1, 0, 0, 2048, 1000}},
    {"conv 3x3 7x7x512 -> 512", {Kind::kConvolution, 1, 7, 3, 512, 512}},
    {"conv 3x3 7x7x1024 -> 1024", {Kind::kConvolution, 1, 7, 3, 1024, 1024}},
    {"conv 3x3 14x14x256 -> 256", {Kind::kConvolution, 1, 14, 3, 256, 256}},
    {"conv 3x3 28x28x128 -> 128", {Kind::kConvolution, 1, 28, 3, 128, 128}},
    {"conv 3x3 56x56x64 -> 64", {Kind::kConvolution, 1, 56, 3, 64, 64}},
    {"conv 1x1 7x7x512 -> 2048", {Kind::kConvolution, 1, 7, 1, 512, 2048}},
    {"conv 1x1 14x14x256 -> 1024", {Kind::kConvolution, 1, 14, 1, 256, 1024}},
    {"conv 1x1 7x7x320 -> 1280", {Kind::kConvolution, 1, 7, 1, 320, 1280}},
    {"int8 fc 128 x 768 x 3072", {Kind::kInt8FullyConnected, 128, 0, 0, 768, 3072}},
};

double seconds(Layer& layer) {
  const auto start = std::chrono::steady_clock::now();
  layer.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The shorter of two sequences of runs; both orders take turns, so that other
// work on the machine hits both.
void compare(const Case& c, pthreadpool_t pool, size_t max_panel) {
  Layer rows(c.shape, pool), panels(c.shape, pool);
  rows.reshape(0);
  panels.reshape(max_panel);
  double rows_best = seconds(rows), panels_best = seconds(panels);
  double total = 0;
  for (int round = 0; round < 200 && (round < 15 || total < 0.5); ++round) {
    const double a = seconds(rows), b = seconds(panels);
    rows_best = std::min(rows_best, a);
    panels_best = std::min(panels_best, b);
    total += a + b;
  }
  const double gflop = 2e-9 * rows.multiplications();
  std::printf("%-28s %7zu %9.3f %9.3f %7.2fx %8.0f %8.0f\n", c.name,
              pthreadpool_get_threads_count(pool), 1e3 * rows_best, 1e3 * panels_best,
              rows_best / panels_best, gflop / rows_best, gflop / panels_best);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main(int argc, char** argv) {
  using namespace petrel::third_party::xnnpack;
  size_t max_panel = 1 << 20;
  if (argc > 1) {
    char* end = nullptr;
    max_panel = std::strtoull(argv[1], &end, 10);
    if (argc > 2 || max_panel == 0 || *end != '\0') {
      std::fprintf(stderr, "usage: loop_order_bench [MAX_PANEL_BYTES]\n");
      return 2;
    }
  }
  std::printf("panels of at most %zu bytes; best of many runs, in turns\n", max_panel);
  std::printf("%-28s %7s %9s %9s %8s %8s %8s\n", "layer", "threads", "rows ms", "panels ms",
              "ratio", "GFLOP/s", "GFLOP/s");
  for (size_t threads : {1, 2}) {
    pthreadpool_t pool = pthreadpool_create(threads);
    for (const Case& c : kCases) compare(c, pool, max_panel);
    pthreadpool_destroy(pool);
  }
}
