// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/tile_choice/trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

namespace petrel::third_party::xnnpack {

const std::array<ShapeClass, kShapeClasses> kTrialClasses = {{
    {"1x16", {1, 16, 64, 0}},
    {"1x40", {1, 40, 64, 0}},
    {"1x512", {1, 512, 64, 0}},
    {"8x16", {8, 16, 64, 0}},
    {"8x40", {8, 40, 64, 0}},
    {"8x512", {8, 512, 64, 0}},
    {"50x16", {50, 16, 64, 0}},
    {"50x40", {50, 40, 64, 0}},
    {"50x512", {50, 512, 64, 0}},
    {"200x16", {200, 16, 64, 0}},
    {"200x40", {200, 40, 64, 0}},
    {"200x512", {200, 512, 64, 0}},
    {"3x3", {50, 40, 24, 9}},
}};

namespace {

// Of one timing: some microseconds, so that reading the clock counts for little.
constexpr uint64_t kLeastWork = 400'000;  // multiply-adds
// Of the best score; who is slower is not timed again.
constexpr double kFarBehind = 0.8;
// A tile that is not the usual one must be faster than it by so much, which repeats.
constexpr double kClearlyFaster = 1.02;
// As many rows as a tile has.
constexpr size_t kMostRows = 16;

// Floats in [-1, 1), the same ones always.
void fill(std::vector<float>* floats) {
  uint32_t state = 1;
  for (float& f : *floats) {
    state = state * 1664525u + 1013904223u;
    f = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
  }
}

uint64_t work_of(const TileShape& shape) {
  return uint64_t{shape.rows} * shape.columns * shape.inputs();
}

// What kernels read and write. Any floats are weights that are packed.
class TrialData {
 public:
  explicit TrialData(const std::vector<const petrel_tile*>& tiles) {
    size_t inputs = 0, weights = 0, outputs = 0;
    for (const ShapeClass& one : kTrialClasses) {
      const TileShape& shape = one.shape;
      inputs = std::max(inputs, (shape.rows + shape.window) * shape.depth);
      outputs = std::max(outputs, kMostRows * shape.columns);
      for (const petrel_tile* tile : tiles) {
        weights = std::max(weights, count_tile_weights(*tile, shape));
      }
    }
    constexpr size_t kSlack = kTileSlack / sizeof(float);
    input_.resize(inputs + kSlack);
    storage_.resize(weights + 2 * kSlack);
    output_.resize(outputs + kSlack);
    fill(&input_);
    fill(&storage_);
    const size_t skip = (64 - reinterpret_cast<uintptr_t>(storage_.data()) % 64) % 64;
    weights_ = storage_.data() + skip / sizeof(float);
  }

  void run(const petrel_tile& tile, const TileShape& shape, uint64_t times) {
    constexpr TileBounds kBounds = {-std::numeric_limits<float>::infinity(),
                                    std::numeric_limits<float>::infinity()};
    if (shape.window == 0) {
      for (; times > 0; --times) {
        run_product(tile, shape, input_.data(), weights_, kBounds, output_.data(), 0);
      }
      return;
    }
    std::vector<const float*>& pointers = windows_[tile.rows];
    if (pointers.empty()) pointers = find_windows(tile, shape, input_.data());
    for (; times > 0; --times) {
      run_windows(tile, shape, pointers, nullptr, weights_, kBounds, output_.data(), 0);
    }
  }

 private:
  std::vector<float> input_, storage_, output_;
  const float* weights_ = nullptr;  // in storage_, aligned
  std::map<size_t, std::vector<const float*>> windows_;  // by the rows of a tile
};

double mean_of(const TileFigures& figures) {
  double sum = 0;
  for (const double rate : figures.rates) {
    if (rate == 0) return 0;
    sum += std::log(rate);
  }
  return std::exp(sum / static_cast<double>(figures.rates.size()));
}

double best_score(const std::vector<TileFigures>& figures) {
  double best = 0;
  for (const TileFigures& one : figures) best = std::max(best, one.score);
  return best;
}

}  // namespace

uint64_t trial_clock() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

std::vector<const petrel_tile*> possible_tiles() {
  size_t count = 0;
  const petrel_tile* const all = petrel_tiles(&count);
  std::vector<const petrel_tile*> possible;
  for (size_t i = 0; i < count; ++i) {
    if (petrel_tile_is_possible(&all[i])) possible.push_back(&all[i]);
  }
  return possible;
}

Trial try_tiles(const std::vector<const petrel_tile*>& tiles, const petrel_tile* usual,
                uint64_t nanoseconds, const TrialClock& clock) {
  Trial trial = {{}, usual, 0};
  const uint64_t start = clock();
  for (const petrel_tile* tile : tiles) trial.figures.push_back({tile, {}, 0});
  TrialData data(tiles);
  std::vector<bool> is_behind(tiles.size(), false);
  uint64_t now = start;
  const auto time_all = [&](TileFigures* of) {
    now = clock();
    for (size_t i = 0; i < kTrialClasses.size(); ++i) {
      if (now - start >= nanoseconds) return;
      const TileShape& shape = kTrialClasses[i].shape;
      const uint64_t times = std::max<uint64_t>(1, kLeastWork / work_of(shape));
      data.run(*of->tile, shape, times);
      const uint64_t end = clock();
      const uint64_t took = std::max<uint64_t>(1, end - now);
      now = end;
      ++trial.calls;
      const double rate = static_cast<double>(times * work_of(shape)) / static_cast<double>(took);
      of->rates[i] = std::max(of->rates[i], rate);
    }
    of->score = mean_of(*of);
  };
  while (now - start < nanoseconds) {
    for (size_t i = 0; i < tiles.size(); ++i) {
      if (!is_behind[i]) time_all(&trial.figures[i]);
    }
    const double best = best_score(trial.figures);
    for (size_t i = 0; i < tiles.size(); ++i) {
      is_behind[i] = tiles[i] != usual && trial.figures[i].score < kFarBehind * best;
    }
  }
  double least = 0;
  for (const TileFigures& one : trial.figures) {
    if (one.tile == usual) least = one.score * kClearlyFaster;
  }
  if (least == 0) return trial;
  for (const TileFigures& one : trial.figures) {
    if (one.score <= least) continue;
    least = one.score;
    trial.best = one.tile;
  }
  return trial;
}

}  // namespace petrel::third_party::xnnpack
