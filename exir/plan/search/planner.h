// SPDX-License-Identifier: Apache-2.0
//
// Plans memory: finds an offset for every buffer such that no two that are
// needed at the same time share an address and the pools stay small.
//
// The way to an answer, each step taken only when the one before did not reach
// the lower bound:
//
//   bounds -> orderings x {first, best, lowest fit} x {forward, mirrored} ->
//   a little local search -> exact search per independent component
//
// With several pools, buffers are first assigned to them (assignment.h).
//
// Of several plans the better one has, in this order: less beyond preferred
// capacities; lower cost (sum of access_count * cost_per_access); smaller peak
// in pools without a hard capacity; fewer bytes away from the buffers' first
// choices; smaller sum of peaks. With one pool that is: the smaller peak.
//
// Every answer has passed validate(). An answer is a function of the problem
// and the options alone unless `budget_ms` cut the search; it is never worse
// than the best of the orderings, all of which are tried but for problems of so
// many conflicts that this would take minutes or hundreds of megabytes
// (crowded_plan.h).

#ifndef PETREL_EXIR_PLAN_SEARCH_PLANNER_H_
#define PETREL_EXIR_PLAN_SEARCH_PLANNER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"

namespace petrel::exir::plan {

enum class Goal {
  kSmallestPeak,  // search until the peak is proven or a budget is spent
  kFitCapacity,   // stop at the first plan within all hard capacities
};

struct Options;

// Another planner: a place for every buffer, in order. Need not check anything
// of its own: plan() validates what it gets and computes peaks and bounds.
using PlacementFn =
    std::function<absl::StatusOr<std::vector<Placement>>(const Problem&, const Options&)>;

struct Options {
  Goal goal = Goal::kSmallestPeak;
  // Steps of search, about a microsecond each; bounds the effort in a
  // reproducible way. 0: orderings only.
  int64_t node_budget = 2'000'000;
  // Wall clock; 0: no limit. Cuts whatever goes on then, once there is a plan.
  int64_t budget_ms = 0;
  // Seconds from any moment on; the machine's steady clock if empty.
  std::function<double()> clock;
  // With kFitCapacity and one pool: steps spent on a smaller peak once the
  // capacity is met.
  int64_t nodes_after_fit = 0;
  // Used instead of the search when set (planner_registry.h has some);
  // `planner_name` is what errors and reports call it.
  PlacementFn planner;
  std::string planner_name;
};

// Errors: InvalidArgument for a malformed problem; FailedPrecondition when it
// is proven that hard capacities cannot be met; ResourceExhausted when no plan
// within them was found in the budget, which proves nothing; Internal when
// `planner` gives an invalid plan; what `planner` fails with.
absl::StatusOr<Solution> plan(const Problem& problem, const Options& options = Options());

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_PLANNER_H_
