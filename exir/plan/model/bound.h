// SPDX-License-Identifier: Apache-2.0
//
// Lower bounds: no plan of a pool can be smaller. The bound is the largest
// over time of what the buffers alive together need at least:
//
// * the sum of their sizes; where all begin at multiples of some g, all but
//   the topmost of each pool count rounded up to g;
// * less what permitted overlaps may save (non-conflicts: the smaller buffer),
//   or else the sum over a subset in which no pair may meet, if larger. Each pair of those that
//   may meet others is looked at; where there are too many, those others count alone.
//
// A fixed buffer also forces the peak beyond its end.
//
//   BoundFinder finder(problem, graph);
//   int64_t bound = finder.bound({});           // of the sum of all peaks
//   int64_t part = finder.bound(in_this_pool);  // one flag per buffer

#ifndef PETREL_EXIR_PLAN_MODEL_BOUND_H_
#define PETREL_EXIR_PLAN_MODEL_BOUND_H_

#include <cstdint>
#include <vector>

#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {

class BoundFinder {
 public:
  // Keeps references to both.
  BoundFinder(const Problem& problem, const ConflictGraph& graph);

  // For the buffers whose flag is set; an empty vector means all of them.
  int64_t bound(const std::vector<char>& chosen) const;

 private:
  int64_t section_bound(const std::vector<int32_t>& members) const;
  // Adds to `firm` some of `yielding` of which no two may meet; `apart` says of each two whether.
  void add_those_apart(const std::vector<int32_t>& yielding, const std::vector<char>& apart,
                       std::vector<int32_t>* firm) const;
  int64_t stacked(const std::vector<int32_t>& members) const;
  int64_t shared(const Stretch& a, const Stretch& b) const;

  const Problem& problem_;
  const ConflictGraph& graph_;
  std::vector<Stretch> stretches_;
  std::vector<std::vector<int32_t>> sections_;
  std::vector<char> yields_;  // buffer has a pair that may meet
  // Of them, over the life of the finder: some seconds.
  mutable int64_t pairs_left_ = int64_t{1} << 27;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_BOUND_H_
