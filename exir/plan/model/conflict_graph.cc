// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/conflict_graph.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {
namespace {

// Calls fn(a, b, low, high) for each forbidden range of offset(b) - offset(a): of buffers
// that are there at the same time, some pairs more than once, and of those in conflict.
template <typename Fn>
void for_each_range(const Problem& problem, const std::vector<Stretch>& stretches, Fn fn) {
  std::vector<const Stretch*> alive;
  for (const Stretch& s : stretches) {
    size_t kept = 0;
    for (const Stretch* t : alive) {
      if (t->time.end <= s.time.begin) continue;
      alive[kept++] = t;
      if (t->buffer != s.buffer) fn(t->buffer, s.buffer, t->low - s.high, t->high - s.low);
    }
    alive.resize(kept);
    alive.push_back(&s);
  }
  for (const Pair& pair : problem.conflicts) {
    const auto [a, b] = pair;
    const int64_t size = problem.buffers[a].size, other = problem.buffers[b].size;
    if (size != 0 && other != 0) fn(a, b, -other, size);
  }
}

// One edge for each neighbour, which covers all ranges of the pair; false if it covers
// more than they do. Returns the end of what is left.
Edge* merge(Edge* begin, Edge* end, bool* exact) {
  std::sort(begin, end, [](const Edge& x, const Edge& y) {
    return x.other != y.other ? x.other < y.other : x.low < y.low;
  });
  Edge* kept = begin;
  for (Edge* edge = begin; edge != end; ++edge) {
    if (kept == begin || kept[-1].other != edge->other) {
      *kept++ = *edge;
      continue;
    }
    // Open ranges that only touch leave their common end allowed.
    if (edge->low >= kept[-1].high) *exact = false;
    kept[-1].high = std::max(kept[-1].high, edge->high);
  }
  return kept;
}

}  // namespace

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

// There can be tens of millions of edges: they are counted first, and then written to
// where they stay.
ConflictGraph::ConflictGraph(const Problem& problem) : has_extra_(!problem.conflicts.empty()) {
  const std::vector<Stretch> stretches = stretches_by_begin(problem);
  Lists lists;
  lists.first.assign(problem.buffers.size() + 1, 0);
  for_each_range(problem, stretches, [&](BufferIdx a, BufferIdx b, int64_t, int64_t) {
    ++lists.first[a + 1];
    ++lists.first[b + 1];
  });
  for (size_t i = 1; i < lists.first.size(); ++i) lists.first[i] += lists.first[i - 1];
  lists.edges.resize(static_cast<size_t>(lists.first.back()));
  std::vector<int64_t> end(lists.first.begin(), lists.first.end() - 1);
  for_each_range(problem, stretches, [&](BufferIdx a, BufferIdx b, int64_t low, int64_t high) {
    lists.edges[end[a]++] = {b, low, high};
    lists.edges[end[b]++] = {a, -high, -low};
  });
  Edge* const edges = lists.edges.data();
  for (size_t i = 0; i < end.size(); ++i) {
    end[i] = merge(edges + lists.first[i], edges + end[i], &exact_) - edges;
  }
  const auto find_edge = [&](BufferIdx from, BufferIdx to) -> Edge* {
    Edge* const edge =
        std::lower_bound(edges + lists.first[from], edges + end[from], to,
                         [](const Edge& one, BufferIdx other) { return one.other < other; });
    return edge != edges + end[from] && edge->other == to ? edge : nullptr;
  };
  for (const PermittedOverlap& overlap : problem.overlaps) {
    Edge* const up = find_edge(overlap.lower, overlap.upper);
    if (up == nullptr) continue;
    const int64_t distance = problem.buffers[overlap.lower].size - overlap.bytes;
    Edge* const down = find_edge(overlap.upper, overlap.lower);
    up->high = std::min(up->high, distance);
    down->low = std::max(down->low, -distance);
  }
  for (const Pair& pair : problem.non_conflicts) {
    for (Edge* edge : {find_edge(pair.first, pair.second), find_edge(pair.second, pair.first)}) {
      if (edge != nullptr) edge->high = edge->low;
    }
  }
  int64_t kept = 0;
  for (size_t i = 0; i < end.size(); ++i) {
    const int64_t begin = std::exchange(lists.first[i], kept);
    for (int64_t at = begin; at < end[i]; ++at) {
      if (edges[at].low < edges[at].high) edges[kept++] = edges[at];
    }
  }
  lists.first.back() = kept;
  lists.edges.resize(static_cast<size_t>(kept));
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
