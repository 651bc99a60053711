// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/crowded_plan.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exir/plan/benchmarks/instances.h"
#include "exir/plan/model/neighbours.h"
#include "exir/plan/model/score.h"
#include "exir/plan/model/validator.h"
#include "exir/plan/search/planner.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

Solution solution_of(const Problem& problem, CrowdedPlan found) {
  Solution solution;
  solution.placements = std::move(found.placements);
  for (const int64_t peak : peaks(problem, solution.placements)) {
    solution.pools.push_back({peak, 0});
    solution.peak += peak;
  }
  solution.lower_bound = crowded_bound(problem, {});
  return solution;
}

// Gaps, fixed offsets, conflicts, non-conflicts, overlaps and several pools.
TEST(CrowdedPlanTest, RandomProblemsGetValidPlansAboveTheBound) {
  int planned = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Problem problem =
        random_problem(1 + static_cast<int>(seed % 37), 1 + static_cast<int>(seed % 4), seed);
    Options options;
    options.node_budget = 500;
    const absl::StatusOr<Solution> best = plan(problem, options);
    if (!best.ok()) continue;  // offsets that collide, or no plan that fits
    EXPECT_LE(crowded_bound(problem, {}), best->peak) << seed;
    Effort effort(500, 0);
    CrowdedPlan found =
        plan_crowded(problem, Neighbours(problem), pool_choices(problem), false, &effort);
    if (found.placements.empty()) continue;
    ++planned;
    const absl::Status valid = validate(problem, solution_of(problem, std::move(found)));
    EXPECT_TRUE(valid.ok()) << seed << ": " << valid;
  }
  EXPECT_GT(planned, 300);
}

// 5,000 tensors that are all there at first: 12 million pairs.
TEST(CrowdedPlanTest, ManyBuffersThatDieOneByOneLieSideBySide) {
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  int64_t sum = 0;
  for (int64_t i = 0; i < 5'000; ++i) {
    Buffer buffer;
    buffer.id = std::to_string(i);
    buffer.size = 1 + i % 7;
    buffer.lifetime = {0, i + 1};
    sum += buffer.size;
    problem.buffers.push_back(buffer);
  }
  Buffer last;  // takes the place of what has died
  last.id = "last";
  last.size = 40;
  last.lifetime = {100, 6'000};
  problem.buffers.push_back(last);
  absl::StatusOr<Solution> solution = plan(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->lower_bound, sum);
  EXPECT_EQ(solution->peak, sum);
  EXPECT_TRUE(solution->optimal);
  problem.pools[0].capacity = sum - 1;
  solution = plan(problem);
  EXPECT_EQ(solution.status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace petrel::exir::plan
