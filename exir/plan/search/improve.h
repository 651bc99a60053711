// SPDX-License-Identifier: Apache-2.0
//
// Lowers the peak of a connected set of buffers by exact search, from the best
// of the orderings down to the bound:
//
//   peak so far  ---+   3. what lies between, in ever longer tries
//                   |
//       middle   ---+   2. halve the distance while short tries succeed
//                   |
//       goal     ---+   1. often within reach at once, and then proven
//
// Three players take turns, of 400,000 steps at first: a Descent forward in
// time, one backward, and, where nothing is free at the goal, a Reassembler,
// which comes first when it has much fewer items than there are buffers. Local
// search takes over what is too large to search.

#ifndef PETREL_EXIR_PLAN_SEARCH_IMPROVE_H_
#define PETREL_EXIR_PLAN_SEARCH_IMPROVE_H_

#include <cstdint>

#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/search/effort.h"
#include "exir/plan/search/component_plan.h"

namespace petrel::exir::plan {

// Stops at a peak of `goal` or the lower bound, whichever is higher; with
// `only_goal` nothing in between is of use. The problem has one pool, the plan
// is complete.
void improve(const Problem& problem, const ConflictGraph& graph, int64_t goal, bool only_goal,
             Effort* effort, ComponentPlan* plan);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_IMPROVE_H_
