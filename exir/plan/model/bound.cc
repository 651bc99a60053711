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

  int64_t total = 0;
  for (const int32_t s : members) {
    total += stretches_[s].high - stretches_[s].low;
  }
  for (size_t i = 0; i < yielding.size(); ++i) {
    for (size_t j = i + 1; j < yielding.size(); ++j) {
      total -= shared(stretches_[yielding[i]], stretches_[yielding[j]]);
    }
  }

  // Grow a subset without sharing: take the member that keeps most bytes
  // compatible, drop those that may share with it, and so on.
  std::vector<int32_t> open = yielding;
  while (!open.empty()) {
    size_t best = 0;
    int64_t best_weight = -1;
    for (size_t i = 0; i < open.size(); ++i) {
      int64_t weight = 0;
      for (size_t j = 0; j < open.size(); ++j) {
        if (i == j || shared(stretches_[open[i]], stretches_[open[j]]) == 0) {
          weight += stretches_[open[j]].high - stretches_[open[j]].low;
        }
      }
      if (weight > best_weight) {
        best_weight = weight;
        best = i;
      }
    }
    const int32_t taken = open[best];
    firm.push_back(taken);
    open.erase(std::remove_if(open.begin(), open.end(),
                              [&](int32_t s) {
                                return s == taken || shared(stretches_[taken], stretches_[s]) > 0;
                              }),
               open.end());
  }
  return std::max(total, stacked(firm));
}

}  // namespace petrel::exir::plan
