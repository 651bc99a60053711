// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/least_room.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(LeastRoom, IsWhatFitsWhereAUnitLessDoesNot) {
  for (int64_t needed = 1; needed < 4000; needed += 37) {
    const auto attempt = [&](const Room& room) -> std::optional<Room> {
      if (room[0] / 16 * 16 < needed) return std::nullopt;
      return Room{room[0] >= 5000 ? 5000 : needed};  // uses more where there is more
    };
    const int64_t least = (needed + 15) / 16 * 16;
    for (int64_t given = 0; given < least; given += 333) {
      EXPECT_THAT(least_room({given}, {16}, attempt), Optional(ElementsAre(least)));
    }
  }
}

TEST(LeastRoom, HoldsWhereMoreMayFitLess) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<bool> fits(64);
    for (size_t i = 20; i < fits.size(); ++i) fits[i] = i > 50 || random() % 2 == 0;
    const auto is_enough = [&](int64_t bytes) {
      const auto units = static_cast<size_t>(bytes / 16);
      return units >= fits.size() || fits[units];
    };
    const auto attempt = [&](const Room& room) -> std::optional<Room> {
      if (!is_enough(room[0])) return std::nullopt;
      return Room{std::min<int64_t>(room[0], 320 + static_cast<int64_t>(random() % 800))};
    };
    const auto least = least_room({300}, {16}, attempt);
    ASSERT_TRUE(least.has_value());
    EXPECT_TRUE(is_enough((*least)[0]));
    EXPECT_FALSE(is_enough((*least)[0] - 16));
  }
}

TEST(LeastRoom, RaisesTheLastOfSeveralAndOthersWhereThatIsNotEnough) {
  // 100 must lie in the first, 500 more in either.
  const auto attempt = [](const Room& room) -> std::optional<Room> {
    const int64_t first = room[0] / 4 * 4, second = room[1] / 4 * 4;
    if (first < 100 || first + second < 600) return std::nullopt;
    return Room{std::min<int64_t>(first, 600), std::max<int64_t>(0, 600 - first)};
  };
  EXPECT_THAT(least_room({200, 0}, {4, 4}, attempt), Optional(ElementsAre(200, 400)));
  EXPECT_THAT(least_room({60, 900}, {4, 4}, attempt), Optional(ElementsAre(100, 900)));
  EXPECT_THAT(least_room({60, 10}, {4, 4}, attempt), Optional(ElementsAre(592, 10)));
  EXPECT_THAT(least_room({60, kNoLimit}, {4, 4}, attempt), Optional(ElementsAre(100, kNoLimit)));
}

TEST(LeastRoom, IsNoneWhereNoLimitIsTheReason) {
  const auto attempt = [](const Room&) -> std::optional<Room> { return std::nullopt; };
  EXPECT_EQ(least_room({10, kNoLimit}, {1, 1}, attempt), std::nullopt);
  EXPECT_EQ(least_room({kNoLimit}, {1}, attempt), std::nullopt);
}

}  // namespace
}  // namespace petrel::exir
