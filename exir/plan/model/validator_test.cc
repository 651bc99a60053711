// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/validator.h"

#include <cstdint>
#include <string>

#include "exir/plan/benchmarks/instances.h"
#include "exir/plan/search/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

using ::testing::HasSubstr;

// a [0, 4), b [2, 6), each 8 bytes, one above the other.
struct Fixture {
  Problem problem;
  Solution solution;

  Fixture() {
    problem.pools.resize(1);
    problem.pools[0].name = "arena";
    problem.buffers.resize(2);
    problem.buffers[0].id = "a";
    problem.buffers[0].lifetime = {0, 4};
    problem.buffers[1].id = "b";
    problem.buffers[1].lifetime = {2, 6};
    for (Buffer& buffer : problem.buffers) buffer.size = 8;
    solution.placements = {{0, 0}, {0, 8}};
    solution.pools = {{16, 16}};
    solution.peak = solution.lower_bound = 16;
  }

  std::string message() const { return std::string(validate(problem, solution).message()); }
};

TEST(ValidatorTest, AcceptsAPlanThatHolds) {
  Fixture f;
  EXPECT_TRUE(validate(f.problem, f.solution).ok()) << f.message();
}

TEST(ValidatorTest, ReportsOverlapWithTimeAndBytes) {
  Fixture f;
  f.solution.placements[1].offset = 5;
  f.solution.pools[0] = {13, 13};
  f.solution.peak = f.solution.lower_bound = 13;
  EXPECT_THAT(f.message(), HasSubstr("buffers a and b overlap at time 2 in "
                                     "bytes [5, 8) of pool arena"));
}

TEST(ValidatorTest, ChecksPlaceAlignmentFixedOffsetPoolAndCapacity) {
  Fixture f;
  f.problem.buffers[1].alignment = 16;
  EXPECT_THAT(f.message(), HasSubstr("offset 8, not a multiple of 16"));
  f = Fixture();
  f.problem.buffers[0].offset = 4;
  EXPECT_THAT(f.message(), HasSubstr("was fixed at 4"));
  f = Fixture();
  f.problem.pools[0].capacity = 15;
  EXPECT_THAT(f.message(), HasSubstr("b ends at 16, pool arena holds 15"));
  f = Fixture();
  f.problem.pools.resize(2);
  f.problem.buffers[0].pools = {1};
  f.solution.pools.resize(2);
  EXPECT_THAT(f.message(), HasSubstr("a may not be in pool arena"));
  f = Fixture();
  f.solution.placements[0].pool = 7;
  EXPECT_THAT(f.message(), HasSubstr("a is in pool 7 of 1"));
  f = Fixture();
  f.solution.placements[0].offset = -8;
  EXPECT_THAT(f.message(), HasSubstr("a is at offset -8"));
  f = Fixture();
  f.solution.placements.pop_back();
  EXPECT_THAT(f.message(), HasSubstr("1 places"));
}

TEST(ValidatorTest, ChecksWhatThePlanSaysOfItself) {
  Fixture f;
  f.solution.pools[0].peak = 15;
  EXPECT_THAT(f.message(), HasSubstr("reaches 16 bytes, the plan says 15"));
  f = Fixture();
  f.solution.pools[0].lower_bound = 17;
  EXPECT_THAT(f.message(), HasSubstr("below its bound 17"));
  f = Fixture();
  f.solution.lower_bound = 17;
  EXPECT_THAT(f.message(), HasSubstr("at least 17"));
}

TEST(ValidatorTest, KnowsGapsConflictsNonConflictsAndPermittedOverlap) {
  Fixture f;
  f.solution.placements[1].offset = 0;
  f.solution.pools[0] = {8, 8};
  f.solution.peak = f.solution.lower_bound = 8;
  EXPECT_FALSE(validate(f.problem, f.solution).ok());
  f.problem.buffers[0].gaps = {{{2, 4}, 0, 0}};
  EXPECT_TRUE(validate(f.problem, f.solution).ok()) << f.message();
  f.problem.buffers[0].gaps = {{{2, 4}, 7, 8}};
  EXPECT_THAT(f.message(), HasSubstr("bytes [7, 8)"));
  f.problem.buffers[0].gaps.clear();
  f.problem.non_conflicts = {{1, 0}};
  EXPECT_TRUE(validate(f.problem, f.solution).ok()) << f.message();
  f.problem.non_conflicts.clear();
  f.problem.overlaps = {{0, 1, 8}};
  EXPECT_TRUE(validate(f.problem, f.solution).ok()) << f.message();
  f.problem.overlaps = {{0, 1, 7}};
  EXPECT_FALSE(validate(f.problem, f.solution).ok());
  f.problem.overlaps.clear();
  f.problem.buffers[1].lifetime = {4, 6};
  EXPECT_TRUE(validate(f.problem, f.solution).ok()) << f.message();
  f.problem.conflicts = {{0, 1}};
  EXPECT_THAT(f.message(), HasSubstr("conflicting buffers a and b overlap"));
}

// Full plans have no room: lowering any buffer that rests on another must
// collide, and so must raising it into its neighbour or beyond the top.
TEST(ValidatorTest, NoticesEveryMovedBufferOfAFullPlan) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    CutOptions cut;
    cut.num_buffers = 30;
    cut.capacity = 1 << 12;
    const Problem problem = cut_rectangle(cut, seed);
    absl::StatusOr<Solution> solution = plan(problem);
    ASSERT_TRUE(solution.ok()) << solution.status();
    ASSERT_EQ(solution->peak, cut.capacity);
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      for (const int64_t step : {-1, 1}) {
        Solution moved = *solution;
        moved.placements[i].offset += step;
        EXPECT_FALSE(validate(problem, moved).ok()) << seed << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace petrel::exir::plan
