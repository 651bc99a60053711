// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/alias_classes.h"

#include <cstdint>
#include <string>
#include <vector>

#include "exir/plan/search/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

using ::testing::HasSubstr;

Buffer value(const char* id, int64_t begin, int64_t end, int64_t size, int64_t alignment = 1) {
  Buffer buffer;
  buffer.id = id;
  buffer.lifetime = {begin, end};
  buffer.size = size;
  buffer.alignment = alignment;
  return buffer;
}

std::vector<Pool> arena() {
  std::vector<Pool> pools(1);
  pools[0].name = "arena";
  return pools;
}

TEST(AliasClassesTest, MembersOfAConcatenationLieInIt) {
  // a and b are written at 0 and 1 and joined to c at 2.
  AliasClasses classes({value("a", 0, 3, 16, 8), value("b", 1, 3, 8, 8), value("c", 2, 5, 24, 8),
                        value("d", 0, 1, 8, 8)});
  ASSERT_TRUE(classes.unite(2, 0, 0).ok());
  ASSERT_TRUE(classes.unite(2, 1, 16).ok());
  absl::StatusOr<Problem> problem = classes.problem(arena());
  ASSERT_TRUE(problem.ok()) << problem.status();
  ASSERT_EQ(problem->buffers.size(), 2u);
  EXPECT_EQ(problem->buffers[0].size, 24);
  // While only a is alive the last eight bytes are free, and hold d.
  ASSERT_EQ(problem->buffers[0].gaps.size(), 1u);
  EXPECT_EQ(problem->buffers[0].gaps[0].high, 16);
  absl::StatusOr<Solution> solution = plan(*problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->peak, 24);
  const int64_t base = classes.placement(2, *solution).offset;
  EXPECT_EQ(classes.placement(0, *solution).offset, base);
  EXPECT_EQ(classes.placement(1, *solution).offset, base + 16);
  EXPECT_EQ(classes.buffer_of(1), classes.buffer_of(2));
  EXPECT_EQ(classes.buffer_of(3), 1);
}

TEST(AliasClassesTest, ChainsOfViewsAddTheirOffsets) {
  AliasClasses classes({value("x", 0, 2, 64), value("y", 1, 4, 32), value("z", 3, 5, 16)});
  ASSERT_TRUE(classes.unite(1, 2, 8).ok());
  ASSERT_TRUE(classes.unite(0, 1, 16).ok());
  EXPECT_TRUE(classes.unite(0, 2, 24).ok());  // says the same again
  const absl::Status status = classes.unite(0, 2, 25);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("value z would be 25 bytes after x, other aliases put "
                        "it 24 bytes after it"));
  absl::StatusOr<Problem> problem = classes.problem(arena());
  ASSERT_TRUE(problem.ok()) << problem.status();
  ASSERT_EQ(problem->buffers.size(), 1u);
  EXPECT_EQ(problem->buffers[0].size, 64);
  absl::StatusOr<Solution> solution = plan(*problem);
  EXPECT_EQ(classes.placement(2, *solution).offset - classes.placement(0, *solution).offset, 24);
}

TEST(AliasClassesTest, TimesWhenNobodyIsAliveAreGaps) {
  AliasClasses classes({value("in", 0, 2, 8), value("out", 5, 7, 8), value("other", 2, 5, 8)});
  ASSERT_TRUE(classes.unite(0, 1, 0).ok());
  absl::StatusOr<Problem> problem = classes.problem(arena());
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(plan(*problem)->peak, 8);
}

TEST(AliasClassesTest, BeginsSoThatEveryMemberIsAligned) {
  // The header of four bytes lies just before data aligned to sixteen.
  AliasClasses classes(
      {value("header", 0, 2, 4, 4), value("data", 0, 2, 32, 16), value("other", 0, 2, 16, 16)});
  ASSERT_TRUE(classes.unite(1, 0, -4).ok());
  absl::StatusOr<Problem> problem = classes.problem(arena());
  ASSERT_TRUE(problem.ok()) << problem.status();
  absl::StatusOr<Solution> solution = plan(*problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  const int64_t header = classes.placement(0, *solution).offset;
  const int64_t data = classes.placement(1, *solution).offset;
  EXPECT_EQ(data % 16, 0);
  EXPECT_EQ(header, data - 4);
  EXPECT_GE(header, 0);
}

TEST(AliasClassesTest, RefusesWhatNoAddressSatisfies) {
  AliasClasses misaligned({value("a", 0, 1, 8, 8), value("b", 0, 1, 8, 8)});
  ASSERT_TRUE(misaligned.unite(0, 1, 4).ok());
  EXPECT_THAT(std::string(misaligned.problem(arena()).status().message()),
              HasSubstr("breaks its alignment 8"));

  Buffer fast = value("fast", 0, 1, 8);
  fast.pools = {0};
  Buffer slow = value("slow", 0, 1, 8);
  slow.pools = {1};
  AliasClasses apart({fast, slow});
  ASSERT_TRUE(apart.unite(0, 1, 0).ok());
  EXPECT_THAT(std::string(apart.problem(std::vector<Pool>(2)).status().message()),
              HasSubstr("value slow allows none of the pools"));

  AliasClasses bad({value("a", 0, 1, 8)});
  EXPECT_THAT(std::string(bad.unite(0, 3, 0).message()),
              HasSubstr("value index is 3, must be in [0, 1)"));
  EXPECT_FALSE(bad.unite(0, 0, INT64_MAX).ok());
  EXPECT_FALSE(bad.unite(0, 0, 8).ok());
}

}  // namespace
}  // namespace petrel::exir::plan
