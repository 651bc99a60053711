// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/crowded_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/plan/model/score.h"
#include "exir/plan/model/timeline.h"
#include "exir/plan/search/ordering.h"

namespace petrel::exir::plan {

CrowdedPlan plan_crowded(const Problem& problem, EdgesOf edges_of, const PoolChoices& choices,
                         bool stop_when_found, Effort* effort) {
  // Of keys that look at the buffer alone.
  const Ordering orderings[] = {{{Key::kSize}, false},
                                {{Key::kWidth, Key::kSize}, false},
                                {{Key::kBegin, Key::kSize}, false},
                                {{Key::kBegin, Key::kSize}, true}};
  std::vector<BufferIdx> all(problem.buffers.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<BufferIdx>(i);
  const int64_t bound = crowded_bound(problem, {});
  CrowdedPlan best;
  Score best_score;
  std::vector<Placement> places(all.size());
  for (const Ordering& ordering : orderings) {
    const bool found = !best.placements.empty();
    if (found && (stop_when_found || best_score.peak == bound || effort->late())) break;
    const std::vector<BufferIdx> order = ordered(problem, edges_of, all, ordering);
    if (!place_in_order(problem, edges_of, choices, order, Fit::kFirst, found ? effort : nullptr,
                        &places)) {
      continue;
    }
    const Score now = score(problem, places);
    if (found && !(now < best_score)) continue;
    best = {places, "first fit by " + name_of(ordering)};
    best_score = now;
  }
  return best;
}

int64_t crowded_bound(const Problem& problem, const std::vector<char>& chosen) {
  std::vector<char> counts = chosen;
  counts.resize(problem.buffers.size(), chosen.empty() ? 1 : 0);
  int64_t bound = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (counts[i] != 0) bound = std::max(bound, buffer.offset.value_or(0) + buffer.size);
  }
  for (const Pair& pair : problem.non_conflicts) counts[pair.first] = counts[pair.second] = 0;
  for (const PermittedOverlap& overlap : problem.overlaps) {
    counts[overlap.lower] = counts[overlap.upper] = 0;
  }
  std::vector<std::pair<int64_t, int64_t>> changes;  // at a time: ends before begins
  for (const Stretch& stretch : stretches_by_begin(problem)) {
    if (counts[stretch.buffer] == 0) continue;
    changes.emplace_back(stretch.time.begin, stretch.high - stretch.low);
    changes.emplace_back(stretch.time.end, stretch.low - stretch.high);
  }
  std::sort(changes.begin(), changes.end());
  int64_t alive = 0;
  for (const auto& [time, bytes] : changes) {
    alive += bytes;
    bound = std::max(bound, alive);
  }
  return bound;
}

}  // namespace petrel::exir::plan
