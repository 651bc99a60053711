// SPDX-License-Identifier: Apache-2.0
//
// What follows at a boundary between two rows: what was born there takes the
// addresses of what died there, and those that were free before.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "exir/plan/search/search.h"

namespace petrel::exir::plan {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

}  // namespace

// Each of `buffers` takes addresses of `space`, but for at most `free` bytes.
// It ends no earlier than so many bytes of `space` can be stacked from below,
// and begins no more than the free bytes below the lowest; likewise from above.
bool Search::confine(const std::vector<BufferIdx>& buffers, const std::vector<BufferIdx>& space,
                     int64_t free) {
  const auto least_of = [&](BufferIdx b) {
    return states_[b].placed ? offsets_[b] : states_[b].lowest;
  };
  const auto most_of = [&](BufferIdx b) {
    return (states_[b].placed ? offsets_[b] : states_[b].highest) + size_[b];
  };
  const auto fits_free = [&](BufferIdx b) { return size_[b] <= free; };
  if (std::all_of(buffers.begin(), buffers.end(), fits_free)) return true;
  visited_ += static_cast<int64_t>(buffers.size() + 4 * space.size());
  from_below_.clear();
  from_above_.clear();
  for (const BufferIdx d : space) {
    from_below_.emplace_back(least_of(d), size_[d]);
    from_above_.emplace_back(-most_of(d), size_[d]);
  }
  std::sort(from_below_.begin(), from_below_.end());
  std::sort(from_above_.begin(), from_above_.end());

  bool known = false;
  Reason reason;
  for (const BufferIdx b : buffers) {
    if (fits_free(b)) continue;
    int64_t end = 0;
    int64_t missing = size_[b] - free;
    for (const auto& [begin, size] : from_below_) {
      end = std::max(end, begin) + std::min(size, missing);
      missing -= std::min(size, missing);
      if (missing == 0) break;
    }
    const int64_t lowest = std::max(end - size_[b], from_below_.front().first - free);

    int64_t begin = kNever;
    missing = size_[b] - free;
    for (const auto& [negative_end, size] : from_above_) {
      begin = std::min(begin, -negative_end) - std::min(size, missing);
      missing -= std::min(size, missing);
      if (missing == 0) break;
    }
    const int64_t highest = std::min(begin, -from_above_.front().first + free - size_[b]);

    if (least_of(b) >= lowest && most_of(b) <= highest + size_[b]) continue;
    if (!known) {
      known = true;
      for (const BufferIdx d : space) {
        reason.add(states_[d].placed ? place_why_[d] : why_[d]);
      }
    }
    if (states_[b].placed) {
      reason.add(place_why_[b]);
      return fail(reason);
    }
    if (!raise(b, lowest, reason) || !cap(b, highest, reason)) return false;
  }
  return true;
}

bool Search::propagate_boundary(int32_t index) {
  const Boundary& boundary = boundaries_[index];
  if (boundary.died.empty() || boundary.born.empty()) return true;
  if (boundary.before < scope_.first || boundary.after >= scope_.second) return true;
  if (!confine(boundary.born, boundary.died, capacity_ - total_[boundary.before]) ||
      !confine(boundary.died, boundary.born, capacity_ - total_[boundary.after]) ||
      !propagate_block(boundary)) {
    failures_[boundary.before] += 1;
    failures_[boundary.after] += 1;
    return false;
  }
  return true;
}

}  // namespace petrel::exir::plan
