// SPDX-License-Identifier: Apache-2.0
//
// Compares plans with the best of all orders, tried one by one: first fit in
// some order is optimal, because lowering buffers one at a time, from the
// lowest up, turns any plan into one that first fit makes.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "exir/plan/model/reversal.h"
#include "exir/plan/benchmarks/instances.h"
#include "exir/plan/search/planner.h"
#include "exir/plan/search/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir::plan {
namespace {

// By the definitions of problem.h alone.
bool may_share(const Problem& problem, size_t i, int64_t offset_i, size_t j, int64_t offset_j) {
  const auto is = [&](const Pair& p) {
    return (static_cast<size_t>(p.first) == i && static_cast<size_t>(p.second) == j) ||
           (static_cast<size_t>(p.first) == j && static_cast<size_t>(p.second) == i);
  };
  for (const Pair& pair : problem.non_conflicts) {
    if (is(pair)) return true;
  }
  for (const PermittedOverlap& o : problem.overlaps) {
    if (!is({o.lower, o.upper})) continue;
    const bool i_is_lower = static_cast<size_t>(o.lower) == i;
    const int64_t lower = i_is_lower ? offset_i : offset_j;
    const int64_t upper = i_is_lower ? offset_j : offset_i;
    if (lower + problem.buffers[o.lower].size - o.bytes <= upper) return true;
  }
  const Buffer& a = problem.buffers[i];
  const Buffer& b = problem.buffers[j];
  if (offset_i + a.size <= offset_j || offset_j + b.size <= offset_i) {
    return true;
  }
  for (const Pair& pair : problem.conflicts) {
    if (is(pair)) return false;
  }
  const auto alive = [](const Buffer& buffer, int64_t t) {
    if (t < buffer.lifetime.begin || t >= buffer.lifetime.end) return false;
    for (const Gap& gap : buffer.gaps) {
      if (t >= gap.time.begin && t < gap.time.end) return false;
    }
    return true;
  };
  for (int64_t t = a.lifetime.begin; t < a.lifetime.end; ++t) {
    if (alive(a, t) && alive(b, t)) return false;
  }
  return true;
}

int64_t best_of_all_orders(const Problem& problem) {
  std::vector<size_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> offset(order.size());
  do {
    int64_t peak = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      const Buffer& buffer = problem.buffers[order[k]];
      int64_t at = buffer.offset.value_or(0);
      const auto fits = [&] {
        for (size_t q = 0; q < order.size(); ++q) {
          // Fixed buffers are in place from the start.
          const bool placed = q < k || (q > k && problem.buffers[order[q]].offset.has_value());
          const int64_t other = problem.buffers[order[q]].offset.value_or(offset[order[q]]);
          if (placed && !may_share(problem, order[k], at, order[q], other)) {
            return false;
          }
        }
        return true;
      };
      while (!buffer.offset.has_value() && !fits()) at += buffer.alignment;
      offset[order[k]] = at;
      peak = std::max(peak, at + buffer.size);
    }
    best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

// Small numbers everywhere, so that orders matter.
Problem small_problem(uint64_t seed) {
  Random random(seed);
  Problem problem;
  problem.pools.resize(1);
  problem.pools[0].name = "arena";
  const int64_t num_buffers = 2 + random.below(5);
  for (int64_t i = 0; i < num_buffers; ++i) {
    Buffer buffer;
    buffer.id = std::to_string(i);
    buffer.size = 1 + random.below(9);
    if (random.chance(30)) buffer.alignment = 1 + random.below(4);
    buffer.lifetime.begin = random.below(6);
    buffer.lifetime.end = buffer.lifetime.begin + 1 + random.below(5);
    if (random.chance(25)) {
      const int64_t t =
          buffer.lifetime.begin + random.below(buffer.lifetime.end - buffer.lifetime.begin);
      buffer.gaps.push_back({{t, t + 1}, 0, 0});
    }
    problem.buffers.push_back(buffer);
  }
  const auto pick = [&] { return static_cast<BufferIdx>(random.below(num_buffers)); };
  for (int64_t k = random.below(4); k > 0; --k) {
    const BufferIdx a = pick();
    const BufferIdx b = pick();
    if (a == b) continue;
    const int64_t kind = random.below(3);
    if (kind == 0 && (a + b) % 2 == 0) problem.conflicts.push_back({a, b});
    if (kind == 1 && (a + b) % 2 == 1) problem.non_conflicts.push_back({a, b});
    if (kind == 2) {
      problem.overlaps.push_back(
          {a, b, random.below(1 + std::min(problem.buffers[a].size, problem.buffers[b].size))});
    }
  }
  if (random.chance(20)) {
    Buffer& buffer = problem.buffers[pick()];
    buffer.offset = buffer.alignment * random.below(4);
  }
  return problem;
}

TEST(OptimalityTest, SmallProblemsAreSolvedAndProven) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const Problem problem = small_problem(seed);
    absl::StatusOr<Solution> solution = plan(problem);
    ASSERT_TRUE(solution.ok()) << seed << ": " << solution.status();
    EXPECT_TRUE(solution->optimal) << seed;
    EXPECT_EQ(solution->peak, best_of_all_orders(problem)) << seed;
  }
}

// The objective as planner.h states it.
using Objective = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;

Objective objective(const Problem& problem, const std::vector<PoolIdx>& pool,
                    const std::vector<int64_t>& peak) {
  int64_t excess = 0, cost = 0, unlimited = 0, displaced = 0, sum = 0;
  for (size_t p = 0; p < peak.size(); ++p) {
    const Pool& it = problem.pools[p];
    if (it.preferred_capacity.has_value()) {
      excess += std::max<int64_t>(0, peak[p] - *it.preferred_capacity);
    }
    if (!it.capacity.has_value()) unlimited += peak[p];
    sum += peak[p];
  }
  for (size_t i = 0; i < pool.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    cost += buffer.access_count * problem.pools[pool[i]].cost_per_access;
    const PoolIdx first = buffer.pools.empty() ? 0 : buffer.pools[0];
    if (pool[i] != first) displaced += buffer.size;
  }
  return {excess, cost, unlimited, displaced, sum};
}

TEST(OptimalityTest, SmallProblemsWithTwoPoolsAreSolvedAndProven) {
  int infeasible = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    Problem problem = small_problem(seed);
    problem.pools.resize(2);
    problem.pools[0].name = "fast";
    problem.pools[1].name = "slow";
    for (Pool& pool : problem.pools) {
      if (random.chance(60)) pool.capacity = 8 + random.below(8);
      if (random.chance(20)) pool.preferred_capacity = random.below(12);
      pool.cost_per_access = random.below(3);
    }
    for (Buffer& buffer : problem.buffers) {
      buffer.access_count = random.below(3);
      const int64_t kind = random.below(4);
      if (kind == 1) buffer.pools = {1, 0};
      if (kind == 2) buffer.pools = {random.chance(50) ? 0 : 1};
    }
    if (!check_problem(problem).ok()) continue;

    bool possible = false;
    Objective best;
    const size_t n = problem.buffers.size();
    for (size_t mask = 0; mask < size_t{1} << n; ++mask) {
      std::vector<PoolIdx> pool(n);
      bool allowed = true;
      for (size_t i = 0; i < n; ++i) {
        pool[i] = mask >> i & 1;
        const std::vector<PoolIdx>& pools = problem.buffers[i].pools;
        allowed = allowed && (pools.empty() || std::count(pools.begin(), pools.end(), pool[i]));
      }
      std::vector<int64_t> peak(2, 0);
      for (int p = 0; p < 2 && allowed; ++p) {
        Problem in_pool = problem;
        for (size_t i = 0; i < n; ++i) {
          // Elsewhere: as small as nothing and in nobody's way.
          if (pool[i] == p) continue;
          in_pool.buffers[i].size = 0;
          in_pool.buffers[i].offset.reset();
          for (size_t j = 0; j < n; ++j) {
            if (j == i) continue;
            in_pool.non_conflicts.push_back({static_cast<BufferIdx>(i), static_cast<BufferIdx>(j)});
          }
        }
        peak[p] = best_of_all_orders(in_pool);
        const Pool& it = problem.pools[p];
        allowed = !it.capacity.has_value() || peak[p] <= *it.capacity;
      }
      if (!allowed) continue;
      const Objective now = objective(problem, pool, peak);
      if (!possible || now < best) best = now;
      possible = true;
    }

    absl::StatusOr<Solution> solution = plan(problem);
    if (!possible) {
      ++infeasible;
      EXPECT_THAT(solution.status().code(), testing::AnyOf(absl::StatusCode::kFailedPrecondition,
                                                           absl::StatusCode::kInvalidArgument))
          << seed << ": " << solution.status();
      continue;
    }
    ASSERT_TRUE(solution.ok()) << seed << ": " << solution.status();
    std::vector<PoolIdx> pool;
    for (const Placement& place : solution->placements) {
      pool.push_back(place.pool);
    }
    const std::vector<int64_t> peak = {solution->pools[0].peak, solution->pools[1].peak};
    EXPECT_EQ(objective(problem, pool, peak), best) << seed;
    EXPECT_TRUE(solution->optimal) << seed;
  }
  EXPECT_GT(infeasible, 30);
}

TEST(OptimalityTest, MirroringShufflingAndScalingDoNotMatter) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Problem problem = small_problem(seed);
    const int64_t peak = plan(problem)->peak;
    EXPECT_EQ(plan(reversed(problem))->peak, peak) << seed;
    EXPECT_EQ(plan(shuffled(problem, seed))->peak, peak) << seed;
    EXPECT_EQ(plan(scaled(problem, 48))->peak, 48 * peak) << seed;
  }
}

TEST(OptimalityTest, RectanglesCutIntoBuffersAreReassembled) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    CutOptions cut;
    cut.num_buffers = 20 + static_cast<int>(seed);
    const Problem problem = cut_rectangle(cut, seed);
    absl::StatusOr<Solution> solution = plan(problem);
    ASSERT_TRUE(solution.ok()) << solution.status();
    EXPECT_EQ(solution->peak, cut.capacity) << seed;
    EXPECT_TRUE(solution->optimal) << seed;
  }
}

}  // namespace
}  // namespace petrel::exir::plan
