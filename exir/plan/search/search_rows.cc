// SPDX-License-Identifier: Apache-2.0
//
// How a problem becomes the rows of a search.

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "exir/plan/model/timeline.h"
#include "exir/plan/search/search.h"

namespace petrel::exir::plan {
Search::Search(const Problem& problem, const ConflictGraph& graph) {
  unit_ = 0;
  for (const Buffer& buffer : problem.buffers) {
    unit_ = std::gcd(std::gcd(unit_, buffer.size), buffer.alignment);
    unit_ = std::gcd(unit_, buffer.offset.value_or(0));
    for (const Gap& gap : buffer.gaps) {
      unit_ = std::gcd(std::gcd(unit_, gap.low), gap.high);
      proves_ = proves_ && gap.low == gap.high;
    }
  }
  for (const PermittedOverlap& overlap : problem.overlaps) {
    unit_ = std::gcd(unit_, overlap.bytes);
  }
  unit_ = std::max<int64_t>(unit_, 1);
  for (const Buffer& buffer : problem.buffers) {
    size_.push_back(buffer.size / unit_);
    alignment_.push_back(buffer.alignment / unit_);
    fixed_.push_back(buffer.offset ? *buffer.offset / unit_ : -1);
  }
  build_rows(problem, graph);
  index_rows();
}

// One row per section of time. Pairs of it that may meet, in part or wholly,
// split it into several. Pairs that no row keeps as far apart as they must be
// (may meet in part, extra conflicts, windows) get a row of two, next to the
// last section of its first buffer so that buffers stay on few rows.
void Search::build_rows(const Problem& problem, const ConflictGraph& graph) {
  const std::vector<Stretch> stretches = stretches_by_begin(problem);
  const bool may_meet = !problem.non_conflicts.empty() || !problem.overlaps.empty();
  // Otherwise sections say it all.
  const bool complete = !may_meet && !graph.has_extra() && proves_;
  std::vector<std::pair<int32_t, std::vector<Member>>> rows;  // by section
  std::vector<int32_t> last_section(problem.buffers.size(), 0);
  // Of each pair, smaller index first: rows would list the same pairs again and again.
  const size_t num_buffers = problem.buffers.size();
  std::vector<bool> settled(complete ? 0 : num_buffers * num_buffers);
  int32_t section_index = 0;
  for (const std::vector<int32_t>& section : maximal_sections(stretches)) {
    std::vector<Member> members;
    for (const int32_t s : section) {
      members.push_back({stretches[s].buffer, stretches[s].low / unit_, stretches[s].high / unit_});
      last_section[stretches[s].buffer] = section_index;
    }
    std::vector<std::vector<Member>> groups;
    if (may_meet) {
      groups = groups_apart(members, graph);
      if (is_too_large()) return;
    } else {
      groups.push_back(std::move(members));
    }
    for (std::vector<Member>& group : groups) {
      if (!complete) note_settled(group, graph, &settled);
      if (is_too_large()) return;
      rows.emplace_back(section_index, std::move(group));
    }
    ++section_index;
  }

  if (!complete) {
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const auto a = static_cast<BufferIdx>(i);
      for (const Edge* e = graph.begin(a); e != graph.end(a); ++e) {
        if (e->other < a || settled[i * num_buffers + static_cast<size_t>(e->other)]) continue;
        // An end below a begin cannot be expressed.
        if (e->high < 0 || e->low > 0) proves_ = false;
        rows.push_back({last_section[a],
                        {{a, 0, std::max<int64_t>(e->high, 0) / unit_},
                         {e->other, 0, std::max<int64_t>(-e->low, 0) / unit_}}});
      }
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  for (auto& [section, members] : rows) members_.push_back(std::move(members));
  if (complete) {
    build_boundaries();
    find_blocks();
  }
}

// Pairs that the section keeps as far apart as they must be.
void Search::note_settled(const std::vector<Member>& group, const ConflictGraph& graph,
                          std::vector<bool>* settled) {
  looks_left_ -= static_cast<int64_t>(group.size() * group.size() / 2);
  for (size_t i = 0; i < group.size() && !is_too_large(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Member& a = group[i];
      const Member& b = group[j];
      const Edge* edge = graph.find(a.buffer, b.buffer);
      if (edge != nullptr && edge->low == (a.low - b.high) * unit_ &&
          edge->high == (a.high - b.low) * unit_) {
        const auto [first, second] = std::minmax(a.buffer, b.buffer);
        (*settled)[static_cast<size_t>(first) * size_.size() + static_cast<size_t>(second)] = true;
      }
    }
  }
}

// Rows are the sections, in order of time. Boundaries are between neighbours,
// and between rows that see each other across less crowded ones, where little
// would follow.
void Search::build_boundaries() {
  std::vector<int64_t> total(members_.size(), 0);
  for (size_t r = 0; r < members_.size(); ++r) {
    for (const Member& m : members_[r]) total[r] += m.high - m.low;
  }
  std::vector<char> alive(size_.size(), 0);
  for (size_t r = 0; r < members_.size(); ++r) {
    int64_t between = 0;  // the most crowded row in between
    for (size_t q = r + 1; q < members_.size(); ++q) {
      if (q > r + 1) {
        between = std::max(between, total[q - 1]);
        if (between >= total[r]) break;
        if (between >= total[q]) continue;
      }
      Boundary boundary;
      boundary.before = static_cast<int32_t>(r);
      boundary.after = static_cast<int32_t>(q);
      for (const Member& m : members_[r]) alive[m.buffer] = 1;
      for (const Member& m : members_[q]) {
        if (!alive[m.buffer]) boundary.born.push_back(m.buffer);
        alive[m.buffer] = 0;
      }
      for (const Member& m : members_[r]) {
        if (alive[m.buffer]) boundary.died.push_back(m.buffer);
        alive[m.buffer] = 0;
      }
      boundaries_.push_back(std::move(boundary));
    }
  }
}

// Overlapping sets whose members all keep apart by at least what the section
// asks; every member is in at least one.
std::vector<std::vector<Search::Member>> Search::groups_apart(const std::vector<Member>& members,
                                                              const ConflictGraph& graph) {
  const auto apart = [&](const Member& a, const Member& b) {
    --looks_left_;
    const Edge* edge = graph.find(a.buffer, b.buffer);
    return edge != nullptr && edge->low <= (a.low - b.high) * unit_ &&
           edge->high >= (a.high - b.low) * unit_;
  };
  const auto fits = [&](const std::vector<Member>& group, const Member& m) {
    return std::all_of(group.begin(), group.end(),
                       [&](const Member& other) { return apart(other, m); });
  };
  std::vector<std::vector<Member>> groups;
  for (size_t i = 0; i < members.size() && !is_too_large(); ++i) {
    bool joined = false;
    for (std::vector<Member>& group : groups) {
      if (!fits(group, members[i])) continue;
      group.push_back(members[i]);
      joined = true;
    }
    if (joined) continue;
    groups.push_back({members[i]});
    for (size_t j = 0; j < i; ++j) {
      if (fits(groups.back(), members[j])) groups.back().push_back(members[j]);
    }
  }
  return groups;
}

void Search::index_rows() {
  const size_t num_buffers = size_.size();
  rows_of_.resize(num_buffers);
  std::vector<char> whole(num_buffers, 1);  // in all of its rows
  for (size_t r = 0; r < members_.size(); ++r) {
    for (const Member& m : members_[r]) {
      rows_of_[m.buffer].push_back(static_cast<int32_t>(r));
      if (m.low != 0 || m.high != size_[m.buffer]) whole[m.buffer] = 0;
    }
  }
  boundaries_of_.resize(num_buffers);
  for (size_t i = 0; i < boundaries_.size(); ++i) {
    for (const std::vector<BufferIdx>* set : {&boundaries_[i].died, &boundaries_[i].born}) {
      for (const BufferIdx b : *set) {
        boundaries_of_[b].push_back(static_cast<int32_t>(i));
      }
    }
  }
  // Twins stand on the same rows and leave no padding, so that any two that
  // are neighbours can be exchanged.
  twins_.assign(num_buffers, -1);
  smaller_twin_.assign(num_buffers, -1);
  std::map<std::pair<std::vector<int32_t>, int64_t>, int32_t> classes;
  std::map<std::pair<int32_t, int64_t>, BufferIdx> last_of_size;
  for (size_t i = 0; i < num_buffers; ++i) {
    if (!whole[i] || fixed_[i] >= 0 || size_[i] % alignment_[i] != 0 || rows_of_[i].empty()) {
      continue;
    }
    const auto next = static_cast<int32_t>(classes.size());
    const auto b = static_cast<BufferIdx>(i);
    twins_[i] = classes.try_emplace({rows_of_[i], alignment_[i]}, next).first->second;
    const auto [it, fresh] = last_of_size.try_emplace({twins_[i], size_[i]}, b);
    if (fresh) continue;
    smaller_twin_[i] = it->second;
    it->second = b;
  }
}

}  // namespace petrel::exir::plan
