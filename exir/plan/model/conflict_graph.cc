// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/conflict_graph.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "exir/plan/model/timeline.h"

namespace petrel::exir::plan {
namespace {

// A forbidden range of offset(b) - offset(a), with a < b.
struct Range {
  BufferIdx a, b;
  int64_t low, high;
};

void append_lifetime_ranges(const Problem& problem, std::vector<Range>* ranges) {
  std::vector<Stretch> stretches = stretches_by_begin(problem);
  std::vector<Stretch> alive;
  for (const Stretch& s : stretches) {
    size_t kept = 0;
    for (const Stretch& t : alive) {
      if (t.time.end <= s.time.begin) continue;
      alive[kept++] = t;
      if (t.buffer == s.buffer) continue;
      const Stretch& x = t.buffer < s.buffer ? t : s;
      const Stretch& y = t.buffer < s.buffer ? s : t;
      ranges->push_back({x.buffer, y.buffer, x.low - y.high, x.high - y.low});
    }
    alive.resize(kept);
    alive.push_back(s);
  }
}

// Into buckets by the one buffer, then by the other: there can be hundreds of
// millions.
void sort_by_pair(size_t num_buffers, std::vector<Range>* ranges) {
  std::vector<Range> sorted(ranges->size());
  for (const bool by_a : {false, true}) {
    std::vector<size_t> next(num_buffers + 1, 0);
    for (const Range& r : *ranges) ++next[(by_a ? r.a : r.b) + 1];
    for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (const Range& r : *ranges) sorted[next[by_a ? r.a : r.b]++] = r;
    ranges->swap(sorted);
  }
  for (size_t i = 0; i < ranges->size();) {
    size_t end = i + 1;
    while (end < ranges->size() && (*ranges)[end].a == (*ranges)[i].a &&
           (*ranges)[end].b == (*ranges)[i].b) {
      ++end;
    }
    if (end > i + 1) {
      std::sort(ranges->begin() + static_cast<int64_t>(i),
                ranges->begin() + static_cast<int64_t>(end),
                [](const Range& x, const Range& y) { return x.low < y.low; });
    }
    i = end;
  }
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

ConflictGraph::ConflictGraph(const Problem& problem) : has_extra_(!problem.conflicts.empty()) {
  std::vector<Range> ranges;
  append_lifetime_ranges(problem, &ranges);
  for (const Pair& pair : problem.conflicts) {
    const auto [a, b] = std::minmax(pair.first, pair.second);
    if (problem.buffers[a].size == 0 || problem.buffers[b].size == 0) continue;
    ranges.push_back({a, b, -problem.buffers[b].size, problem.buffers[a].size});
  }
  sort_by_pair(problem.buffers.size(), &ranges);
  // In place, again because of their number.
  size_t kept = 0;
  for (const Range& range : ranges) {
    if (kept == 0 || ranges[kept - 1].a != range.a || ranges[kept - 1].b != range.b) {
      ranges[kept++] = range;
      continue;
    }
    // Open ranges that only touch leave their common end allowed.
    Range& merged = ranges[kept - 1];
    if (range.low >= merged.high) exact_ = false;
    merged.high = std::max(merged.high, range.high);
  }
  ranges.resize(kept);

  const auto find_range = [&](BufferIdx x, BufferIdx y) -> Range* {
    const std::pair<BufferIdx, BufferIdx> key = std::minmax(x, y);
    const auto it =
        std::lower_bound(ranges.begin(), ranges.end(), key,
                         [](const Range& range, const std::pair<BufferIdx, BufferIdx>& k) {
                           return std::make_pair(range.a, range.b) < k;
                         });
    return it != ranges.end() && std::make_pair(it->a, it->b) == key ? &*it : nullptr;
  };
  for (const PermittedOverlap& overlap : problem.overlaps) {
    Range* range = find_range(overlap.lower, overlap.upper);
    if (range == nullptr) continue;
    const int64_t distance = problem.buffers[overlap.lower].size - overlap.bytes;
    if (overlap.lower == range->a) {
      range->high = std::min(range->high, distance);
    } else {
      range->low = std::max(range->low, -distance);
    }
  }
  for (const Pair& pair : problem.non_conflicts) {
    if (Range* range = find_range(pair.first, pair.second)) {
      range->high = range->low;
    }
  }
  ranges.erase(std::remove_if(ranges.begin(), ranges.end(),
                              [](const Range& range) { return range.low >= range.high; }),
               ranges.end());

  // Edges from both ends, bucketed by buffer; two passes in the order of
  // (a, b) leave every bucket sorted by `other`.
  Lists lists;
  lists.first.assign(problem.buffers.size() + 1, 0);
  for (const Range& range : ranges) {
    ++lists.first[range.a + 1];
    ++lists.first[range.b + 1];
  }
  for (size_t i = 1; i < lists.first.size(); ++i) {
    lists.first[i] += lists.first[i - 1];
  }
  lists.edges.resize(2 * ranges.size());
  std::vector<int64_t> next(lists.first.begin(), lists.first.end() - 1);
  for (const Range& range : ranges) {
    lists.edges[next[range.b]++] = {range.a, -range.high, -range.low};
  }
  for (const Range& range : ranges) {
    lists.edges[next[range.a]++] = {range.b, range.low, range.high};
  }
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
