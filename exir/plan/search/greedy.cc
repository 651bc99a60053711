// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/greedy.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace petrel::exir::plan {
namespace {

// Conflicts looked at between two looks at the clock: some tens of
// microseconds.
constexpr int64_t kConflictsPerLook = 1024;

// Counts conflicts and looks at the clock now and then.
class Watch {
 public:
  explicit Watch(Effort* effort) : effort_(effort) {}
  bool late(int64_t conflicts) {
    if (effort_ == nullptr) return false;
    left_ -= 1 + conflicts;
    if (left_ > 0) return false;
    left_ = kConflictsPerLook;
    return effort_->late();
  }

 private:
  Effort* effort_;
  int64_t left_ = kConflictsPerLook;
};

int64_t align_up(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Offsets strictly between low and high are taken.
using Taken = std::pair<int64_t, int64_t>;

void collect_taken(absl::Span<const Edge> edges, const std::vector<Placement>& placements,
                   const std::vector<char>& placed, PoolIdx pool, std::vector<Taken>* taken) {
  taken->clear();
  for (const Edge& edge : edges) {
    if (!placed[edge.other] || placements[edge.other].pool != pool) continue;
    const int64_t other = placements[edge.other].offset;
    taken->emplace_back(other - edge.high, other - edge.low);
  }
  std::sort(taken->begin(), taken->end());
}

int64_t fit_among(const std::vector<Taken>& taken, int64_t alignment, int64_t from, bool best) {
  int64_t offset = align_up(from, alignment);
  int64_t tightest = -1;
  int64_t tightest_slack = 0;
  for (const auto& [low, high] : taken) {
    if (offset <= low) {
      if (!best) return offset;
      const int64_t slack = low - offset;
      if (tightest < 0 || slack < tightest_slack) {
        tightest = offset;
        tightest_slack = slack;
      }
    }
    if (offset < high) offset = align_up(high, alignment);
  }
  return tightest >= 0 ? tightest : offset;
}

int64_t limit_of(const Pool& pool, bool preferred) {
  const int64_t hard = pool.capacity.value_or(kMaxBytes);
  return preferred ? std::min(hard, pool.preferred_capacity.value_or(hard)) : hard;
}

bool place_lowest_first(const Problem& problem, EdgesOf edges_of, PoolIdx pool,
                        const std::vector<BufferIdx>& order, Effort* effort,
                        std::vector<Placement>* placements) {
  Watch watch(effort);
  const int64_t limit = limit_of(problem.pools[pool], false);
  std::vector<int32_t> rank(problem.buffers.size(), -1);
  std::vector<int64_t> lowest(problem.buffers.size(), 0);
  using Entry = std::tuple<int64_t, int32_t>;  // offset, rank
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = static_cast<int32_t>(i);
    queue.push({0, static_cast<int32_t>(i)});
  }
  while (!queue.empty()) {
    const auto [offset, r] = queue.top();
    queue.pop();
    const BufferIdx b = order[r];
    if (rank[b] < 0 || offset != lowest[b]) continue;  // placed, or outdated
    const absl::Span<const Edge> edges = edges_of(b);
    if (watch.late(static_cast<int64_t>(edges.size()))) return false;
    if (offset + problem.buffers[b].size > limit) return false;
    (*placements)[b] = {pool, offset};
    rank[b] = -1;
    for (const Edge& edge : edges) {
      if (rank[edge.other] < 0) continue;
      const int64_t above =
          align_up(std::max<int64_t>(offset + edge.high, 0), problem.buffers[edge.other].alignment);
      if (above > lowest[edge.other]) {
        lowest[edge.other] = above;
        queue.push({above, rank[edge.other]});
      }
    }
  }
  return true;
}

}  // namespace

PoolChoices pool_choices(const Problem& problem) {
  PoolChoices choices(problem.buffers.size());
  for (size_t i = 0; i < choices.size(); ++i) {
    choices[i] = problem.buffers[i].pools;
    if (!choices[i].empty()) continue;
    for (size_t p = 0; p < problem.pools.size(); ++p) {
      choices[i].push_back(static_cast<PoolIdx>(p));
    }
  }
  return choices;
}

bool place_in_order(const Problem& problem, EdgesOf edges_of, const PoolChoices& choices,
                    const std::vector<BufferIdx>& order, Fit fit, Effort* effort,
                    std::vector<Placement>* placements, BufferIdx* failed) {
  if (order.empty()) return true;
  if (fit == Fit::kLowest) {
    return place_lowest_first(problem, edges_of, choices[order[0]][0], order, effort, placements);
  }
  std::vector<char> placed(problem.buffers.size(), 0);
  std::vector<Taken> taken;
  Watch watch(effort);
  for (const BufferIdx b : order) {
    const absl::Span<const Edge> edges = edges_of(b);
    if (watch.late(static_cast<int64_t>(edges.size()))) return false;
    const Buffer& buffer = problem.buffers[b];
    for (const bool preferred : {true, false}) {
      for (const PoolIdx pool : choices[b]) {
        collect_taken(edges, *placements, placed, pool, &taken);
        int64_t offset = 0;
        if (buffer.offset.has_value()) {
          offset = *buffer.offset;
          const bool collides = std::any_of(taken.begin(), taken.end(), [&](const Taken& t) {
            return t.first < offset && offset < t.second;
          });
          if (collides) continue;
        } else {
          offset = fit_among(taken, buffer.alignment, 0, fit == Fit::kBest);
        }
        if (offset + buffer.size > limit_of(problem.pools[pool], preferred)) {
          continue;
        }
        (*placements)[b] = {pool, offset};
        placed[b] = 1;
        break;
      }
      if (placed[b]) break;
    }
    if (!placed[b]) {
      if (failed != nullptr) *failed = b;
      return false;
    }
  }
  return true;
}

}  // namespace petrel::exir::plan
