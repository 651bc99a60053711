// SPDX-License-Identifier: Apache-2.0
#include "third_party/xnnpack/tile_choice/trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace petrel::third_party::xnnpack {

const std::array<ShapeClass, kShapeClasses> kTrialClasses = {{
    {"1x16", {1, 16, 64, 0}, false},
    {"1x40", {1, 40, 64, 0}, false},
    {"1x512", {1, 512, 64, 0}, false},
    {"8x16", {8, 16, 64, 0}, false},
    {"8x40", {8, 40, 64, 0}, false},
    {"8x512", {8, 512, 64, 0}, false},
    {"50x16", {50, 16, 64, 0}, false},
    {"50x40", {50, 40, 64, 0}, false},
    {"50x512", {50, 512, 64, 0}, false},
    {"200x16", {200, 16, 64, 0}, false},
    {"200x40", {200, 40, 64, 0}, false},
    {"200x512", {200, 512, 64, 0}, false},
    {"3x3", {50, 40, 24, 9}, false},
    {"far 25", {25, 512, 512, 0}, true},
    {"far 49", {49, 512, 512, 0}, true},
    {"far 196", {196, 256, 256, 0}, true},
}};

namespace {

// Of one timing: some microseconds, so that reading the clock counts for little.
constexpr uint64_t kLeastWork = 400'000;  // multiply-adds
// Of the best score; who is slower is not timed again.
constexpr double kFarBehind = 0.8;
// A tile that is not the usual one must be faster than it by so much, which repeats.
constexpr double kClearlyFaster = 1.03;
// From here on all tiles are timed in all classes.
constexpr uint64_t kTimeForAll = 100'000'000;
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

// Takes them out of all caches: they are as far away as those of a layer that was not computed for
// long.
void send_away(const float* floats, size_t count) {
#if defined(__x86_64__)
  for (size_t i = 0; i < count; i += 64 / sizeof(float)) _mm_clflush(floats + i);
  _mm_mfence();
#else
  (void)floats;
  (void)count;
#endif
}

// What kernels read and write. Any floats are weights that are packed.
class TrialData {
 public:
  explicit TrialData(const std::vector<const petrel_tile*>& tiles) {
    size_t inputs = 0, outputs = 0, weights = 0;
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

  // What is not to be timed.
  void prepare(const petrel_tile& tile, const ShapeClass& of) {
    if (of.is_far) send_away(weights_, count_tile_weights(tile, of.shape));
    std::vector<const float*>& pointers = windows_[tile.rows];
    if (of.shape.window != 0 && pointers.empty()) {
      pointers = find_windows(tile, of.shape, input_.data());
    }
  }

  void run(const petrel_tile& tile, const ShapeClass& of, uint64_t times) {
    constexpr TileBounds kBounds = {-std::numeric_limits<float>::infinity(),
                                    std::numeric_limits<float>::infinity()};
    const TileShape& shape = of.shape;
    for (; times > 0; --times) {
      if (of.is_far) {
        run_by_panels(tile, shape, input_.data(), weights_, kBounds, output_.data(), 0);
      } else if (shape.window == 0) {
        run_product(tile, shape, input_.data(), weights_, kBounds, output_.data(), 0);
      } else {
        run_windows(tile, shape, windows_[tile.rows], nullptr, weights_, kBounds, output_.data(),
                    0);
      }
    }
  }

 private:
  std::vector<float> input_, storage_, output_;
  const float* weights_ = nullptr;                       // in storage_, aligned
  std::map<size_t, std::vector<const float*>> windows_;  // by the rows of a tile
};

// Of some classes; 0 unless all are timed.
double mean_of(const TileFigures& figures, size_t first, size_t end) {
  double sum = 0;
  for (size_t i = first; i < end; ++i) {
    if (figures.rates[i] == 0) return 0;
    sum += std::log(figures.rates[i]);
  }
  return std::exp(sum / static_cast<double>(end - first));
}

void find_means(TileFigures* figures) {
  figures->near = mean_of(*figures, 0, kNearClasses);
  figures->far = mean_of(*figures, kNearClasses, kShapeClasses);
  figures->score = std::sqrt(figures->near * figures->far);
}

// Rounds of timings, which end where the time is over.
class Rounds {
 public:
  Rounds(const std::vector<const petrel_tile*>& tiles, uint64_t nanoseconds,
         const TrialClock& clock)
      : clock_(clock), start_(clock()), nanoseconds_(nanoseconds), data_(tiles) {
    for (const petrel_tile* tile : tiles) figures_.push_back({tile, {}, 0, 0, 0});
    is_behind_.resize(tiles.size(), false);
    now_ = clock_();
  }

  bool is_over() const { return now_ - start_ >= nanoseconds_; }
  size_t calls() const { return calls_; }

  // Of all tiles that are not left out.
  void time_classes(size_t first, size_t end) {
    for (size_t i = 0; i < figures_.size(); ++i) {
      if (!is_behind_[i]) time_tile(&figures_[i], first, end);
    }
  }

  // Those that are far behind, by a mean.
  void leave_out(const petrel_tile* usual, double TileFigures::*mean) {
    double best = 0;
    for (const TileFigures& one : figures_) best = std::max(best, one.*mean);
    for (size_t i = 0; i < figures_.size(); ++i) {
      if (figures_[i].tile != usual && figures_[i].*mean < kFarBehind * best) is_behind_[i] = true;
    }
  }

  // All but the usual tile and the best one beside it.
  void leave_two(const petrel_tile* usual) {
    size_t best = figures_.size();
    for (size_t i = 0; i < figures_.size(); ++i) {
      if (figures_[i].tile == usual) continue;
      is_behind_[i] = true;
      if (best == figures_.size() || figures_[i].score > figures_[best].score) best = i;
    }
    if (best < figures_.size()) is_behind_[best] = false;
  }

  std::vector<TileFigures> take_figures() { return std::move(figures_); }

 private:
  void time_tile(TileFigures* of, size_t first, size_t end) {
    for (size_t i = first; i < end && !is_over(); ++i) {
      const ShapeClass& one = kTrialClasses[i];
      const uint64_t work = work_of(one.shape);
      const uint64_t times = one.is_far ? 1 : std::max(uint64_t{1}, kLeastWork / work);
      data_.prepare(*of->tile, one);
      const uint64_t before = clock_();
      data_.run(*of->tile, one, times);
      now_ = clock_();
      ++calls_;
      const double took = static_cast<double>(std::max(uint64_t{1}, now_ - before));
      of->rates[i] = std::max(of->rates[i], static_cast<double>(times * work) / took);
    }
    find_means(of);
  }

  const TrialClock& clock_;
  const uint64_t start_, nanoseconds_;
  uint64_t now_ = 0;
  TrialData data_;
  std::vector<TileFigures> figures_;
  std::vector<bool> is_behind_;
  size_t calls_ = 0;
};

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
  Rounds rounds(tiles, nanoseconds, clock);
  const bool is_short = nanoseconds < kTimeForAll;
  while (!rounds.is_over()) {
    rounds.time_classes(0, kNearClasses);
    if (is_short) rounds.leave_out(usual, &TileFigures::near);
    rounds.time_classes(kNearClasses, kShapeClasses);
    if (is_short) {
      rounds.leave_two(usual);
    } else {
      rounds.leave_out(usual, &TileFigures::score);
    }
  }
  Trial trial = {rounds.take_figures(), usual, rounds.calls()};
  const auto known = std::find_if(trial.figures.begin(), trial.figures.end(),
                                  [&](const TileFigures& one) { return one.tile == usual; });
  if (known->score == 0) return trial;
  double least = known->score * kClearlyFaster;
  for (const TileFigures& one : trial.figures) {
    if (one.score <= least || one.near < known->near || one.far < known->far) continue;
    least = one.score;
    trial.best = one.tile;
  }
  return trial;
}

}  // namespace petrel::third_party::xnnpack
