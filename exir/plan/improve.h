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
// A try is a series of short runs of Search, each guided by another ordering
// and by where the runs before failed; a try that refutes its capacity raises
// the lower bound. The directions of time take turns, of 400,000 steps at first:
// what is hard forward is often easy backward. Local search takes over what is
// too large to search.

#ifndef PETREL_EXIR_PLAN_IMPROVE_H_
#define PETREL_EXIR_PLAN_IMPROVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exir/plan/conflict_graph.h"
#include "exir/plan/effort.h"
#include "exir/plan/problem.h"

namespace petrel::exir::plan {

struct PartPlan {
  std::vector<int64_t> offsets;
  int64_t peak = 0;
  int64_t lower_bound = 0;
  std::string method;
};

// Stops at a peak of `goal` or the lower bound, whichever is higher; with
// `only_goal` nothing in between is of use. The problem has one pool, the plan
// is complete.
void improve(const Problem& problem, const ConflictGraph& graph, int64_t goal,
             bool only_goal, Effort* effort, PartPlan* plan);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_IMPROVE_H_
