// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/planner.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "exir/plan/benchmarks/instances.h"
#include "exir/plan/model/validator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

using ::testing::HasSubstr;

Buffer make(const char* id, int64_t begin, int64_t end, int64_t size) {
  Buffer buffer;
  buffer.id = id;
  buffer.lifetime = {begin, end};
  buffer.size = size;
  return buffer;
}

Problem one_pool(std::vector<Buffer> buffers) {
  Problem problem;
  problem.buffers = std::move(buffers);
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  return problem;
}

Options effort(int64_t nodes) {
  Options options;
  options.node_budget = nodes;
  return options;
}

TEST(PlannerTest, PlansNothingInNothing) {
  absl::StatusOr<Solution> solution = plan(Problem());
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->peak, 0);
  EXPECT_TRUE(solution->optimal);
}

TEST(PlannerTest, SharesMemoryOfBuffersThatDoNotMeet) {
  absl::StatusOr<Solution> solution =
      plan(one_pool({make("a", 0, 3, 4), make("b", 3, 9, 4), make("c", 0, 9, 4)}));
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->peak, 8);
  EXPECT_EQ(solution->placements[0].offset, solution->placements[1].offset);
  EXPECT_TRUE(solution->optimal);
}

// Of capacities between the sizes of both and the alignment, none was refuted by halves.
TEST(PlannerTest, DoesNotClimbToAnAlignment) {
  Problem problem = one_pool({make("a", 0, 34, 6), make("b", 2, 9, 6)});
  problem.buffers[0].offset = 1;
  problem.buffers[1].alignment = 777777777777;
  problem.buffers[1].gaps.resize(1);
  problem.buffers[1].gaps[0].time = {4, 6};
  absl::StatusOr<Solution> solution = plan(problem, effort(10000));
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->placements[1].offset, 777777777777);
}

TEST(PlannerTest, KeepsAlignmentOfThePlacedBufferNotOfItsNeighbour) {
  Problem problem = one_pool({make("a", 0, 2, 10), make("b", 0, 2, 16)});
  problem.buffers[0].alignment = 2;
  problem.buffers[1].alignment = 16;
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->placements[1].offset % 16, 0);
  EXPECT_EQ(solution->peak, 26);  // b below a
}

TEST(PlannerTest, UsesGapsInLifetimes) {
  Problem problem = one_pool({make("a", 0, 10, 8), make("b", 4, 6, 8)});
  problem.buffers[0].gaps = {{{4, 6}, 0, 0}};
  EXPECT_EQ(plan(problem)->peak, 8);
  problem.buffers[0].gaps = {{{4, 6}, 0, 3}};  // three bytes stay needed
  EXPECT_EQ(plan(problem)->peak, 11);
  problem.buffers[0].gaps = {{{4, 5}, 0, 0}};
  EXPECT_EQ(plan(problem)->peak, 16);
}

TEST(PlannerTest, HonoursFixedOffsetsAndReportsCollisions) {
  Problem problem = one_pool({make("a", 0, 4, 8), make("b", 0, 4, 8), make("c", 2, 6, 8)});
  problem.buffers[0].offset = 8;
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->placements[0].offset, 8);
  EXPECT_EQ(solution->peak, 24);
  problem.buffers[2].offset = 15;
  const absl::Status status = plan(problem).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("buffers a and c are fixed at offsets 8 and 15"));
}

TEST(PlannerTest, SeparatesExtraConflictsAndJoinsNonConflicts) {
  Problem problem = one_pool({make("a", 0, 2, 8), make("b", 4, 6, 8)});
  problem.conflicts = {{1, 0}};
  EXPECT_EQ(plan(problem)->peak, 16);
  problem = one_pool({make("a", 0, 4, 8), make("b", 2, 6, 8)});
  problem.non_conflicts = {{0, 1}};
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->peak, 8);
  EXPECT_TRUE(solution->optimal);
}

TEST(PlannerTest, UsesPermittedOverlapInItsDirectionOnly) {
  Problem problem = one_pool({make("in", 0, 2, 100), make("out", 1, 3, 60)});
  problem.overlaps = {{1, 0, 50}};  // the end of out over the begin of in
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->peak, 110);
  EXPECT_LT(solution->placements[1].offset, solution->placements[0].offset);
  EXPECT_TRUE(solution->optimal);
}

TEST(PlannerTest, ProvesThatACapacityCannotBeMet) {
  Problem problem = one_pool({make("a", 0, 4, 8), make("b", 2, 6, 8)});
  problem.pools[0].capacity = 15;
  const absl::Status status = plan(problem).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("arena holds 15"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("16 bytes are needed"));
  problem.pools[0].capacity = 16;
  EXPECT_TRUE(plan(problem).ok());
}

TEST(PlannerTest, NamesTheBufferThatIsWrong) {
  const auto message = [](Buffer buffer) {
    const absl::Status status = plan(one_pool({std::move(buffer)})).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(message(make("x", 0, 1, -1)), HasSubstr("buffer x: size is -1"));
  EXPECT_THAT(message(make("x", 0, 1, INT64_MAX)), HasSubstr("buffer x: size"));
  EXPECT_THAT(message(make("x", 3, 3, 1)), HasSubstr("buffer x: lifetime [3, 3)"));
  EXPECT_THAT(message(make("x", INT64_MIN, 3, 1)), HasSubstr("buffer x: lifetime"));
  Buffer buffer = make("x", 0, 4, 8);
  buffer.alignment = 0;
  EXPECT_THAT(message(buffer), HasSubstr("buffer x: alignment is 0"));
  buffer.alignment = 4;
  buffer.offset = 6;
  EXPECT_THAT(message(buffer), HasSubstr("buffer x: fixed offset 6"));
  buffer.offset.reset();
  buffer.gaps = {{{1, 5}, 0, 0}};
  EXPECT_THAT(message(buffer), HasSubstr("buffer x: gap [1, 5)"));
  buffer.gaps = {{{1, 3}, 0, 0}, {{2, 4}, 0, 0}};
  EXPECT_THAT(message(buffer), HasSubstr("gaps [1, 3) and [2, 4) overlap"));
  buffer.gaps = {{{1, 3}, 4, 9}};
  EXPECT_THAT(message(buffer), HasSubstr("keeps bytes [4, 9)"));
  buffer.gaps.clear();
  buffer.pools = {1};
  EXPECT_THAT(message(buffer), HasSubstr("buffer x: pool index is 1"));
}

TEST(PlannerTest, RefusesSumsThatOverflow) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < 5; ++i) {
    buffers.push_back(make("big", 0, 1, int64_t{1} << 58));
  }
  const absl::Status status = plan(one_pool(buffers)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("buffer big"));
}

// Pools are rejected because of one neighbour; a later neighbour in the same
// pool must not bring the pool back with a lower offset.
TEST(PlannerTest, DoesNotReenterAPoolThatWasRejected) {
  std::vector<Buffer> buffers = {make("A", 0, 1, 60), make("C", 0, 1, 50), make("B", 0, 1, 30),
                                 make("D", 0, 1, 25)};
  std::sort(buffers.begin(), buffers.end(),
            [](const Buffer& a, const Buffer& b) { return a.id < b.id; });
  do {
    Problem problem = one_pool(buffers);
    problem.pools[0].name = "fast";
    problem.pools[0].capacity = 100;
    problem.pools.emplace_back();
    problem.pools[1].name = "slow";
    absl::StatusOr<Solution> solution = plan(problem);
    ASSERT_TRUE(solution.ok()) << solution.status();
    EXPECT_TRUE(validate(problem, *solution).ok());
    EXPECT_EQ(solution->peak, 165);
    // 60 + 30 and 50 + 30 + 25 fit; nothing fits better than 90 or more.
    EXPECT_GE(solution->pools[0].peak, 85);
  } while (std::next_permutation(buffers.begin(), buffers.end(),
                                 [](const Buffer& a, const Buffer& b) { return a.id < b.id; }));
}

TEST(PlannerTest, GivesTheSameAnswerForTheSameBudget) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    CutOptions cut;
    cut.num_buffers = 60;
    const Problem problem = cut_rectangle(cut, seed);
    absl::StatusOr<Solution> first = plan(problem, effort(3000));
    absl::StatusOr<Solution> second = plan(problem, effort(3000));
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->nodes, second->nodes);
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      EXPECT_EQ(first->placements[i].offset, second->placements[i].offset);
    }
  }
}

TEST(PlannerTest, NeverGetsWorseWithMoreEffort) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    CutOptions cut;
    cut.num_buffers = 80;
    const Problem problem = cut_rectangle(cut, seed);
    const int64_t without = plan(problem, effort(0))->peak;
    EXPECT_LE(plan(problem, effort(20000))->peak, without);
    EXPECT_GE(without, cut.capacity);
  }
}

// A clock on which a millisecond passes with every look at it.
struct FakeClock {
  int64_t looks = 0;
  std::function<double()> now() {
    return [this] { return static_cast<double>(++looks) / 1000; };
  }
};

Problem many_buffers(int64_t count, size_t num_pools) {
  Problem problem;
  problem.pools.resize(num_pools);
  for (size_t p = 0; p < num_pools; ++p) {
    problem.pools[p].name = "pool" + std::to_string(p);
    if (p + 1 < num_pools) problem.pools[p].capacity = 100'000;
  }
  for (int64_t i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.id = std::to_string(i);
    buffer.size = 1 + i * 7919 % 1000;
    buffer.lifetime = {i, i + 2 + i * 104729 % 300};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

TEST(PlannerTest, StopsWhenItsTimeIsOver) {
  CutOptions cut;
  cut.num_buffers = 454;
  cut.size_grain = cut.time_grain = 1 << 14;  // hard: many equal buffers
  const std::vector<Problem> problems = {cut_rectangle(cut, 409), many_buffers(3000, 1),
                                         many_buffers(3000, 3)};
  for (const Problem& problem : problems) {
    FakeClock clock;
    Options options;
    options.node_budget = int64_t{1} << 40;
    options.budget_ms = 100;
    options.clock = clock.now();
    absl::StatusOr<Solution> solution = plan(problem, options);
    ASSERT_TRUE(solution.ok()) << solution.status();
    // Every stage looks once more at most.
    EXPECT_GE(clock.looks, 100);
    EXPECT_LE(clock.looks, 150);
  }
}

TEST(PlannerTest, LooksAtTheClockWhileItTriesOrderings) {
  const Problem problem = many_buffers(3000, 1);
  FakeClock clock;
  Options options;
  options.node_budget = 0;
  options.budget_ms = int64_t{1} << 40;
  options.clock = clock.now();
  ASSERT_TRUE(plan(problem, options).ok());
  // 3000 buffers of 300 conflicts each, 22 orders, 3 fits; the first three of
  // these are tried at any time.
  EXPECT_GT(clock.looks, int64_t{3000} * 300 * (22 * 3 - 3) / 4096);
}

TEST(PlannerTest, IsNotWorseThanOrderingsForLackOfTime) {
  for (const size_t num_pools : {1, 3}) {
    const Problem problem = many_buffers(100, num_pools);
    Options orderings;
    orderings.node_budget = 0;
    absl::StatusOr<Solution> best = plan(problem, orderings);
    FakeClock clock;
    Options hurried;
    hurried.budget_ms = 1;
    hurried.clock = clock.now();
    absl::StatusOr<Solution> solution = plan(problem, hurried);
    ASSERT_TRUE(best.ok() && solution.ok());
    EXPECT_LE(solution->pools.back().peak, best->pools.back().peak);
  }
}

TEST(PlannerTest, PlansTenThousandBuffers) {
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  for (int64_t i = 0; i < 10000; ++i) {
    Buffer buffer;
    buffer.id = std::to_string(i);
    buffer.size = 16 * (1 + i * 7919 % 1000);
    buffer.alignment = 16;
    buffer.lifetime = {i, i + 2 + i * 104729 % 30};
    problem.buffers.push_back(buffer);
  }
  absl::StatusOr<Solution> solution = plan(problem, effort(100000));
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_LE(static_cast<double>(solution->peak), 1.1 * static_cast<double>(solution->lower_bound));
}

// A file of 200 KB would ask for gigabytes.
// `count` buffers that begin `step` after one another, of which each may meet the next one.
Problem problem_of_pairs(int count, int64_t step) {
  Problem problem;
  problem.pools.resize(1);
  for (int i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.id = std::to_string(i);
    buffer.size = 16 + i % 7;
    buffer.lifetime = {i * step, i * step + count / 2};
    problem.buffers.push_back(buffer);
  }
  for (int i = 0; i + 1 < count; i += 2) problem.overlaps.push_back({i, i + 1, i % 3});
  return problem;
}

// Bounds look at each pair once, and rows of the search at so many pairs that it can be seen in
// advance: both once took hours.
TEST(PlannerTest, PlansManyBuffersThatMayMeetOthers) {
  for (const int64_t step : {0, 1}) {
    const auto solution = plan(problem_of_pairs(600, step));
    ASSERT_TRUE(solution.ok()) << solution.status();
    EXPECT_LE(solution->lower_bound, solution->peak);
  }
}

// Nothing is to be decided of them, and a call within the other for each is too deep.
TEST(PlannerTest, PlansManyBuffersThatHaveOneOfSeveralPools) {
  Problem problem;
  problem.pools.resize(2);
  problem.pools[0].name = "a";
  problem.pools[1].name = "b";
  for (int64_t i = 0; i < 20'000; ++i) {
    problem.buffers.push_back(make("x", i, i + 1, 64));
    problem.buffers.back().pools = {static_cast<PoolIdx>(i % 2)};
  }
  const absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->peak, 128);
}

// Each buffer might be better off in each pool, which takes a look at all others.
TEST(PlannerTest, LooksAtNoMoreBuffersInPoolsThanItMay) {
  Problem problem;
  for (int64_t i = 0; i < 64; ++i) {
    problem.pools.emplace_back();
    problem.pools.back().name = "pool";
    problem.pools.back().capacity = 64 * (i + 1);
    problem.pools.back().cost_per_access = i;
  }
  for (int64_t i = 0; i < 20'000; ++i) {
    problem.buffers.push_back(make("x", i, i + 2, 64));
    problem.buffers.back().access_count = 1;
  }
  const absl::StatusOr<Solution> solution = plan(problem, effort(100'000));
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_GE(solution->peak, 128);  // two are there at a time
}

// A list of pools for each buffer, and a try of all of them.
TEST(PlannerTest, RefusesMorePoolsThanAMachineHas) {
  Problem problem = one_pool({make("a", 0, 1, 8), make("b", 0, 1, 8)});
  problem.pools.resize(kMaxPools);
  EXPECT_TRUE(plan(problem).ok());
  problem.pools.resize(kMaxPools + 1);
  EXPECT_THAT(std::string(plan(problem).status().message()),
              HasSubstr("the problem has 2 buffers and 65 pools, at most 1073741824 and 64 are"));
}

TEST(PlannerTest, RefusesMorePairsThanThereIsTimeFor) {
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  problem.buffers.resize(17'000);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    problem.buffers[i].id = std::to_string(i);
    problem.buffers[i].size = 1;
    problem.buffers[i].lifetime = {0, static_cast<int64_t>(i) + 1};
  }
  const absl::Status status = plan(problem).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "144491500 pairs of buffers are needed at the same time, the limit is 134217728");
}

TEST(PlannerTest, RandomProblemsGetValidPlansOrNone) {
  int planned = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Problem problem =
        random_problem(1 + static_cast<int>(seed % 37), 1 + static_cast<int>(seed % 4), seed);
    absl::StatusOr<Solution> solution = plan(problem, effort(500));
    if (solution.ok()) {
      ++planned;
      EXPECT_TRUE(validate(problem, *solution).ok());
      continue;
    }
    if (solution.status().code() == absl::StatusCode::kInvalidArgument) {
      EXPECT_THAT(std::string(solution.status().message()), HasSubstr("are fixed at offsets"));
      continue;
    }
    EXPECT_THAT(solution.status().code(), ::testing::AnyOf(absl::StatusCode::kFailedPrecondition,
                                                           absl::StatusCode::kResourceExhausted))
        << seed << ": " << solution.status();
  }
  EXPECT_GT(planned, 800);
}

TEST(PlannerTest, ACapacityThatCannotBeMetNamesWhoNeedsIt) {
  Problem problem = cut_rectangle(CutOptions(), 4);
  problem.buffers[7].origin = "line 9";
  problem.buffers[7].size = 1 << 20;
  problem.pools[0].capacity = (1 << 20) - 1;
  absl::Status status = plan(problem).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("no plan fits: buffer 7 (line 9)"));
  problem.pools[0].capacity = 1 << 20;
  status = plan(problem).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("are alive: 7 (line 9) 1048576, "));
}

TEST(PlannerTest, StepsAfterTheFitOnlyLowerThePeak) {
  int better = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Problem problem = random_problem(30, 1, seed);
    problem.pools[0] = Pool();
    problem.pools[0].capacity = 100'000;
    Options options;
    options.goal = Goal::kFitCapacity;
    absl::StatusOr<Solution> first = plan(problem, options);
    options.nodes_after_fit = 5'000;
    absl::StatusOr<Solution> then = plan(problem, options);
    ASSERT_EQ(first.ok(), then.ok());
    if (!first.ok()) continue;
    EXPECT_LE(then->peak, first->peak);
    better += then->peak < first->peak;
  }
  EXPECT_GT(better, 5);
}

}  // namespace
}  // namespace petrel::exir::plan
