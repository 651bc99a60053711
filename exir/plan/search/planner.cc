// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/planner.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/plan/model/bound.h"
#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/model/crowd.h"
#include "exir/plan/model/edge.h"
#include "exir/plan/model/neighbours.h"
#include "exir/plan/model/score.h"
#include "exir/plan/model/validator.h"
#include "exir/plan/search/assignment.h"
#include "exir/plan/search/crowded_plan.h"
#include "exir/plan/search/effort.h"
#include "exir/plan/search/greedy.h"
#include "exir/plan/search/packing.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {
namespace {

// Fixed buffers that share a bound pool must keep their distance.
absl::Status check_fixed(const Problem& problem, EdgesOf edges_of, const PoolChoices& choices) {
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& a = problem.buffers[i];
    if (!a.offset.has_value() || choices[i].size() != 1) continue;
    for (const Edge& edge : edges_of(static_cast<BufferIdx>(i))) {
      const Buffer& b = problem.buffers[edge.other];
      if (!b.offset.has_value() || choices[edge.other] != choices[i]) continue;
      const int64_t difference = *b.offset - *a.offset;
      if (edge.low < difference && difference < edge.high) {
        return absl::InvalidArgumentError(absl::StrCat(
            "buffers ", label(a), " and ", label(b), " are fixed at offsets ", *a.offset, " and ",
            *b.offset, " of pool ", problem.pools[choices[i][0]].name, ", where they collide"));
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

absl::Status out_of_capacity(const Problem& problem, const Solution& solution, bool proven) {
  std::string text = proven ? "no plan fits, which is proven: "
                            : "found no plan that fits, whether there is one "
                              "is not known: ";
  for (const Pool& pool : problem.pools) {
    if (!pool.capacity.has_value()) continue;
    absl::StrAppend(&text, "pool ", pool.name, " holds ", *pool.capacity, ", ");
  }
  absl::StrAppend(&text, "at least ", solution.lower_bound, " bytes are needed; ",
                  describe(problem, largest_crowd(problem), 5));
  return proven ? absl::FailedPreconditionError(text) : absl::ResourceExhaustedError(text);
}

// The sum of all capacities, or kMaxBytes when some pool has none.
int64_t total_capacity(const Problem& problem) {
  int64_t total = 0;
  for (const Pool& pool : problem.pools) {
    total = std::min(kMaxBytes, total + pool.capacity.value_or(kMaxBytes));
  }
  return total;
}

// No search is needed to see that nothing can be better: every weight of the
// score is at its own minimum.
bool evidently_best(const Problem& problem, const PoolChoices& choices, const BoundFinder& bounds,
                    int64_t lower_bound, const std::vector<Placement>& placements) {
  Score least;
  int64_t limited_capacity = 0;
  for (const Pool& pool : problem.pools) {
    limited_capacity = std::min(kMaxBytes, limited_capacity + pool.capacity.value_or(0));
  }
  std::vector<char> forced(problem.buffers.size(), 0);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    int64_t cost = problem.pools[choices[i][0]].cost_per_access;
    forced[i] = 1;
    for (const PoolIdx pool : choices[i]) {
      cost = std::min(cost, problem.pools[pool].cost_per_access);
      if (problem.pools[pool].capacity.has_value()) forced[i] = 0;
    }
    least.cost += cost * problem.buffers[i].access_count;
  }
  least.unlimited_peak =
      std::max({int64_t{0}, lower_bound - limited_capacity, bounds.bound(forced)});
  least.peak = lower_bound;
  return score(problem, placements) == least;
}

// What is asked, and what is known before any search.
struct Question {
  const Problem& problem;
  const Options& options;
  const ConflictGraph& graph;
  const PoolChoices& choices;
  const BoundFinder& bounds;
};

// What another planner says, made safe to compute with: validate() forms sums.
absl::Status take_placements(const Problem& problem, const Options& options, Solution* solution) {
  absl::StatusOr<std::vector<Placement>> places = options.planner(problem, options);
  if (!places.ok()) return places.status();
  const auto wrong = [&](const auto&... args) {
    return absl::InternalError(absl::StrCat("planner ", options.planner_name, ": ", args...));
  };
  if (places->size() != problem.buffers.size()) {
    return wrong("has ", places->size(), " places for ", problem.buffers.size(), " buffers");
  }
  for (size_t i = 0; i < places->size(); ++i) {
    const Placement& place = (*places)[i];
    const auto num_pools = static_cast<PoolIdx>(problem.pools.size());
    if (place.pool < 0 || place.pool >= num_pools || place.offset < 0 || place.offset > kMaxBytes) {
      return wrong("buffer ", label(problem.buffers[i]), " is at offset ", place.offset,
                   " of pool ", place.pool, ", must be in [0, 2^60] and in [0, ", num_pools, ")");
    }
  }
  solution->placements = *std::move(places);
  solution->method = options.planner_name;
  return absl::OkStatus();
}

template <typename BoundOf>
void set_pool_bounds(const Problem& problem, BoundOf bound_of, Solution* solution) {
  std::vector<char> inside(problem.buffers.size());
  for (size_t p = 0; p < solution->pools.size(); ++p) {
    for (size_t i = 0; i < inside.size(); ++i) {
      inside[i] = solution->placements[i].pool == static_cast<PoolIdx>(p);
    }
    solution->pools[p].lower_bound = bound_of(problem, inside);
  }
}

// The answer of another planner, whose plan nothing here has searched for.
absl::Status plan_elsewhere(const Question& question, Solution* solution) {
  const Problem& problem = question.problem;
  PETREL_RETURN_IF_ERROR(take_placements(problem, question.options, solution));
  set_pool_bounds(
      problem, [&](const Problem&, const auto& inside) { return question.bounds.bound(inside); },
      solution);
  solution->optimal = evidently_best(problem, question.choices, question.bounds,
                                     solution->lower_bound, solution->placements);
  return absl::OkStatus();
}

// A plan that fits the capacity, made smaller with what steps are left for it.
void shrink(const Question& question, Effort* effort, Packing* packing) {
  Effort more = effort->share(question.options.nodes_after_fit);
  Packing smaller = pack(question.problem, question.graph, all_buffers(question.problem), 0, &more);
  effort->absorb(more);
  smaller.lower_bound = std::max(smaller.lower_bound, packing->lower_bound);
  if (smaller.peak <= packing->peak) {
    *packing = std::move(smaller);
  } else {
    packing->lower_bound = smaller.lower_bound;
  }
}

// At most one pool.
absl::Status plan_one_pool(const Question& question, Effort* effort, Solution* solution) {
  const Problem& problem = question.problem;
  const Options& options = question.options;
  const bool fit = options.goal == Goal::kFitCapacity;
  const int64_t capacity =
      problem.pools.empty() ? 0 : problem.pools[0].capacity.value_or(kMaxBytes);
  Packing packing = pack(problem, question.graph, all_buffers(problem),
                         fit && capacity < kMaxBytes ? capacity : 0, effort);
  if (fit && options.nodes_after_fit > 0 && packing.peak <= capacity &&
      packing.peak > packing.lower_bound) {
    shrink(question, effort, &packing);
  }
  for (const int64_t offset : packing.offsets) solution->placements.push_back({0, offset});
  solution->method = std::move(packing.method);
  solution->lower_bound = std::max(solution->lower_bound, packing.lower_bound);
  if (packing.peak > capacity) {
    return out_of_capacity(problem, *solution, solution->lower_bound > capacity);
  }
  if (!problem.pools.empty()) solution->pools[0].lower_bound = solution->lower_bound;
  solution->optimal = packing.peak == solution->lower_bound;
  return absl::OkStatus();
}

absl::Status plan_several_pools(const Question& question, Effort* effort, Solution* solution) {
  const Problem& problem = question.problem;
  Assignment assignment = assign(problem, question.graph, question.choices, question.bounds,
                                 question.options.goal == Goal::kFitCapacity, effort);
  if (!assignment.found) return out_of_capacity(problem, *solution, assignment.proven);
  solution->placements = std::move(assignment.placements);
  solution->method = std::move(assignment.method);
  for (size_t p = 0; p < solution->pools.size(); ++p) {
    solution->pools[p].lower_bound = assignment.pool_bounds[p];
  }
  solution->optimal =
      assignment.proven || evidently_best(problem, question.choices, question.bounds,
                                          solution->lower_bound, solution->placements);
  return absl::OkStatus();
}

// Fills in the peaks and has the plan checked by what knows nothing of searches.
absl::Status measure_and_validate(const Problem& problem, const Options& options,
                                  Solution* solution) {
  const std::vector<int64_t> peak = peaks(problem, solution->placements);
  for (size_t p = 0; p < peak.size(); ++p) {
    solution->pools[p].peak = peak[p];
    solution->peak += peak[p];
  }
  const absl::Status valid = validate(problem, *solution);
  if (valid.ok() || !options.planner) return valid;
  return absl::InternalError(absl::StrCat("planner ", options.planner_name, ": ", valid.message()));
}

absl::Status plan_with_graph(const Problem& problem, const Options& options, Effort* effort,
                             Solution* solution) {
  const ConflictGraph graph(problem);
  const PoolChoices choices = pool_choices(problem);
  PETREL_RETURN_IF_ERROR(check_fixed(problem, graph, choices));
  const BoundFinder bounds(problem, graph);
  solution->lower_bound = bounds.bound({});
  if (solution->lower_bound > total_capacity(problem)) {
    return out_of_capacity(problem, *solution, true);
  }
  const Question question{problem, options, graph, choices, bounds};
  if (options.planner) return plan_elsewhere(question, solution);
  if (problem.pools.size() <= 1) return plan_one_pool(question, effort, solution);
  return plan_several_pools(question, effort, solution);
}

absl::Status plan_without_graph(const Problem& problem, const Options& options, Effort* effort,
                                Solution* solution) {
  const Neighbours neighbours(problem);
  const PoolChoices choices = pool_choices(problem);
  PETREL_RETURN_IF_ERROR(check_fixed(problem, neighbours, choices));
  solution->lower_bound = crowded_bound(problem, {});
  if (solution->lower_bound > total_capacity(problem)) {
    return out_of_capacity(problem, *solution, true);
  }
  if (options.planner) {
    PETREL_RETURN_IF_ERROR(take_placements(problem, options, solution));
  } else {
    CrowdedPlan found =
        plan_crowded(problem, neighbours, choices, options.goal == Goal::kFitCapacity, effort);
    if (found.placements.empty()) return out_of_capacity(problem, *solution, false);
    solution->placements = std::move(found.placements);
    solution->method = std::move(found.method);
  }
  set_pool_bounds(problem, crowded_bound, solution);
  const std::vector<int64_t> peak = peaks(problem, solution->placements);
  solution->optimal = peak.size() == 1 && peak[0] == solution->lower_bound;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Solution> plan(const Problem& problem, const Options& options) {
  Effort effort(options.node_budget, options.budget_ms, options.clock);
  PETREL_RETURN_IF_ERROR(check_problem(problem));
  const int64_t pairs = ConflictGraph::count_pairs(problem);
  if (pairs > kMaxCrowdedPairs) {
    return absl::ResourceExhaustedError(absl::StrCat(
        pairs, " pairs of buffers are needed at the same time, the limit is ", kMaxCrowdedPairs));
  }
  Solution solution;
  solution.pools.resize(problem.pools.size());
  PETREL_RETURN_IF_ERROR(pairs > ConflictGraph::kMaxPairs
                             ? plan_without_graph(problem, options, &effort, &solution)
                             : plan_with_graph(problem, options, &effort, &solution));
  solution.nodes = effort.nodes();
  PETREL_RETURN_IF_ERROR(measure_and_validate(problem, options, &solution));
  solution.seconds = effort.seconds();
  return solution;
}

}  // namespace petrel::exir::plan
