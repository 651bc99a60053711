// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/operator_order.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "exir/plan/search/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

// The peak by the definition, or -1 when the order is not possible.
int64_t peak_of(const OrderProblem& problem, const std::vector<int32_t>& order) {
  std::vector<int32_t> at(problem.operators.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    at[order[i]] = static_cast<int32_t>(i);
  }
  const auto steps = static_cast<int32_t>(order.size());
  std::vector<int64_t> alive(order.size() + 2, 0);  // [1 + step]
  for (size_t v = 0; v < problem.values.size(); ++v) {
    const OrderProblem::Value& value = problem.values[v];
    const int32_t first = value.producer < 0 ? -1 : at[value.producer];
    int32_t last = value.kept ? steps : first;
    for (size_t o = 0; o < order.size(); ++o) {
      const std::vector<int32_t>& reads = problem.operators[o].reads;
      if (std::find(reads.begin(), reads.end(), static_cast<int32_t>(v)) == reads.end()) {
        continue;
      }
      if (at[o] <= first) return -1;
      last = std::max(last, at[o]);
    }
    for (int32_t t = first; t <= last; ++t) alive[1 + t] += value.size;
  }
  for (size_t o = 0; o < order.size(); ++o) {
    for (const int32_t before : problem.operators[o].after) {
      if (at[before] >= at[o]) return -1;
    }
  }
  return *std::max_element(alive.begin(), alive.end());
}

OrderProblem random_network(int num_operators, uint64_t seed) {
  Random random(seed);
  OrderProblem problem;
  problem.values.push_back({1 + random.below(50)});
  for (int32_t o = 0; o < num_operators; ++o) {
    OrderProblem::Operator op;
    const int64_t reads = 1 + random.below(2);
    for (int64_t i = 0; i < reads; ++i) {
      op.reads.push_back(
          static_cast<int32_t>(random.below(static_cast<int64_t>(problem.values.size()))));
    }
    if (o > 0 && random.chance(10)) {
      op.after.push_back(static_cast<int32_t>(random.below(o)));
    }
    problem.operators.push_back(op);
    const int64_t makes = random.chance(15) ? 2 : 1;
    for (int64_t i = 0; i < makes; ++i) {
      problem.values.push_back({random.below(100), o, random.chance(15)});
    }
  }
  return problem;
}

TEST(OperatorOrderTest, FinishesOneBranchBeforeTheNext) {
  OrderProblem problem;
  problem.values = {{10}, {100, 0}, {100, 1}, {10, 2}, {10, 3}, {10, 4, true}};
  problem.operators = {{{0}, {}}, {{0}, {}}, {{1}, {}}, {{2}, {}}, {{3, 4}, {}}};
  absl::StatusOr<OrderAnswer> answer = best_order(problem, 1000);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->given_peak, 210);
  EXPECT_EQ(answer->peak, 120);  // x, one big value, two small ones
  EXPECT_TRUE(answer->optimal);
  EXPECT_EQ(peak_of(problem, answer->order), 120);
}

TEST(OperatorOrderTest, IsAsGoodAsTheBestOfAllOrders) {
  int better = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const OrderProblem problem = random_network(2 + static_cast<int>(seed % 6), seed);
    std::vector<int32_t> order(problem.operators.size());
    std::iota(order.begin(), order.end(), 0);
    const int64_t given = peak_of(problem, order);
    int64_t best = given;
    do {
      const int64_t peak = peak_of(problem, order);
      if (peak >= 0) best = std::min(best, peak);
    } while (std::next_permutation(order.begin(), order.end()));
    absl::StatusOr<OrderAnswer> answer = best_order(problem, 100'000);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->given_peak, given) << seed;
    EXPECT_EQ(answer->peak, best) << seed;
    EXPECT_TRUE(answer->optimal) << seed;
    EXPECT_EQ(peak_of(problem, answer->order), best) << seed;
    better += best < given;
  }
  EXPECT_GT(better, 30);
}

TEST(OperatorOrderTest, WithFewStatesItBoundsWhatItDidNotProve) {
  int proven = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const OrderProblem problem = random_network(30, seed);
    absl::StatusOr<OrderAnswer> best = best_order(problem, 20'000);
    absl::StatusOr<OrderAnswer> quick = best_order(problem, 5);
    ASSERT_TRUE(best.ok() && quick.ok());
    EXPECT_LE(quick->lower_bound, best->peak);
    EXPECT_LE(best->peak, quick->peak);
    EXPECT_LE(quick->peak, quick->given_peak);
    EXPECT_LE(quick->lower_bound, best->lower_bound);
    EXPECT_EQ(peak_of(problem, quick->order), quick->peak);
    EXPECT_EQ(peak_of(problem, best->order), best->peak);
    proven += best->optimal;
  }
  EXPECT_GT(proven, 20);
}

TEST(OperatorOrderTest, RefusesWhatIsNoOrder) {
  const auto message = [](const OrderProblem& problem) {
    return std::string(best_order(problem, 10).status().message());
  };
  OrderProblem problem;
  problem.values = {{4}, {4, 0}};
  problem.operators = {{{1}, {}}};
  EXPECT_THAT(message(problem), ::testing::HasSubstr("operator 0 reads"));
  problem.operators = {{{2}, {}}};
  EXPECT_THAT(message(problem), ::testing::HasSubstr("reads value 2"));
  problem.operators = {{{0}, {0}}};
  EXPECT_THAT(message(problem), ::testing::HasSubstr("after operator 0"));
  problem.operators = {{{0}, {}}};
  problem.values[1].producer = 7;
  EXPECT_THAT(message(problem), ::testing::HasSubstr("producer is 7"));
  problem.values[1] = {int64_t{1} << 60, 0};
  EXPECT_THAT(message(problem), ::testing::HasSubstr("value 1: size"));
  EXPECT_TRUE(best_order(OrderProblem(), 10)->optimal);
}

int64_t most_memory_kb() {
  rusage usage = {};
  EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_maxrss;
}

// Any of thousands may come first, and each of these sets is another one.
TEST(OperatorOrder, KeepsFewSetsOfAWideGraph) {
  constexpr int32_t kBranches = 3000;
  OrderProblem problem;
  problem.values.push_back({1, -1, true});
  for (int32_t i = 0; i < kBranches; ++i) {
    problem.values.push_back({1000 + i, i});
    problem.operators.push_back({{0}, {}});
  }
  for (int32_t i = 0; i < kBranches; ++i) {
    problem.values.push_back({1, kBranches + i, true});
    problem.operators.push_back({{1 + i}, {}});
  }
  const int64_t before = most_memory_kb();
  const absl::StatusOr<OrderAnswer> answer = best_order(problem, 10);
  EXPECT_LT(most_memory_kb() - before, 64 << 10);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->peak, peak_of(problem, answer->order));
  EXPECT_LT(answer->peak, 3 * kBranches);
  EXPECT_LE(answer->lower_bound, answer->peak);
}

}  // namespace
}  // namespace petrel::exir::plan
