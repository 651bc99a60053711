// SPDX-License-Identifier: Apache-2.0
//
// The answer of the memory planner: a pool and an offset for every buffer,
// and how good the answer is known to be.
//
// Invariant (what validate() checks): placements[i] belongs to
// Problem::buffers[i], pools[p] to Problem::pools[p], and
// lower_bound <= peak. When `optimal` is true no plan is better.
//
//   for (size_t i = 0; i < problem.buffers.size(); ++i) {
//     use(problem.buffers[i].id, solution.placements[i].offset);
//   }
//   allocate(solution.pools[0].peak);

#ifndef PETREL_EXIR_PLAN_MODEL_SOLUTION_H_
#define PETREL_EXIR_PLAN_MODEL_SOLUTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exir/plan/model/problem.h"

namespace petrel::exir::plan {

struct Placement {
  PoolIdx pool = 0;
  int64_t offset = 0;
};

struct PoolUse {
  int64_t peak = 0;         // highest end of a buffer in this pool
  int64_t lower_bound = 0;  // for the buffers that were assigned to this pool
};

struct Solution {
  std::vector<Placement> placements;
  std::vector<PoolUse> pools;
  int64_t peak = 0;         // sum over all pools
  int64_t lower_bound = 0;  // of `peak`, over all assignments to pools
  bool optimal = false;     // proven; with several pools: of the whole answer
  double seconds = 0;
  int64_t nodes = 0;   // steps of search spent, the unit of node budgets
  std::string method;  // what found the answer, for reports
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_SOLUTION_H_
