// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/local_search.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "exir/plan/search/greedy.h"
#include "exir/plan/search/random.h"

namespace petrel::exir::plan {
namespace {

int64_t peak_of(const Problem& problem, const std::vector<Placement>& places) {
  int64_t peak = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    peak = std::max(peak, places[i].offset + problem.buffers[i].size);
  }
  return peak;
}

}  // namespace

void local_search(const Problem& problem, const ConflictGraph& graph, int64_t goal, int64_t rounds,
                  Effort* effort, ComponentPlan* plan) {
  // One round looks at every pair in conflict, tens of them a microsecond.
  const int64_t price = 1 + (static_cast<int64_t>(problem.buffers.size()) + graph.num_edges()) / 32;
  const PoolChoices choices = pool_choices(problem);
  std::vector<BufferIdx> order;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    order.push_back(static_cast<BufferIdx>(i));
  }
  // Placing by first fit from below can only let buffers sink.
  std::stable_sort(order.begin(), order.end(), [&](BufferIdx a, BufferIdx b) {
    const bool a_fixed = problem.buffers[a].offset.has_value();
    const bool b_fixed = problem.buffers[b].offset.has_value();
    if (a_fixed != b_fixed) return a_fixed;
    return plan->offsets[a] < plan->offsets[b];
  });
  size_t num_fixed = 0;
  while (num_fixed < order.size() && problem.buffers[order[num_fixed]].offset.has_value()) {
    ++num_fixed;
  }
  if (num_fixed == order.size()) return;

  Random random(0x70657472656cu);
  std::vector<Placement> places(order.size());
  int64_t current = plan->peak;
  std::vector<int64_t> offsets = plan->offsets;
  std::vector<BufferIdx> changed;
  for (; plan->peak > goal && rounds > 0; --rounds) {
    if (!effort->spend(price)) return;
    std::vector<size_t> top;  // positions of buffers that set the peak
    for (size_t i = num_fixed; i < order.size(); ++i) {
      if (offsets[order[i]] + problem.buffers[order[i]].size == current) {
        top.push_back(i);
      }
    }
    if (top.empty()) return;  // a fixed buffer sets it
    const size_t from = top[static_cast<size_t>(random.below(static_cast<int64_t>(top.size())))];
    const auto room = static_cast<int64_t>(from - num_fixed);
    const size_t to = num_fixed + static_cast<size_t>(random.below(room + 1));
    changed = order;
    std::rotate(changed.begin() + static_cast<int64_t>(to),
                changed.begin() + static_cast<int64_t>(from),
                changed.begin() + static_cast<int64_t>(from) + 1);
    if (!place_in_order(problem, graph, choices, changed, Fit::kFirst, effort, &places)) {
      continue;
    }
    const int64_t peak = peak_of(problem, places);
    if (peak > current) continue;
    current = peak;
    order = changed;
    for (size_t i = 0; i < places.size(); ++i) offsets[i] = places[i].offset;
    if (peak < plan->peak) {
      plan->peak = peak;
      plan->offsets = offsets;
      plan->method = "local search";
    }
  }
}

}  // namespace petrel::exir::plan
