// SPDX-License-Identifier: Apache-2.0

// Times convolutions of 3 x 3 in turns on one thread: direct, and by Winograd's algorithm in tiles
// of 2 x 2 and of 4 x 4, with a filter that is packed and with one that is transformed in each run.
// Compares their largest errors, of sums in double; a filter that is transformed in each run gives
// the same bits. Given a layer, it times that one.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "third_party/xnnpack/winograd/convolution.h"

namespace petrel::third_party::xnnpack {
namespace {

// Of one run, in seconds.
double time_of(Convolution& layer) {
  const auto start = std::chrono::steady_clock::now();
  layer.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int compare(size_t side, size_t depth, size_t outputs, size_t stride, size_t groups) {
  Plane plane;
  plane.height = plane.width = side;
  plane.depth = depth;
  plane.outputs = outputs;
  plane.stride = stride;
  plane.groups = groups;
  constexpr Way kWays[] = {Way::kDirect, Way::kWinograd, Way::kWinogradEachRun, Way::kLargeTiles,
                           Way::kLargeTilesEachRun};
  std::vector<std::unique_ptr<Convolution>> layers;
  for (const Way way : kWays) {
    layers.push_back(std::make_unique<Convolution>(plane));
    if (!layers.back()->make(way, nullptr)) return 1;
  }
  const int rounds = static_cast<int>(std::max(10.0, 2e9 / plane.multiply_adds()));
  std::vector<double> best(layers.size(), 1e9);
  for (int i = 0; i < rounds; ++i) {
    for (size_t way = 0; way < layers.size(); ++way) {
      best[way] = std::min(best[way], time_of(*layers[way]));
    }
  }
  const size_t every = layers[0]->output().size() / 5000 + 1;
  const double error = layers[0]->worst_error(every);
  std::printf("%5zu %6zu %8zu %6zu %6zu %9.1f", side, depth, outputs, stride, groups,
              1e6 * best[0]);
  for (size_t way = 1; way < layers.size(); ++way) std::printf(" %9.1f", 1e6 * best[way]);
  for (size_t way = 1; way < layers.size(); ++way) std::printf(" %5.2f", best[0] / best[way]);
  std::printf(" %6.2f %6.2f\n", layers[1]->worst_error(every) / error,
              layers[3]->worst_error(every) / error);
  return 0;
}

// Sides, channels of the input, channels of the output; of a stride of 1, and of 2.
constexpr size_t kLayers[][3] = {
    {56, 16, 16},   {56, 24, 24},   {56, 32, 32},   {56, 48, 48},   {56, 64, 64},  {56, 128, 128},
    {28, 32, 32},   {28, 64, 64},   {28, 128, 128}, {28, 256, 256}, {14, 64, 64},  {14, 128, 128},
    {14, 256, 256}, {14, 512, 512}, {7, 128, 128},  {7, 256, 256},  {7, 512, 512}, {112, 16, 32},
    {56, 64, 16},   {56, 16, 64},   {224, 32, 32},  {224, 64, 64},  {112, 64, 64}, {112, 128, 128}};

constexpr size_t kLayersApart[][3] = {{112, 64, 64},  {112, 32, 64},  {56, 64, 128},
                                      {56, 16, 32},   {28, 128, 256}, {40, 128, 256},
                                      {20, 256, 512}, {14, 256, 512}};

// Sides, channels of both, stride, groups.
constexpr size_t kLayersInGroups[][4] = {
    {56, 128, 1, 2},   {28, 256, 1, 2}, {14, 512, 1, 2}, {7, 1024, 1, 2},  {28, 64, 1, 4},
    {14, 160, 1, 10},  {7, 384, 1, 24}, {14, 256, 1, 8}, {14, 512, 1, 32}, {56, 96, 1, 2},
    {14, 1024, 1, 32}, {14, 256, 1, 4}, {112, 32, 2, 2}, {56, 64, 2, 4},   {28, 160, 2, 10}};

int main_of(int count, char** words) {
  if (count != 1 && count != 6) {
    std::fprintf(stderr, "usage: winograd_bench [SIDE DEPTH OUTPUTS STRIDE GROUPS]\n");
    return 2;
  }
  std::printf("%5s %6s %8s %6s %6s %9s %19s %19s %23s %13s\n", "side", "depth", "outputs", "stride",
              "groups", "direct us", "2 x 2, each run", "4 x 4, each run", "direct / these",
              "errors");
  if (count == 6) {
    return compare(std::stoul(words[1]), std::stoul(words[2]), std::stoul(words[3]),
                   std::stoul(words[4]), std::stoul(words[5]));
  }
  int failed = 0;
  for (const auto& [side, depth, outputs] : kLayers) failed += compare(side, depth, outputs, 1, 1);
  for (const auto& [side, depth, outputs] : kLayersApart) {
    failed += compare(side, depth, outputs, 2, 1);
  }
  for (const auto& [side, channels, stride, groups] : kLayersInGroups) {
    failed += compare(side, channels, channels, stride, groups);
  }
  return failed;
}

}  // namespace
}  // namespace petrel::third_party::xnnpack

int main(int count, char** words) { return petrel::third_party::xnnpack::main_of(count, words); }
