// SPDX-License-Identifier: Apache-2.0
//
// How many nodes went into each weight. A folded weight is made of the one before it whenever
// it is read, each a call within the other, and has a longer name; so a weight takes few, and
// what comes after stays a node.
//
//   FoldCounts counts;
//   if (!counts.takes_more(*old)) return false;
//   counts.note(*old, *made);
#ifndef PETREL_EXIR_PASS_PASSES_FOLD_COUNTS_H_
#define PETREL_EXIR_PASS_PASSES_FOLD_COUNTS_H_

#include <algorithm>
#include <map>

#include "exir/ir/constant.h"

namespace petrel::exir {

class FoldCounts {
 public:
  static constexpr int kMost = 64;

  int of(const Constant& weight) const {
    const auto found = counts_.find(&weight);
    return found == counts_.end() ? 0 : found->second;
  }
  bool takes_more(const Constant& weight) const { return of(weight) < kMost; }
  // `made` has taken what `before` has, and one node.
  void note(const Constant& before, const Constant& made) {
    counts_[&made] = std::max(of(made), of(before) + 1);
  }

 private:
  std::map<const Constant*, int> counts_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_FOLD_COUNTS_H_
