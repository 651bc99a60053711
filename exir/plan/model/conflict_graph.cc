// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/conflict_graph.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/plan/model/neighbours.h"
#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {
int64_t ConflictGraph::count_pairs(const Problem& problem) {
  const std::vector<Stretch> stretches = stretches_by_begin(problem);
  std::vector<int64_t> ends;
  for (const Stretch& stretch : stretches) ends.push_back(stretch.time.end);
  std::sort(ends.begin(), ends.end());
  auto pairs = static_cast<int64_t>(problem.conflicts.size());
  size_t gone = 0;
  for (size_t i = 0; i < stretches.size(); ++i) {
    while (gone < ends.size() && ends[gone] <= stretches[i].time.begin) ++gone;
    pairs += static_cast<int64_t>(i - gone);
  }
  return pairs;
}

ConflictGraph::ConflictGraph(const Problem& problem) : has_extra_(!problem.conflicts.empty()) {
  const Neighbours neighbours(problem);
  Lists lists;
  lists.first.reserve(problem.buffers.size() + 1);
  lists.first.push_back(0);
  lists.edges.reserve(static_cast<size_t>(2 * count_pairs(problem)));
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const absl::Span<const Edge> edges = neighbours(static_cast<BufferIdx>(i));
    lists.edges.insert(lists.edges.end(), edges.begin(), edges.end());
    lists.first.push_back(static_cast<int64_t>(lists.edges.size()));
  }
  lists.edges.shrink_to_fit();
  exact_ = neighbours.exact();
  keep(std::move(lists));
}

ConflictGraph::ConflictGraph(const ConflictGraph& whole, const std::vector<BufferIdx>& members)
    : ConflictGraph(whole) {
  if (members.size() + 1 == whole.lists_->first.size()) return;
  Lists lists;
  lists.first.reserve(members.size() + 1);
  lists.first.push_back(0);
  for (const BufferIdx member : members) {
    // Both lists ascend: look for each neighbour from where the last was.
    auto from = members.begin();
    for (const Edge* e = whole.begin(member); e != whole.end(member); ++e) {
      from = std::lower_bound(from, members.end(), e->other);
      if (from == members.end()) break;
      if (*from != e->other) continue;
      lists.edges.push_back({static_cast<BufferIdx>(from - members.begin()), e->low, e->high});
    }
    lists.first.push_back(static_cast<int64_t>(lists.edges.size()));
  }
  keep(std::move(lists));
}

void ConflictGraph::keep(Lists lists) {
  lists_ = std::make_shared<const Lists>(std::move(lists));
  first_ = lists_->first.data();
  edges_ = lists_->edges.data();
}

const Edge* ConflictGraph::find(BufferIdx buffer, BufferIdx other) const {
  const Edge* it =
      std::lower_bound(begin(buffer), end(buffer), other,
                       [](const Edge& edge, BufferIdx key) { return edge.other < key; });
  return it != end(buffer) && it->other == other ? it : nullptr;
}

}  // namespace petrel::exir::plan
