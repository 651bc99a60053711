// SPDX-License-Identifier: Apache-2.0

// Times modules that squeeze and expand, towers that are joined, dense blocks and halves of
// channels, with memory of their own for all values and in place, in turns on one thread.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "third_party/xnnpack/joined_graph.h"

namespace petrel::third_party::xnnpack {
namespace {

// Squeezes to `width`, expands to 8 * width in two halves.
void build_fire(JoinedGraph* graph, size_t width) {
  Id x = graph->input(8 * width);
  for (int i = 0; i < 4; ++i) {
    const Id squeezed = graph->convolution(x, 1, width);
    x = graph->join(
        {graph->convolution(squeezed, 1, 4 * width), graph->convolution(squeezed, 3, 4 * width)});
  }
  graph->finish(graph->convolution(x, 1, width));
}

void build_towers(JoinedGraph* graph, size_t width) {
  Id x = graph->input(4 * width);
  for (int i = 0; i < 4; ++i) {
    const Id small = graph->convolution(graph->convolution(x, 1, width / 2), 3, width);
    const Id pooled = graph->convolution(graph->max_pool(x), 1, width);
    x = graph->join({graph->convolution(x, 1, 2 * width), small, pooled});
  }
  graph->finish(graph->convolution(x, 1, width));
}

// One half passes, the other one goes through a separable convolution.
void build_halves(JoinedGraph* graph, size_t width) {
  Id x = graph->convolution(graph->input(width), 1, 2 * width);
  for (int i = 0; i < 4; ++i) {
    const Id first = graph->cut(x, 0, width), second = graph->cut(x, width, width);
    const Id inner = graph->depthwise(graph->convolution(second, 1, width));
    x = graph->join({graph->convolution(inner, 1, width), first});
  }
  graph->finish(graph->convolution(x, 1, width));
}

// Each layer reads all features before it, scaled.
void build_dense(JoinedGraph* graph, size_t width) {
  Id x = graph->convolution(graph->input(width), 1, 2 * width);
  for (int i = 0; i < 6; ++i) {
    const Id inner = graph->convolution(graph->scale(x), 1, 4 * width);
    x = graph->join({x, graph->convolution(inner, 3, width)});
  }
  graph->finish(graph->convolution(graph->scale(x), 1, width));
}

double time_of(JoinedGraph& graph) {
  const auto start = std::chrono::steady_clock::now();
  graph.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void compare(const char* name, void (*build)(JoinedGraph*, size_t), size_t width, size_t side) {
  JoinedGraph copies(Placing::kCopies, nullptr), in_place(Placing::kInPlace, nullptr);
  double best[2] = {1e9, 1e9};
  for (JoinedGraph* graph : {&copies, &in_place}) {
    build(graph, width);
    graph->reshape(1, side, side);
  }
  for (int round = 0; round < 60; ++round) {
    best[0] = std::min(best[0], time_of(copies));
    best[1] = std::min(best[1], time_of(in_place));
  }
  std::printf("%-8s %5zu %6zu %10.1f %12.1f %7.2f\n", name, side, width, 1e6 * best[0],
              1e6 * best[1], best[0] / best[1]);
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main() {
  using namespace petrel::third_party::xnnpack;
  std::printf("%-8s %5s %6s %10s %12s %7s\n", "graph", "side", "width", "copies us", "in place us",
              "ratio");
  compare("fire", &build_fire, 16, 56);
  compare("fire", &build_fire, 32, 28);
  compare("fire", &build_fire, 64, 14);
  compare("towers", &build_towers, 32, 56);
  compare("towers", &build_towers, 64, 28);
  compare("towers", &build_towers, 128, 14);
  compare("dense", &build_dense, 32, 56);
  compare("dense", &build_dense, 32, 28);
  compare("dense", &build_dense, 32, 14);
  compare("halves", &build_halves, 58, 28);
  compare("halves", &build_halves, 116, 14);
  compare("halves", &build_halves, 232, 7);
}
