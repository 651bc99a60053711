// SPDX-License-Identifier: Apache-2.0
//
// Blocks: full rows on both sides of an instant.
//
//        before | after
//      +--------|--------+
//      |     stayed      |      What was born has exactly the addresses of
//      +--------+--------+  p+S what died. In each hole-free stretch of these
//      |   d    |        |      both sides have equally many bytes; if no
//      +--------+   b    |      subset of `died` is as large as a subset of
//      |   e    |--------+      `born`, there is but one stretch [p, p + S),
//      |        |   c    |      and what stayed is wholly below or above it.
//      +--------+--------+  p
//      |     stayed      |

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "exir/plan/search/search.h"

namespace petrel::exir::plan {
namespace {

// Sums of all subsets but none and the whole, in order.
constexpr size_t kMaxMembers = 16;

std::vector<int64_t> sums_of_parts(const std::vector<BufferIdx>& buffers,
                                   const std::vector<int64_t>& size) {
  std::vector<int64_t> sums = {0};
  for (const BufferIdx b : buffers) {
    const size_t count = sums.size();
    for (size_t i = 0; i < count; ++i) sums.push_back(sums[i] + size[b]);
  }
  sums.erase(sums.begin());  // of none
  sums.pop_back();           // of all
  std::sort(sums.begin(), sums.end());
  return sums;
}

bool share_an_element(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  size_t j = 0;
  for (const int64_t value : a) {
    while (j < b.size() && b[j] < value) ++j;
    if (j < b.size() && b[j] == value) return true;
  }
  return false;
}

}  // namespace

void Search::find_blocks() {
  const auto is_whole = [&](int32_t row) {
    return std::all_of(members_[row].begin(), members_[row].end(),
                       [&](const Member& m) { return m.low == 0 && m.high == size_[m.buffer]; });
  };
  for (Boundary& boundary : boundaries_) {
    // A single buffer has no subsets.
    const bool single = boundary.died.size() == 1 || boundary.born.size() == 1;
    if (boundary.after != boundary.before + 1 || boundary.died.empty() || boundary.born.empty() ||
        (!single && (boundary.died.size() > kMaxMembers || boundary.born.size() > kMaxMembers)) ||
        !is_whole(boundary.before) || !is_whole(boundary.after)) {
      continue;
    }
    int64_t difference = 0;
    for (const BufferIdx b : boundary.died) difference += size_[b];
    for (const BufferIdx b : boundary.born) difference -= size_[b];
    if (difference != 0 || (!single && share_an_element(sums_of_parts(boundary.died, size_),
                                                        sums_of_parts(boundary.born, size_)))) {
      continue;
    }
    boundary.one_block = true;
    for (const Member& m : members_[boundary.before]) {
      if (std::find(boundary.died.begin(), boundary.died.end(), m.buffer) == boundary.died.end()) {
        boundary.stayed.push_back(m.buffer);
      }
    }
  }
}

bool Search::propagate_block(const Boundary& boundary) {
  if (!boundary.one_block || total_[boundary.before] != capacity_ ||
      total_[boundary.after] != capacity_) {
    return true;
  }
  const auto lowest_of = [&](BufferIdx b) {
    return states_[b].placed ? offsets_[b] : states_[b].lowest;
  };
  const auto highest_of = [&](BufferIdx b) {
    return states_[b].placed ? offsets_[b] : states_[b].highest;
  };
  const auto add_why = [&](BufferIdx b, Reason* reason) {
    reason->add(states_[b].placed ? place_why_[b] : why_[b]);
  };
  visited_ += static_cast<int64_t>(2 * boundary.died.size() + 2 * boundary.born.size() +
                                   boundary.stayed.size());
  // The block begins in [lowest, highest].
  int64_t bytes = 0;
  for (const BufferIdx b : boundary.died) bytes += size_[b];
  int64_t lowest = 0;
  int64_t highest = capacity_ - bytes;
  for (const std::vector<BufferIdx>* side : {&boundary.died, &boundary.born}) {
    for (const BufferIdx b : *side) {
      lowest = std::max(lowest, lowest_of(b) + size_[b] - bytes);
      highest = std::min(highest, highest_of(b));
    }
  }
  bool known = false;
  Reason reason;
  const auto know = [&] {
    if (known) return;
    known = true;
    for (const std::vector<BufferIdx>* side : {&boundary.died, &boundary.born}) {
      for (const BufferIdx b : *side) add_why(b, &reason);
    }
  };
  if (lowest > highest) {
    know();
    return fail(reason);
  }
  for (const std::vector<BufferIdx>* side : {&boundary.died, &boundary.born}) {
    for (const BufferIdx b : *side) {
      const int64_t last = highest + bytes - size_[b];
      if (lowest_of(b) >= lowest && highest_of(b) <= last) continue;
      know();
      if (states_[b].placed) return fail(reason);
      if (!raise(b, lowest, reason) || !cap(b, last, reason)) return false;
    }
  }
  for (const BufferIdx b : boundary.stayed) {
    const bool can_be_below = lowest_of(b) + size_[b] <= highest;
    const bool can_be_above = highest_of(b) >= lowest + bytes;
    if (can_be_below && can_be_above) continue;
    if (can_be_below ? highest_of(b) + size_[b] <= highest
                     : can_be_above && lowest_of(b) >= lowest + bytes) {
      continue;
    }
    know();
    Reason both = reason;
    add_why(b, &both);
    if ((!can_be_below && !can_be_above) || states_[b].placed) {
      return fail(both);
    }
    if (!(can_be_below ? cap(b, highest - size_[b], both) : raise(b, lowest + bytes, both))) {
      return false;
    }
  }
  return true;
}

}  // namespace petrel::exir::plan
