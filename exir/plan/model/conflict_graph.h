// SPDX-License-Identifier: Apache-2.0
//
// Which buffers may not share addresses: the edges of all of them (edge.h), stored from both
// ends, negated.

#ifndef PETREL_EXIR_PLAN_MODEL_CONFLICT_GRAPH_H_
#define PETREL_EXIR_PLAN_MODEL_CONFLICT_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "exir/plan/model/edge.h"
#include "exir/plan/model/problem.h"

namespace petrel::exir::plan {

class ConflictGraph {
 public:
  // Pairs of stretches that are there at the same time, and conflicts: the graph takes
  // 48 bytes for each. Preconditions as for the graph, which plan() makes of no more than
  // this, or 100 MB; larger problems are planned without one (crowded_plan.h).
  static int64_t count_pairs(const Problem& problem);
  static constexpr int64_t kMaxPairs = int64_t{1} << 21;

  // The problem must have passed check_problem().
  explicit ConflictGraph(const Problem& problem);

  // What is left of `whole` among `members`, whose i-th becomes buffer i.
  // Must be in ascending order.
  ConflictGraph(const ConflictGraph& whole, const std::vector<BufferIdx>& members);

  // In ascending order of `other`.
  const Edge* begin(BufferIdx buffer) const { return edges_ + first_[buffer]; }
  const Edge* end(BufferIdx buffer) const { return edges_ + first_[buffer + 1]; }
  int64_t degree(BufferIdx buffer) const { return first_[buffer + 1] - first_[buffer]; }
  // As EdgesOf.
  absl::Span<const Edge> operator()(BufferIdx buffer) const {
    return {begin(buffer), static_cast<size_t>(degree(buffer))};
  }
  // The edge between two buffers, or null.
  const Edge* find(BufferIdx buffer, BufferIdx other) const;

  int64_t num_edges() const { return static_cast<int64_t>(lists_->edges.size()); }

  // False when windows within gaps forbid several separate ranges for some
  // pair; the edge then covers them all, plans stay valid, but what search
  // finds impossible is not proven to be.
  bool exact() const { return exact_; }

  // Whether pairs conflict for other reasons than their lifetimes.
  bool has_extra() const { return has_extra_; }

 private:
  // Never changed once built, so that copies of a graph can share them: there
  // can be tens of millions of edges.
  struct Lists {
    std::vector<int64_t> first;  // of each buffer, and the end
    std::vector<Edge> edges;
  };
  void keep(Lists lists);

  std::shared_ptr<const Lists> lists_;
  const int64_t* first_ = nullptr;  // in lists_
  const Edge* edges_ = nullptr;
  bool exact_ = true;
  bool has_extra_ = false;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_CONFLICT_GRAPH_H_
