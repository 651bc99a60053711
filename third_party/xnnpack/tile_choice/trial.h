// SPDX-License-Identifier: Apache-2.0
//
// Times tiles on the processor it runs on: how many multiply-adds each makes in a nanosecond, for
// each class of shapes, in a time that is given.
//
//   const Trial trial = try_tiles(possible_tiles(), petrel_usual_tile(), 20'000'000, now);
//   trial.best->name;
//
// Rounds are made until the time is over; of each class the fastest round counts, since others
// only disturb. Near classes are those that the second-level cache holds; in far ones weights come
// from farther away, as they do when a network is run. How fast a tile is in either is a geometric
// mean, and its score that of the two. The usual tile stays the best unless another one has a
// score that is clearly higher, and is slower neither nearby nor far away: networks spend their
// time in large layers, and means hide what small ones gain.
//
// Tiles that are far behind are left out of what follows. Where time is short (less than 100 ms)
// they are not timed far away at all, and only the usual tile and the best one beside it have more
// than one round, so that one disturbance does not decide. The last call of a kernel is all that
// may come after the time; where that is too short to time the usual tile in all classes that one
// is the best.
//
// Data is the same in all trials, two megabytes; what near classes read and write fits into 256
// KB. One thread, the caller's.
#ifndef PETREL_THIRD_PARTY_XNNPACK_TILE_CHOICE_TRIAL_H_
#define PETREL_THIRD_PARTY_XNNPACK_TILE_CHOICE_TRIAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "third_party/xnnpack/tile_choice/candidates.h"
#include "third_party/xnnpack/tile_choice/product.h"

namespace petrel::third_party::xnnpack {

struct ShapeClass {
  const char* name;
  TileShape shape;
  bool is_far;
};

// The near ones come first.
inline constexpr size_t kNearClasses = 13;
inline constexpr size_t kShapeClasses = 16;
extern const std::array<ShapeClass, kShapeClasses> kTrialClasses;

struct TileFigures {
  const petrel_tile* tile;
  std::array<double, kShapeClasses> rates;  // multiply-adds in a nanosecond; 0: not timed
  double near, far;                         // means; 0 unless all of these are timed
  double score;
};

struct Trial {
  std::vector<TileFigures> figures;  // in the order of the tiles
  const petrel_tile* best;
  size_t calls;  // how often a kernel was timed
};

// Nanoseconds since any time; it does not go back.
using TrialClock = std::function<uint64_t()>;

uint64_t trial_clock();

// Those that the processor and the cap allow, as petrel_tile_is_possible().
std::vector<const petrel_tile*> possible_tiles();

// Preconditions: all are possible, and `usual` is one of them.
Trial try_tiles(const std::vector<const petrel_tile*>& tiles, const petrel_tile* usual,
                uint64_t nanoseconds, const TrialClock& clock);

}  // namespace petrel::third_party::xnnpack

#endif  // PETREL_THIRD_PARTY_XNNPACK_TILE_CHOICE_TRIAL_H_
