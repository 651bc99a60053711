// SPDX-License-Identifier: Apache-2.0
//
// Chooses a pool for every buffer when there are several.
//
//   1. Every ordering places buffers one after another, each in the first of
//      its pools that still has room; where that fits nowhere, the buffer that
//      did not fit moves to the front, again and again.
//   2. Small changes to the order, kept when the score does not get worse.
//   3. Buffers move to pools that they prefer, as long as these can be packed
//      to hold them.
//   4. Every pool is packed for itself.
//   5. With few enough combinations all are gone through, which proves the
//      answer, or that there is none.

#ifndef PETREL_EXIR_PLAN_SEARCH_ASSIGNMENT_H_
#define PETREL_EXIR_PLAN_SEARCH_ASSIGNMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exir/plan/model/bound.h"
#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"
#include "exir/plan/search/effort.h"
#include "exir/plan/search/greedy.h"

namespace petrel::exir::plan {

struct Assignment {
  bool found = false;   // placements fit all hard capacities
  bool proven = false;  // best of all, or none exists
  std::vector<Placement> placements;
  std::vector<int64_t> pool_bounds;  // of the buffers assigned to each pool
  std::string method;
};

// With `stop_when_found` the first that fits is good enough.
Assignment assign(const Problem& problem, const ConflictGraph& graph, const PoolChoices& choices,
                  const BoundFinder& bounds, bool stop_when_found, Effort* effort);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_ASSIGNMENT_H_
