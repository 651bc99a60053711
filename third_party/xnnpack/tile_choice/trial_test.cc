// SPDX-License-Identifier: Apache-2.0

// A trial ends with one of the tiles it was given, in the time that its clock says.
#include "third_party/xnnpack/tile_choice/trial.h"

#include <gtest/gtest.h>
#include <xnnpack.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace petrel::third_party::xnnpack {
namespace {

class TrialTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
    tiles_ = possible_tiles();
    if (tiles_.empty()) GTEST_SKIP() << "this processor has no candidates";
  }

  std::vector<const petrel_tile*> tiles_;
};

// Goes on by so many nanoseconds whenever it is read.
class StepClock {
 public:
  explicit StepClock(uint64_t step) : step_(step) {}
  TrialClock clock() {
    return [this] { return now_ += step_; };
  }

 private:
  const uint64_t step_;
  uint64_t now_ = 0;
};

TEST_F(TrialTest, TimesAllTilesInAllClassesWhereThereIsTime) {
  // Two rounds of as many timings as there are, each with a reading before and behind it.
  const uint64_t round = 2 * tiles_.size() * kShapeClasses;
  StepClock steps(1);
  const Trial trial = try_tiles(tiles_, tiles_[0], 2 * round, steps.clock());
  ASSERT_EQ(trial.figures.size(), tiles_.size());
  EXPECT_GE(trial.calls, tiles_.size() * kShapeClasses);
  for (const TileFigures& figures : trial.figures) {
    EXPECT_GT(figures.score, 0) << figures.tile->name;
    for (const double rate : figures.rates) EXPECT_GT(rate, 0) << figures.tile->name;
  }
}

TEST_F(TrialTest, KeepsToTheTimeOfItsClock) {
  for (const uint64_t most : {0, 1, 5, 40, 300}) {
    StepClock steps(1000);
    const Trial trial = try_tiles(tiles_, tiles_[0], most * 1000, steps.clock());
    EXPECT_LE(trial.calls, most);
    EXPECT_NE(std::find(tiles_.begin(), tiles_.end(), trial.best), tiles_.end());
  }
}

TEST_F(TrialTest, TakesTheUsualTileWithoutTimeToTimeIt) {
  for (const petrel_tile* usual : {tiles_.front(), tiles_.back()}) {
    StepClock steps(1000);
    const Trial trial = try_tiles(tiles_, usual, 5000, steps.clock());
    EXPECT_EQ(trial.best, usual);
    EXPECT_EQ(trial.figures[0].score, 0);
  }
}

// Each timing seems to take as long, unless it is one of the tile that is to win: the others are
// left out of the far classes then, but for the usual tile.
TEST_F(TrialTest, TakesTheFastestTile) {
  if (tiles_.size() < 3) GTEST_SKIP() << "there is no choice";
  constexpr size_t kFarClasses = kShapeClasses - kNearClasses;
  for (const size_t fastest : {size_t{1}, tiles_.size() - 1}) {
    size_t reading = 0;
    uint64_t now = 0;
    const TrialClock clock = [&] {
      const size_t before = 2, near = 2 * tiles_.size() * kNearClasses;
      size_t tile = 0;
      if (reading >= before + near) {
        tile = (reading - before - near) / (2 * kFarClasses) == 1 ? fastest : 0;
      } else if (reading >= before) {
        tile = (reading - before) / (2 * kNearClasses);
      }
      ++reading;
      return now += tile == fastest ? 50 : 100;
    };
    const Trial trial = try_tiles(tiles_, tiles_[0], 400 * tiles_.size() * kShapeClasses, clock);
    EXPECT_EQ(trial.best, tiles_[fastest]);
    EXPECT_GT(trial.figures[0].score, 0);
    EXPECT_EQ(trial.figures[2].score > 0, fastest == 2);
  }
}

TEST_F(TrialTest, KeepsTheUsualTileAmongEqualOnes) {
  for (const petrel_tile* usual : {tiles_.front(), tiles_.back()}) {
    StepClock steps(100);
    const uint64_t round = 100 * 2 * tiles_.size() * kShapeClasses;
    EXPECT_EQ(try_tiles(tiles_, usual, 2 * round, steps.clock()).best, usual);
  }
}

TEST_F(TrialTest, EndsWithItsOwnClock) {
  const Trial trial = try_tiles(tiles_, tiles_[0], 2'000'000, trial_clock);
  EXPECT_NE(std::find(tiles_.begin(), tiles_.end(), trial.best), tiles_.end());
}

}  // namespace
}  // namespace petrel::third_party::xnnpack
