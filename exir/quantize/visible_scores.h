// SPDX-License-Identifier: Apache-2.0
//
// What of scores has a part in the softmax that reads them. Masks that are added to scores shut
// out by numbers far below them, or by -inf: levels that showed these would leave none for the
// scores. What lies 16 below the largest of its row has no part in it, wherever it lies.
//
//   %s = add(%x, %mask)      [-1e9, 4]   shown as maximum(%s, the least of amax(%s, dim) - 16)
//   %p = softmax(%s, dim)
//
//   %mask                    [-1e9, 0]   shown as maximum(%mask, the least that makes this of %s)
#ifndef PETREL_EXIR_QUANTIZE_VISIBLE_SCORES_H_
#define PETREL_EXIR_QUANTIZE_VISIBLE_SCORES_H_

#include <map>

#include "absl/status/statusor.h"
#include "exir/pass/framework/builder.h"

namespace petrel::exir {

// Whether nothing but softmaxes reads it: as it is, moved, masked, or in sums.
bool is_score(const Value& value);

// Makes nodes at the end of a graph, which it does not own.
class VisibleScores {
 public:
  explicit VisibleScores(Graph& graph) : builder_(graph, nullptr) {}

  // Of a value that is_score() held for in the graph as it was: its numbers, and the least that
  // counts in the place of those below.
  BuiltValue part_of(Value* score);

 private:
  // The least number of `score` that counts; null where all may.
  BuiltValue least_of(Value* score);
  BuiltValue least_for(Value* score, const Node& reader);
  // What numbers of `sum` must reach to count, for each or for all; null where all may.
  BuiltValue threshold_of(Value* sum);
  BuiltValue row_threshold(Value* score, int64_t dim);
  BuiltValue extreme_of(OpHandle op, Value* x);

  Builder builder_;
  std::map<const Value*, Value*> least_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_VISIBLE_SCORES_H_
