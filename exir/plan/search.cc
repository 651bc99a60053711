// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace petrel::exir::plan {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

int64_t align_up(int64_t offset, int64_t alignment) {
  if (alignment == 1) return offset;
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace

void Search::reset(int64_t capacity) {
  capacity_ = capacity / unit_;
  rows_.assign(members_.size(), Row());
  row_why_.assign(members_.size(), Reason());
  states_.assign(size_.size(), State());
  why_.assign(size_.size(), Reason());
  across_.assign(members_.size(), 0);
  offsets_.assign(size_.size(), 0);
  is_dirty_.assign(members_.size(), 0);
  dirty_.clear();
  won_.clear();
  old_rows_.clear();
  old_states_.clear();
  choice_ = 1;
  gave_up_ = false;
  for (size_t r = 0; r < members_.size(); ++r) {
    rows_[r].count = static_cast<int32_t>(members_[r].size());
    for (const Member& m : members_[r]) rows_[r].rest += m.high - m.low;
    mark_dirty(static_cast<int32_t>(r));
  }
  for (size_t b = 0; b < size_.size(); ++b) {
    states_[b].lowest = std::max<int64_t>(fixed_[b], 0);
    if (rows_of_[b].empty()) {
      states_[b].placed = true;
      offsets_[b] = states_[b].lowest;
      continue;
    }
    for (int32_t r = rows_of_[b].front(); r < rows_of_[b].back(); ++r) {
      ++across_[r];
    }
  }
}

Search::Row& Search::change_row(int32_t row) {
  Row& now = rows_[row];
  if (now.saved_at != choice_) {
    old_rows_.push_back({row, now, row_why_[row]});
    now.saved_at = choice_;
  }
  return now;
}

Search::State& Search::change(BufferIdx buffer) {
  State& now = states_[buffer];
  if (now.saved_at != choice_) {
    old_states_.push_back({buffer, now, why_[buffer]});
    now.saved_at = choice_;
  }
  return now;
}

void Search::undo_to(size_t rows_mark, size_t states_mark) {
  while (old_rows_.size() > rows_mark) {
    const OldRow& old = old_rows_.back();
    rows_[old.index] = old.row;
    row_why_[old.index] = old.why;
    old_rows_.pop_back();
  }
  while (old_states_.size() > states_mark) {
    const OldState& old = old_states_.back();
    if (states_[old.index].placed && !old.state.placed) {
      const std::vector<int32_t>& rows = rows_of_[old.index];
      for (int32_t r = rows.front(); r < rows.back(); ++r) ++across_[r];
    }
    states_[old.index] = old.state;
    why_[old.index] = old.why;
    old_states_.pop_back();
  }
  ++choice_;
}

void Search::mark_dirty(int32_t row) {
  if (is_dirty_[row]) return;
  is_dirty_[row] = 1;
  dirty_.push_back(row);
}

void Search::drop_queues() {
  for (const int32_t row : dirty_) is_dirty_[row] = 0;
  dirty_.clear();
  won_.clear();
}

bool Search::fail(const Reason& reason) {
  conflict_ = reason;
  drop_queues();
  return false;
}

bool Search::raise(BufferIdx buffer, int64_t lowest, const Reason& reason) {
  lowest = align_up(lowest, alignment_[buffer]);
  if (lowest <= states_[buffer].lowest) return true;
  const int64_t highest =
      fixed_[buffer] >= 0 ? fixed_[buffer] : capacity_ - size_[buffer];
  if (lowest > highest) return fail(reason);
  change(buffer).lowest = lowest;
  why_[buffer] = reason;
  for (const int32_t row : rows_of_[buffer]) mark_dirty(row);
  return true;
}

void Search::set_next(int32_t row, BufferIdx buffer, const Reason& reason) {
  change_row(row).next = buffer;
  row_why_[row].add(reason);
  State& state = change(buffer);
  if (++state.rows_won == static_cast<int32_t>(rows_of_[buffer].size())) {
    won_.push_back(buffer);
  }
  mark_dirty(row);
}

// All that is known about a row rests on this.
Reason Search::row_reason(int32_t row) const {
  Reason reason = row_why_[row];
  const std::vector<Member>& members = members_[row];
  for (int32_t j = 0; j < rows_[row].count; ++j) {
    reason.add(why_[members[j].buffer]);
  }
  return reason;
}

// Whether the other unplaced members would still fit above it.
bool Search::can_be_next(int32_t row, const Member& member) const {
  const Row& r = rows_[row];
  const int64_t lowest = states_[member.buffer].lowest;
  if (lowest + member.low > capacity_ - r.rest) return false;
  if (!row_has_fixed_[row]) return true;
  for (int32_t j = 0; j < r.count; ++j) {
    const Member& other = members_[row][j];
    if (other.buffer == member.buffer || fixed_[other.buffer] < 0) continue;
    if (lowest + member.high > fixed_[other.buffer] + other.low) return false;
  }
  return true;
}

bool Search::propagate_row(int32_t row) {
  const Row& r = rows_[row];
  const std::vector<Member>& members = members_[row];
  if (r.count == 0) return true;
  const BufferIdx next = r.next;
  int64_t first_end = kNever;  // of the one that can be next and ends first
  BufferIdx candidate = -1;
  int32_t num_candidates = 0;
  const int64_t limit = capacity_ - r.rest;
  for (int32_t j = 0; j < r.count; ++j) {
    const Member& m = members[j];
    if (next >= 0 && m.buffer != next) continue;
    const int64_t lowest = states_[m.buffer].lowest;
    if (lowest + m.low > limit) continue;
    if (row_has_fixed_[row] && !can_be_next(row, m)) continue;
    ++num_candidates;
    candidate = m.buffer;
    first_end = std::min(first_end, lowest + m.high);
  }
  if (num_candidates == 0) return fail(row_reason(row));

  bool known = false;
  Reason reason;
  const auto why = [&]() -> const Reason& {
    if (!known) {
      known = true;
      if (next >= 0) {
        reason = row_why_[row];
        reason.add(why_[next]);
      } else {
        reason = row_reason(row);
      }
    }
    return reason;
  };
  if (next < 0 && num_candidates == 1) set_next(row, candidate, why());
  const BufferIdx settled = num_candidates == 1 ? candidate : -1;
  for (int32_t j = 0; j < r.count; ++j) {
    const Member& m = members[j];
    if (m.buffer == settled) continue;
    const int64_t lowest = states_[m.buffer].lowest;
    if (lowest >= first_end - m.low) continue;
    if (settled < 0 && can_be_next(row, m)) continue;
    if (!raise(m.buffer, first_end - m.low, why())) return false;
  }
  return true;
}

// A plan that is at least as good has the two the other way round.
bool Search::dominated(BufferIdx buffer) const {
  if (smaller_twin_[buffer] >= 0 && !states_[smaller_twin_[buffer]].placed) {
    return true;
  }
  if (twins_[buffer] < 0) return false;
  const BufferIdx below = rows_[rows_of_[buffer][0]].top;
  return below >= 0 && twins_[below] == twins_[buffer] &&
         size_[below] < size_[buffer] &&
         offsets_[below] + size_[below] == states_[buffer].lowest;
}

bool Search::place(BufferIdx buffer) {
  if (dominated(buffer)) {
    Reason reason;
    for (const int32_t row : rows_of_[buffer]) reason.add(row_reason(row));
    return fail(reason);
  }
  State& state = change(buffer);
  state.placed = true;
  offsets_[buffer] = state.lowest;
  const std::vector<int32_t>& rows = rows_of_[buffer];
  for (int32_t r = rows.front(); r < rows.back(); ++r) --across_[r];
  for (const int32_t index : rows) {
    Row& row = change_row(index);
    std::vector<Member>& members = members_[index];
    int32_t at = 0;
    while (members[at].buffer != buffer) ++at;
    --row.count;
    row.rest -= members[at].high - members[at].low;
    std::swap(members[at], members[row.count]);
    row.next = -1;
    row.top = buffer;
    row_why_[index].add(why_[buffer]);
    for (int32_t j = 0; j < row.count; ++j) {
      if (states_[members[j].buffer].refuted) {
        change(members[j].buffer).refuted = false;
      }
    }
    mark_dirty(index);
  }
  return true;
}

bool Search::propagate() {
  while (true) {
    if (!dirty_.empty()) {
      const int32_t row = dirty_.back();
      dirty_.pop_back();
      is_dirty_[row] = 0;
      if (!propagate_row(row)) return false;
    } else if (!won_.empty()) {
      const BufferIdx buffer = won_.back();
      won_.pop_back();
      if (!place(buffer)) return false;
    } else {
      return true;
    }
  }
}

// The buffer is not the lowest in all of its rows: it is above the end of
// another in one of them.
bool Search::refute(BufferIdx buffer, const Reason& failure) {
  Reason reason = failure;
  int64_t lowest = kNever;
  for (const int32_t row : rows_of_[buffer]) {
    reason.add(row_reason(row));
    if (rows_[row].next == buffer) continue;
    int64_t own_low = 0;
    int64_t first_end = kNever;
    for (int32_t j = 0; j < rows_[row].count; ++j) {
      const Member& m = members_[row][j];
      if (m.buffer == buffer) {
        own_low = m.low;
      } else if (can_be_next(row, m)) {
        first_end = std::min(first_end, states_[m.buffer].lowest + m.high);
      }
    }
    if (first_end != kNever) lowest = std::min(lowest, first_end - own_low);
  }
  if (lowest == kNever) return fail(reason);
  change(buffer).refuted = true;
  why_[buffer].add(reason);
  return raise(buffer, lowest, reason);
}

bool Search::can_be_placed(BufferIdx buffer) const {
  const State& state = states_[buffer];
  if (state.refuted || dominated(buffer)) return false;
  for (const int32_t row : rows_of_[buffer]) {
    const BufferIdx next = rows_[row].next;
    if (next >= 0) {
      if (next != buffer) return false;
      continue;
    }
    for (int32_t j = 0; j < rows_[row].count; ++j) {
      const Member& m = members_[row][j];
      if (m.buffer != buffer) continue;
      if (!can_be_next(row, m)) return false;
      break;
    }
  }
  return true;
}

// Among those that can be placed, the lowest; of equals, the most important.
BufferIdx Search::choose(int32_t first_row, int32_t last_row) const {
  BufferIdx best = -1;
  for (size_t i = 0; i < states_.size(); ++i) {
    const State& state = states_[i];
    if (state.placed) continue;
    const auto b = static_cast<BufferIdx>(i);
    if (best >= 0) {
      const int64_t lowest = states_[best].lowest;
      if (state.lowest > lowest) continue;
      if (state.lowest == lowest && priority_[b] <= priority_[best]) continue;
    }
    if (rows_of_[b].front() < first_row || rows_of_[b].back() >= last_row) {
      continue;
    }
    if (can_be_placed(b)) best = b;
  }
  return best;
}

// Maximal runs of rows that unplaced buffers connect, as [first, last).
std::vector<std::pair<int32_t, int32_t>> Search::stretches_left(
    int32_t first_row, int32_t last_row) const {
  std::vector<std::pair<int32_t, int32_t>> runs;
  int32_t begin = first_row;
  bool any = false;
  for (int32_t r = first_row; r < last_row; ++r) {
    any = any || rows_[r].count > 0;
    if (r + 1 < last_row && across_[r] > 0) continue;
    if (any) runs.emplace_back(begin, r + 1);
    begin = r + 1;
    any = false;
  }
  return runs;
}

bool Search::step() {
  if (nodes_left_-- <= 0 || !effort_->spend()) gave_up_ = true;
  return !gave_up_;
}

bool Search::solve(int32_t first_row, int32_t last_row, int32_t level) {
  while (true) {
    if (!propagate()) return false;
    const auto runs = stretches_left(first_row, last_row);
    if (runs.empty()) return true;
    if (runs.size() > 1) {
      for (const auto& [first, last] : runs) {
        if (!solve(first, last, level)) return false;
      }
      return true;
    }
    if (!step()) return false;
    std::tie(first_row, last_row) = runs[0];
    const BufferIdx buffer = choose(first_row, last_row);
    if (buffer < 0) {
      Reason reason;
      for (int32_t r = first_row; r < last_row; ++r) reason.add(row_reason(r));
      return fail(reason);
    }

    const size_t rows_mark = old_rows_.size();
    const size_t states_mark = old_states_.size();
    ++choice_;
    Reason own;
    own.add(level);
    for (const int32_t row : rows_of_[buffer]) {
      if (rows_[row].next != buffer) set_next(row, buffer, own);
    }
    if (solve(first_row, last_row, level + 1)) return true;
    drop_queues();
    undo_to(rows_mark, states_mark);
    if (gave_up_) return false;
    if (!conflict_.has(level)) return false;  // would fail without it, too
    Reason rest = conflict_;
    rest.remove(level);
    if (!refute(buffer, rest)) return false;
  }
}

Search::Outcome Search::run(int64_t capacity,
                            const std::vector<double>& priority,
                            int64_t node_limit, Effort* effort) {
  reset(capacity);
  priority_ = priority;
  nodes_left_ = node_limit;
  effort_ = effort;
  for (size_t b = 0; b < size_.size(); ++b) {
    if (states_[b].lowest + size_[b] > capacity_) return Outcome::kRefuted;
  }
  if (!solve(0, static_cast<int32_t>(rows_.size()), 0)) {
    drop_queues();
    return gave_up_ ? Outcome::kGaveUp : Outcome::kRefuted;
  }
  for (int64_t& offset : offsets_) offset *= unit_;
  return Outcome::kFound;
}

}  // namespace petrel::exir::plan
