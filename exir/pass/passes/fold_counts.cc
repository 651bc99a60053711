// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/fold_counts.h"

#include <algorithm>
#include <set>

namespace petrel::exir {
// Of equal constants one counts: an archive may name the same bytes often. What was made counts
// for nothing.
double FoldCounts::bytes_of_constants() const {
  std::set<Sha256> seen;
  double bytes = 0;
  for (const Value* value : graph_.constants()) {
    if (of(*value->constant()) > 0) continue;
    const Blob& data = value->constant()->data;
    if (seen.insert(data.sha256()).second) bytes += static_cast<double>(data.size());
  }
  return bytes;
}

size_t FoldCounts::of(const Constant& weight) const {
  const auto found = counts_.find(&weight);
  return found == counts_.end() ? 0 : found->second;
}

bool FoldCounts::takes_more(const Constant& weight) const {
  const size_t nodes = of(weight) + 1;
  return nodes <= kFew || (nodes <= kMost && weight.data.size() <= kMostNested / nodes);
}

void FoldCounts::note(const Constant& before, const Constant& made) {
  counts_[&made] = std::max(of(made), of(before) + 1);
}

bool FoldCounts::take(double bytes) {
  if (bytes > bytes_left_ && !has_counted_) {
    has_counted_ = true;
    bytes_left_ += 4 * bytes_of_constants();
  }
  if (bytes > bytes_left_) return false;
  bytes_left_ -= bytes;
  return true;
}

double FoldCounts::bytes_beside(const Value& constant) {
  return constant.has_single_user() ? 0 : static_cast<double>(constant.constant()->data.size());
}

}  // namespace petrel::exir
