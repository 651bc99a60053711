// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/model/bound.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace petrel::exir::plan {

BoundFinder::BoundFinder(const Problem& problem, const ConflictGraph& graph)
    : problem_(problem),
      graph_(graph),
      stretches_(stretches_by_begin(problem)),
      sections_(maximal_sections(stretches_)),
      yields_(problem.buffers.size(), 0) {
  for (const Pair& pair : problem.non_conflicts) {
    yields_[pair.first] = yields_[pair.second] = 1;
  }
  for (const PermittedOverlap& overlap : problem.overlaps) {
    yields_[overlap.lower] = yields_[overlap.upper] = 1;
  }
}

int64_t BoundFinder::bound(const std::vector<char>& chosen) const {
  const auto wanted = [&](BufferIdx b) { return chosen.empty() || chosen[b]; };
  int64_t best = 0;
  for (size_t i = 0; i < problem_.buffers.size(); ++i) {
    const Buffer& buffer = problem_.buffers[i];
    if (wanted(static_cast<BufferIdx>(i))) {
      best = std::max(best, buffer.offset.value_or(0) + buffer.size);
    }
  }
  std::vector<int32_t> members;
  for (const std::vector<int32_t>& section : sections_) {
    members.clear();
    for (const int32_t s : section) {
      if (wanted(stretches_[s].buffer)) members.push_back(s);
    }
    best = std::max(best, section_bound(members));
  }
  return best;
}

// Bytes that the two may have in common.
int64_t BoundFinder::shared(const Stretch& a, const Stretch& b) const {
  const int64_t smaller = std::min(a.high - a.low, b.high - b.low);
  const Edge* edge = graph_.find(a.buffer, b.buffer);
  if (edge == nullptr) return smaller;
  // How far each side may come closer than full separation asks.
  const int64_t below = (a.high - b.low) - edge->high;
  const int64_t above = edge->low - (a.low - b.high);
  return std::clamp<int64_t>(std::max(below, above), 0, smaller);
}

// For members of which no two may meet.
int64_t BoundFinder::stacked(const std::vector<int32_t>& members) const {
  // A window begins anywhere, so with one among them nothing is rounded.
  int64_t grain = 0;
  for (const int32_t s : members) {
    const Buffer& buffer = problem_.buffers[stretches_[s].buffer];
    const bool whole = stretches_[s].high - stretches_[s].low == buffer.size;
    grain = std::gcd(grain, whole ? buffer.alignment : 1);
  }
  int64_t total = 0;
  std::vector<int64_t> paddings;
  for (const int32_t s : members) {
    const int64_t size = stretches_[s].high - stretches_[s].low;
    total += size;
    paddings.push_back((grain - size % grain) % grain);
    total += paddings.back();
  }
  // In every pool one buffer is on top and needs no padding.
  std::sort(paddings.rbegin(), paddings.rend());
  for (size_t i = 0; i < paddings.size() && i < problem_.pools.size(); ++i) {
    total -= paddings[i];
  }
  return total;
}

int64_t BoundFinder::section_bound(const std::vector<int32_t>& members) const {
  std::vector<int32_t> firm;  // keep apart from all the others
  std::vector<int32_t> yielding;
  for (const int32_t s : members) {
    (yields_[stretches_[s].buffer] ? yielding : firm).push_back(s);
  }
  if (yielding.empty()) return stacked(firm);

  const size_t count = yielding.size();
  const auto pairs = static_cast<int64_t>(count * (count - 1) / 2);
  if (pairs > pairs_left_) return stacked(firm);
  pairs_left_ -= pairs;
  int64_t total = 0;
  for (const int32_t s : members) {
    total += stretches_[s].high - stretches_[s].low;
  }
  std::vector<char> apart(count * count, 1);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i + 1; j < count; ++j) {
      const int64_t bytes = shared(stretches_[yielding[i]], stretches_[yielding[j]]);
      total -= bytes;
      if (bytes > 0) apart[i * count + j] = apart[j * count + i] = 0;
    }
  }
  add_those_apart(yielding, apart, &firm);
  return std::max(total, stacked(firm));
}

// Takes the member that keeps most bytes compatible, drops those that may share with it, and so
// on.
void BoundFinder::add_those_apart(const std::vector<int32_t>& yielding,
                                  const std::vector<char>& apart,
                                  std::vector<int32_t>* firm) const {
  const size_t count = yielding.size();
  std::vector<char> open(count, 1);
  std::vector<int64_t> weights(count, 0);  // of the open ones that each is apart from, and itself
  const auto add = [&](size_t j, int64_t sign) {
    const int64_t size = stretches_[yielding[j]].high - stretches_[yielding[j]].low;
    for (size_t i = 0; i < count; ++i) {
      if (apart[j * count + i] != 0) weights[i] += sign * size;
    }
  };
  for (size_t j = 0; j < count; ++j) add(j, 1);
  while (true) {
    size_t best = count;
    for (size_t i = 0; i < count; ++i) {
      if (open[i] != 0 && (best == count || weights[i] > weights[best])) best = i;
    }
    if (best == count) return;
    firm->push_back(yielding[best]);
    for (size_t i = 0; i < count; ++i) {
      if (open[i] == 0 || (i != best && apart[best * count + i] != 0)) continue;
      open[i] = 0;
      add(i, -1);
    }
  }
}

}  // namespace petrel::exir::plan
