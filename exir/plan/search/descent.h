// SPDX-License-Identifier: Apache-2.0
//
// Lowers a peak by exact search in one direction of time: a series of short
// runs of Search, each guided by another ordering and by where the runs before
// failed. A capacity that is refuted raises the lower bound.
//
//   Descent descent(problem, graph, &effort, &plan);
//   descent.run(goal, /*only_goal=*/false);  // can be called again to go on

#ifndef PETREL_EXIR_PLAN_SEARCH_DESCENT_H_
#define PETREL_EXIR_PLAN_SEARCH_DESCENT_H_

#include <cstdint>
#include <vector>

#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/search/effort.h"
#include "exir/plan/search/component_plan.h"
#include "exir/plan/search/search.h"

namespace petrel::exir::plan {

class Descent {
 public:
  // Keeps references to all of them. The problem has one pool, the plan's peak
  // is what to improve on.
  Descent(const Problem& problem, const ConflictGraph& graph, Effort* effort, ComponentPlan* plan);

  // Then nothing else may be called.
  bool is_too_large() const { return search_.is_too_large(); }

  // Runs at one capacity until it is decided or `nodes` are spent. Keeps what
  // it finds in the plan.
  Search::Outcome attempt(int64_t capacity, int64_t nodes);

  // Spends the effort, or stops when nothing better is of use or exists.
  void run(int64_t goal, bool only_goal);

  // Whether there is nothing left to try.
  bool decided() const { return decided_; }

 private:
  // The largest multiple of the unit that is not larger.
  int64_t floor_of(int64_t capacity) const { return capacity / search_.unit() * search_.unit(); }
  bool done(int64_t goal, bool only_goal) const;
  void keep();

  const Problem& problem_;
  Search search_;
  Effort* effort_;
  ComponentPlan* plan_;
  std::vector<std::vector<double>> priorities_;
  bool begun_ = false;
  bool decided_ = false;
  int64_t patience_ = 0;  // steps of one try
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_DESCENT_H_
