// SPDX-License-Identifier: Apache-2.0
//
// Plans of problems with so many buffers alive at once that a graph of their pairs would
// take more memory than the file that states them deserves: 5,000 inputs of a program
// have 12 million. A few orderings, and the conflicts of one buffer at a time; no search.
//
//   CrowdedPlan found = plan_crowded(problem, Neighbours(problem), choices, false, &effort);
//   if (found.placements.empty()) ...  // no ordering fits the capacities

#ifndef PETREL_EXIR_PLAN_SEARCH_CROWDED_PLAN_H_
#define PETREL_EXIR_PLAN_SEARCH_CROWDED_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exir/plan/model/edge.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"
#include "exir/plan/search/effort.h"
#include "exir/plan/search/greedy.h"

namespace petrel::exir::plan {

// Some ten seconds for each ordering.
inline constexpr int64_t kMaxCrowdedPairs = int64_t{1} << 27;

struct CrowdedPlan {
  std::vector<Placement> placements;  // empty if no ordering fits
  std::string method;
};

// The best of the orderings; the first that fits with `stop_when_found`, or when the time
// is over. `edges_of` may hold one buffer's edges at a time.
CrowdedPlan plan_crowded(const Problem& problem, EdgesOf edges_of, const PoolChoices& choices,
                         bool stop_when_found, Effort* effort);

// No plan of the flagged buffers, or of all if `chosen` is empty, is smaller: the most bytes
// alive at once of buffers that may meet no other, and where each buffer ends.
int64_t crowded_bound(const Problem& problem, const std::vector<char>& chosen);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_CROWDED_PLAN_H_
