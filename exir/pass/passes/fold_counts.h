// SPDX-License-Identifier: Apache-2.0
//
// What folding into weights has taken of a graph.
//
// A folded weight is made of the one before it whenever it is read, each a call within the
// other that holds bytes of its own; so a weight takes few nodes, a large one fewer, and what
// comes after stays a node. A few bytes of an archive fold one weight into another of its
// size; so all that is made has few bytes together.
//
//   FoldCounts counts(graph);
//   if (!counts.takes_more(*old->constant())) return false;
//   if (!counts.take(FoldCounts::bytes_beside(*old))) return false;
//   counts.note(*old->constant(), *made->constant());
#ifndef PETREL_EXIR_PASS_PASSES_FOLD_COUNTS_H_
#define PETREL_EXIR_PASS_PASSES_FOLD_COUNTS_H_

#include <cstddef>
#include <map>

#include "exir/ir/constant.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Bytes of all that is folded, and four times those of the different constants that there are:
// a few bytes of an archive make one weight of a megabyte into another of its size.
inline constexpr double kMostFoldedBytes = 0x1p28;

class FoldCounts {
 public:
  // Nodes that go into a weight: so many at most, and beyond the few that networks have only
  // where the weights in between have no more bytes than that.
  static constexpr size_t kMost = 64;
  static constexpr size_t kFew = 4;
  static constexpr size_t kMostNested = size_t{256} << 20;

  explicit FoldCounts(const Graph& graph, double most_bytes = kMostFoldedBytes)
      : graph_(graph), bytes_left_(most_bytes) {}

  size_t of(const Constant& weight) const;
  bool takes_more(const Constant& weight) const;
  // `made` has taken what `before` has, and one node.
  void note(const Constant& before, const Constant& made);

  // Whether so many bytes more may be kept; then they are taken. Constants are read for it
  // only where there are many.
  bool take(double bytes);

  // What another constant of this size adds: nothing where it comes in the place of one that
  // nothing else needs.
  static double bytes_beside(const Value& constant);

 private:
  double bytes_of_constants() const;

  const Graph& graph_;
  double bytes_left_;
  bool has_counted_ = false;  // the graph's own constants, for bytes_left_
  std::map<const Constant*, size_t> counts_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_FOLD_COUNTS_H_
