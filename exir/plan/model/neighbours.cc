// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/neighbours.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace petrel::exir::plan {

Neighbours::Neighbours(const Problem& problem)
    : problem_(problem),
      stretches_(stretches_by_begin(problem)),
      first_of_(problem.buffers.size() + 1, 0) {
  while (num_leaves_ < stretches_.size()) num_leaves_ *= 2;
  latest_end_.assign(2 * num_leaves_, std::numeric_limits<int64_t>::min());
  for (size_t i = 0; i < stretches_.size(); ++i) {
    latest_end_[num_leaves_ + i] = stretches_[i].time.end;
    ++first_of_[static_cast<size_t>(stretches_[i].buffer) + 1];
  }
  for (size_t node = num_leaves_ - 1; node > 0; --node) {
    latest_end_[node] = std::max(latest_end_[2 * node], latest_end_[2 * node + 1]);
  }
  for (size_t i = 1; i < first_of_.size(); ++i) first_of_[i] += first_of_[i - 1];
  of_buffer_.resize(stretches_.size());
  std::vector<int64_t> next(first_of_.begin(), first_of_.end() - 1);
  for (size_t i = 0; i < stretches_.size(); ++i) {
    of_buffer_[next[stretches_[i].buffer]++] = static_cast<int32_t>(i);
  }
  const auto both_ways = [&](const Pair& pair, Exception::Kind kind) {
    exceptions_.push_back({pair.first, pair.second, kind, 0});
    exceptions_.push_back({pair.second, pair.first, kind, 0});
  };
  for (const Pair& pair : problem.conflicts) both_ways(pair, Exception::Kind::kConflict);
  for (const Pair& pair : problem.non_conflicts) both_ways(pair, Exception::Kind::kMayMeet);
  for (const PermittedOverlap& overlap : problem.overlaps) {
    const int64_t distance = problem.buffers[overlap.lower].size - overlap.bytes;
    exceptions_.push_back({overlap.lower, overlap.upper, Exception::Kind::kHighAtMost, distance});
    exceptions_.push_back({overlap.upper, overlap.lower, Exception::Kind::kLowAtLeast, -distance});
  }
  std::stable_sort(exceptions_.begin(), exceptions_.end(),
                   [](const Exception& a, const Exception& b) { return a.from < b.from; });
}

// Of stretches [first, last), which are those below `node`.
void Neighbours::add_alive(size_t node, size_t first, size_t last, const Stretch& stretch) const {
  if (latest_end_[node] <= stretch.time.begin || first >= stretches_.size() ||
      stretches_[first].time.begin >= stretch.time.end) {
    return;
  }
  if (last - first > 1) {
    const size_t middle = first + (last - first) / 2;
    add_alive(2 * node, first, middle, stretch);
    add_alive(2 * node + 1, middle, last, stretch);
    return;
  }
  const Stretch& other = stretches_[first];
  if (other.buffer == stretch.buffer) return;
  edges_.push_back({other.buffer, stretch.low - other.high, stretch.high - other.low});
}

void Neighbours::apply(const Exception& exception) const {
  const auto edge =
      std::lower_bound(edges_.begin(), edges_.end(), exception.to,
                       [](const Edge& one, BufferIdx other) { return one.other < other; });
  if (edge == edges_.end() || edge->other != exception.to) return;
  switch (exception.kind) {
    case Exception::Kind::kConflict:
      break;  // a range of its own
    case Exception::Kind::kMayMeet:
      edge->high = edge->low;
      break;
    case Exception::Kind::kHighAtMost:
      edge->high = std::min(edge->high, exception.distance);
      break;
    case Exception::Kind::kLowAtLeast:
      edge->low = std::max(edge->low, exception.distance);
      break;
  }
}

// One edge for each neighbour, which covers all ranges of the pair.
void Neighbours::merge() const {
  std::sort(edges_.begin(), edges_.end(), [](const Edge& x, const Edge& y) {
    return x.other != y.other ? x.other < y.other : x.low < y.low;
  });
  size_t kept = 0;
  for (const Edge& edge : edges_) {
    if (kept == 0 || edges_[kept - 1].other != edge.other) {
      edges_[kept++] = edge;
      continue;
    }
    Edge& whole = edges_[kept - 1];
    // Open ranges that only touch leave their common end allowed.
    if (edge.low >= whole.high) exact_ = false;
    whole.high = std::max(whole.high, edge.high);
  }
  edges_.resize(kept);
}

absl::Span<const Edge> Neighbours::operator()(BufferIdx buffer) const {
  edges_.clear();
  for (int64_t i = first_of_[buffer]; i < first_of_[buffer + 1]; ++i) {
    add_alive(1, 0, num_leaves_, stretches_[of_buffer_[i]]);
  }
  const auto begin =
      std::lower_bound(exceptions_.begin(), exceptions_.end(), buffer,
                       [](const Exception& one, BufferIdx from) { return one.from < from; });
  auto end = begin;
  const int64_t size = problem_.buffers[buffer].size;
  for (; end != exceptions_.end() && end->from == buffer; ++end) {
    const int64_t other = problem_.buffers[end->to].size;
    if (end->kind == Exception::Kind::kConflict && size != 0 && other != 0) {
      edges_.push_back({end->to, -other, size});
    }
  }
  merge();
  for (auto exception = begin; exception != end; ++exception) apply(*exception);
  edges_.erase(std::remove_if(edges_.begin(), edges_.end(),
                              [](const Edge& edge) { return edge.low >= edge.high; }),
               edges_.end());
  return edges_;
}

}  // namespace petrel::exir::plan
