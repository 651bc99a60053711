// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/planner.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/plan/bound.h"
#include "exir/plan/conflict_graph.h"
#include "exir/plan/effort.h"
#include "exir/plan/greedy.h"
#include "exir/plan/ordering.h"
#include "exir/plan/packing.h"
#include "exir/plan/score.h"
#include "exir/plan/validator.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {
namespace {

// Fixed buffers that share a bound pool must keep their distance.
absl::Status check_fixed(const Problem& problem, const ConflictGraph& graph,
                         const PoolChoices& choices) {
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& a = problem.buffers[i];
    if (!a.offset.has_value() || choices[i].size() != 1) continue;
    const auto index = static_cast<BufferIdx>(i);
    for (const Edge* e = graph.begin(index); e != graph.end(index); ++e) {
      const Buffer& b = problem.buffers[e->other];
      if (!b.offset.has_value() || choices[e->other] != choices[i]) continue;
      const int64_t difference = *b.offset - *a.offset;
      if (e->low < difference && difference < e->high) {
        return absl::InvalidArgumentError(absl::StrCat(
            "buffers ", a.id, " and ", b.id, " are fixed at offsets ",
            *a.offset, " and ", *b.offset, " of pool ",
            problem.pools[choices[i][0]].name, ", where they collide"));
      }
    }
  }
  return absl::OkStatus();
}

std::vector<BufferIdx> all_buffers(const Problem& problem) {
  std::vector<BufferIdx> all(problem.buffers.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<BufferIdx>(i);
  return all;
}

struct Candidate {
  std::vector<Placement> placements;
  std::string method;
};

// Assigns pools and places at once, in every order; keeps the best.
bool assign_by_orderings(const Problem& problem, const ConflictGraph& graph,
                         const PoolChoices& choices, Candidate* best) {
  const std::vector<BufferIdx> all = all_buffers(problem);
  std::vector<Placement> placements(all.size());
  bool found = false;
  Score best_score;
  for (const Ordering& ordering : all_orderings(problem)) {
    const std::vector<BufferIdx> order =
        ordered(problem, graph, all, ordering);
    for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
      if (!place_in_order(problem, graph, choices, order, fit, &placements)) {
        continue;
      }
      const Score candidate = score(problem, placements);
      if (found && !(candidate < best_score)) continue;
      found = true;
      best_score = candidate;
      best->placements = placements;
      best->method = absl::StrCat(
          fit == Fit::kFirst ? "first fit by " : "best fit by ",
          name_of(ordering));
    }
  }
  return found;
}

// Repacks every pool for itself; keeps a packing only where it helps.
void repack(const Problem& problem, const ConflictGraph& graph, Goal goal,
            Effort* effort, Candidate* best, Solution* solution) {
  const std::vector<int64_t> before = peaks(problem, best->placements);
  for (size_t p = 0; p < problem.pools.size(); ++p) {
    std::vector<BufferIdx> members;
    for (const BufferIdx b : all_buffers(problem)) {
      if (best->placements[b].pool == static_cast<PoolIdx>(p)) {
        members.push_back(b);
      }
    }
    const int64_t target = goal == Goal::kFitCapacity
                               ? problem.pools[p].capacity.value_or(0)
                               : 0;
    const Packing packing = pack(problem, graph, members, target, effort);
    solution->pools[p].lower_bound = packing.lower_bound;
    if (packing.peak >= before[p]) continue;
    best->method = packing.method;
    for (size_t i = 0; i < members.size(); ++i) {
      best->placements[members[i]].offset = packing.offsets[i];
    }
  }
}

absl::Status out_of_capacity(const Problem& problem, const Solution& solution,
                             bool proven) {
  std::string pools;
  for (size_t p = 0; p < problem.pools.size(); ++p) {
    const Pool& pool = problem.pools[p];
    if (!pool.capacity.has_value()) continue;
    absl::StrAppend(&pools, pools.empty() ? "" : ", ", "pool ", pool.name,
                    " holds ", *pool.capacity);
  }
  if (proven) {
    return absl::FailedPreconditionError(
        absl::StrCat("no plan fits: ", pools, ", at least ",
                     solution.lower_bound, " bytes are needed"));
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "found no plan that fits: ", pools, ", at least ", solution.lower_bound,
      " bytes are needed; whether one exists is not known"));
}

// The sum of all capacities, or kMaxBytes when some pool has none.
int64_t total_capacity(const Problem& problem) {
  int64_t total = 0;
  for (const Pool& pool : problem.pools) {
    const int64_t capacity = pool.capacity.value_or(kMaxBytes);
    total = std::min(kMaxBytes, total + capacity);
  }
  return total;
}

}  // namespace

absl::StatusOr<Solution> plan(const Problem& problem, const Options& options) {
  Effort effort(options.node_budget, options.budget_ms);
  PETREL_RETURN_IF_ERROR(check_problem(problem));
  const ConflictGraph graph(problem);
  const PoolChoices choices = pool_choices(problem);
  PETREL_RETURN_IF_ERROR(check_fixed(problem, graph, choices));

  Solution solution;
  solution.pools.resize(problem.pools.size());
  solution.lower_bound = BoundFinder(problem, graph).bound({});
  if (solution.lower_bound > total_capacity(problem)) {
    return out_of_capacity(problem, solution, true);
  }

  Candidate best;
  if (problem.pools.size() <= 1) {
    // pack() runs all orderings itself.
    best.placements.resize(problem.buffers.size());
    const int64_t capacity =
        problem.pools.empty() ? 0 : problem.pools[0].capacity.value_or(0);
    const Packing packing =
        pack(problem, graph, all_buffers(problem),
             options.goal == Goal::kFitCapacity ? capacity : 0, &effort);
    for (size_t i = 0; i < packing.offsets.size(); ++i) {
      best.placements[i] = {0, packing.offsets[i]};
    }
    best.method = packing.method;
    solution.lower_bound = std::max(solution.lower_bound, packing.lower_bound);
    if (!problem.pools.empty()) {
      solution.pools[0].lower_bound = solution.lower_bound;
      if (problem.pools[0].capacity.has_value() && packing.peak > capacity) {
        return out_of_capacity(problem, solution,
                               solution.lower_bound > capacity);
      }
    }
  } else {
    if (!assign_by_orderings(problem, graph, choices, &best)) {
      return out_of_capacity(problem, solution, false);
    }
    repack(problem, graph, options.goal, &effort, &best, &solution);
  }

  solution.placements = std::move(best.placements);
  solution.method = std::move(best.method);
  const std::vector<int64_t> peak = peaks(problem, solution.placements);
  for (size_t p = 0; p < peak.size(); ++p) {
    solution.pools[p].peak = peak[p];
    solution.peak += peak[p];
  }
  solution.optimal =
      problem.pools.size() <= 1 && solution.peak == solution.lower_bound;
  solution.nodes = effort.nodes();
  solution.seconds = effort.seconds();
  PETREL_RETURN_IF_ERROR(validate(problem, solution));
  return solution;
}

}  // namespace petrel::exir::plan
