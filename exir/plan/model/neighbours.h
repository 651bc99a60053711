// SPDX-License-Identifier: Apache-2.0
//
// The conflicts of one buffer at a time, as edges of a conflict graph, found when they are
// asked for: memory for the buffers, not for their pairs. A tree over the stretches of
// lifetimes, in order of their begins, has the latest end below each node, so that those
// which ended before are not looked at:
//
//   stretches  a [0, 9)  b [1, 2)  c [2, 4)  d [5, 6)       who is alive in [5, 6)?
//   ends             9             |       6                 c and b: neither is asked
//                                                            once their node says 4
//
//   const Neighbours neighbours(problem);
//   for (const Edge& edge : neighbours(buffer)) { ... }

#ifndef PETREL_EXIR_PLAN_MODEL_NEIGHBOURS_H_
#define PETREL_EXIR_PLAN_MODEL_NEIGHBOURS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "exir/plan/model/edge.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {

class Neighbours {
 public:
  // The problem must have passed check_problem(). Keeps a reference to it.
  explicit Neighbours(const Problem& problem);

  // In ascending order of `other`; valid until the next call.
  absl::Span<const Edge> operator()(BufferIdx buffer) const;

  // Whether all edges given so far forbid no more than they must (ConflictGraph::exact()).
  bool exact() const { return exact_; }

 private:
  // What a pair says of `to`, seen from `from`, besides their lifetimes.
  struct Exception {
    BufferIdx from = 0;
    BufferIdx to = 0;
    enum class Kind { kConflict, kMayMeet, kHighAtMost, kLowAtLeast } kind = Kind::kConflict;
    int64_t distance = 0;
  };

  void add_alive(size_t node, size_t first, size_t last, const Stretch& stretch) const;
  void apply(const Exception& exception) const;
  void merge() const;

  const Problem& problem_;
  std::vector<Stretch> stretches_;
  std::vector<int64_t> latest_end_;    // of each node of the tree; node n has 2n and 2n + 1
  size_t num_leaves_ = 1;              // a power of two
  std::vector<int32_t> of_buffer_;     // stretches in order of their buffers
  std::vector<int64_t> first_of_;      // of each buffer in of_buffer_, and the end
  std::vector<Exception> exceptions_;  // in order of `from`
  mutable std::vector<Edge> edges_;
  mutable bool exact_ = true;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_NEIGHBOURS_H_
