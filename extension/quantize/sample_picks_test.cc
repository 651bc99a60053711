// SPDX-License-Identifier: Apache-2.0
#include "extension/quantize/sample_picks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace petrel::extension {
namespace {

std::vector<std::pair<size_t, double>> pairs(const SamplePicks& picks) {
  std::vector<std::pair<size_t, double>> made;
  for (const SamplePick& pick : picks) made.emplace_back(pick.place, pick.weight);
  return made;
}

using testing::ElementsAre;
using testing::Pair;

TEST(SamplePicks, HoldersOfEndsStandForThemselvesAndOthersForTheRest) {
  EXPECT_THAT(pairs(pick_samples({0, 0, 5, 0, 0, 0, 0, 1, 0, 0}, 4)),
              ElementsAre(Pair(0, 4), Pair(2, 1), Pair(5, 4), Pair(7, 1)));
  // Of more holders those of the most ends, the first of equal ones.
  EXPECT_THAT(pairs(pick_samples({1, 1, 1, 3, 1, 1}, 4)),
              ElementsAre(Pair(0, 1), Pair(1, 2), Pair(3, 1), Pair(4, 2)));
}

TEST(SamplePicks, AllStandForThemselvesWhereTheyAreFew) {
  EXPECT_THAT(pairs(pick_samples({0, 2, 0}, 3)), ElementsAre(Pair(0, 1), Pair(1, 1), Pair(2, 1)));
  EXPECT_TRUE(pick_samples({}, 3).empty());
}

TEST(SamplePicks, WeightsAddUpToAllSamples) {
  for (const size_t count : {1, 7, 64, 65, 1000}) {
    std::vector<size_t> ends(count, 0);
    for (size_t i = 0; i < count; i += 9) ends[i] = i + 1;
    for (const size_t most : {1, 2, 16, 64}) {
      const SamplePicks picks = pick_samples(ends, most);
      EXPECT_EQ(picks.size(), std::min(count, most));
      double all = 0;
      for (const SamplePick& pick : picks) all += pick.weight;
      EXPECT_NEAR(all, static_cast<double>(count), 1e-9) << count << ", " << most;
    }
  }
}

TEST(SamplePicks, SpreadIsEven) {
  EXPECT_THAT(pairs(spread_samples(8, 2)), ElementsAre(Pair(0, 4), Pair(4, 4)));
  const WantsSample wants = those_of(spread_samples(8, 2));
  EXPECT_TRUE(wants(0) && wants(4));
  EXPECT_FALSE(wants(1) || wants(7));
}

}  // namespace
}  // namespace petrel::extension
