// SPDX-License-Identifier: Apache-2.0
//
// What follows from what is known, row by row:
//
// * A buffer can be the next of a row if the rest fits above it, and if it
//   ends before any other must have begun. If only one can, it is.
// * What cannot be next begins at or above the first end of one that can.
// * b can no longer be below a when b's end exceeds a's highest begin. All
//   that must be below b are stacked to find b's lowest offset; likewise from
//   above.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "exir/plan/search/search.h"

namespace petrel::exir::plan {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

int64_t align_up(int64_t offset, int64_t alignment) {
  if (alignment == 1) return offset;
  return (offset + alignment - 1) / alignment * alignment;
}

int64_t align_down(int64_t offset, int64_t alignment) {
  if (alignment == 1 || offset < 0) return offset;
  return offset / alignment * alignment;
}

}  // namespace

void Search::mark_dirty(int32_t row) {
  if (is_dirty_[row]) return;
  is_dirty_[row] = 1;
  dirty_.push_back(row);
}

void Search::mark_buffer(BufferIdx buffer) {
  for (const int32_t row : rows_of_[buffer]) mark_dirty(row);
  for (const int32_t boundary : boundaries_of_[buffer]) {
    if (is_open_boundary_[boundary]) continue;
    is_open_boundary_[boundary] = 1;
    open_boundaries_.push_back(boundary);
  }
}

void Search::drop_queues() {
  for (const int32_t b : open_boundaries_) is_open_boundary_[b] = 0;
  open_boundaries_.clear();
  for (const int32_t row : dirty_) is_dirty_[row] = 0;
  dirty_.clear();
  for (const int32_t row : unordered_) is_unordered_[row] = 0;
  unordered_.clear();
  won_.clear();
}

bool Search::fail(const Reason& reason) {
  conflict_ = reason;
  drop_queues();
  return false;
}

bool Search::fail_in_row(int32_t row, const Reason& reason) {
  failures_[row] += 1;
  return fail(reason);
}

bool Search::raise(BufferIdx buffer, int64_t lowest, const Reason& reason) {
  lowest = align_up(lowest, alignment_[buffer]);
  if (lowest <= states_[buffer].lowest) return true;
  if (lowest > states_[buffer].highest) {
    Reason both = reason;
    both.add(why_[buffer]);
    return fail(both);
  }
  change(buffer).lowest = lowest;
  why_[buffer].add(reason);
  mark_buffer(buffer);
  return true;
}

bool Search::cap(BufferIdx buffer, int64_t highest, const Reason& reason) {
  highest = align_down(highest, alignment_[buffer]);
  if (highest >= states_[buffer].highest) return true;
  if (highest < states_[buffer].lowest) {
    Reason both = reason;
    both.add(why_[buffer]);
    return fail(both);
  }
  change(buffer).highest = highest;
  why_[buffer].add(reason);
  mark_buffer(buffer);
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

// By what the last propagation of the row found.
bool Search::can_be_next(const Row& row, const Member& member) const {
  const int64_t lowest = states_[member.buffer].lowest;
  return lowest + member.low <= capacity_ - row.rest &&
         lowest + member.high <= row.candidates.deadlines.of_others(member.buffer);
}

// Copies the bounds of unplaced members to where loops are fast, and so that
// they stay what the reason of this propagation covers.
void Search::gather(int32_t row) {
  const int32_t count = rows_[row].count;
  visited_ += count;
  spans_.resize(count);
  const Member* m = members_[row].data();
  const State* states = states_.data();
  for (Span& span : spans_) {
    const State& s = states[m->buffer];
    span = {m->buffer,
            m->low,
            m->high,
            s.lowest + m->low,
            s.lowest + m->high,
            s.highest + m->low,
            s.highest + m->high};
    ++m;
  }
}

// Of the members gathered.
Search::Deadlines Search::deadlines_gathered() const {
  int64_t first = kNever;
  int64_t second = kNever;
  BufferIdx most_urgent = -1;
  for (const Span& s : spans_) {
    if (s.last_start < first) {
      second = first;
      first = s.last_start;
      most_urgent = s.buffer;
    } else {
      second = std::min(second, s.last_start);
    }
  }
  return {first, second, most_urgent};
}

Search::Candidates Search::candidates_gathered(int32_t row) const {
  Candidates found;
  found.deadlines = deadlines_gathered();
  const BufferIdx next = rows_[row].next;
  const int64_t limit = capacity_ - rows_[row].rest;
  int32_t count = 0;
  int64_t lowest_start = kNever;
  int64_t first_end = kNever;
  for (const Span& s : spans_) {
    if ((next >= 0 && s.buffer != next) || !can_be_first(s, limit, found.deadlines)) continue;
    if (count < 2) found.first[count] = s.buffer;
    ++count;
    first_end = std::min(first_end, s.end);
    lowest_start = std::min(lowest_start, s.start);
  }
  found.count = count;
  found.lowest_start = lowest_start;
  found.first_end = first_end;
  return found;
}

bool Search::propagate_row(int32_t row) {
  if (rows_[row].count == 0) return true;
  gather(row);
  const Candidates found = candidates_gathered(row);
  if (found.count == 0) return fail_in_row(row, row_reason(row));
  if (!(rows_[row].candidates == found)) change_row(row).candidates = found;
  if (rows_[row].next < 0 && found.count == 1) set_next(row, found.first[0], row_reason(row));
  if (!move_members(row, found)) {
    failures_[row] += 1;
    return false;
  }
  if (!is_unordered_[row] && !tired_) {
    is_unordered_[row] = 1;
    unordered_.push_back(row);
  }
  return true;
}

// What is next leaves room for the rest above it; all others begin at or above
// the first end of one that can be next.
bool Search::move_members(int32_t row, const Candidates& found) {
  const BufferIdx settled = found.count == 1 ? found.first[0] : -1;
  if (tired_ && settled < 0) return true;
  const int64_t limit = capacity_ - rows_[row].rest;
  // Reasons are large, and most of the time nothing new follows.
  std::optional<Reason> reason;
  const auto why = [&]() -> const Reason& {
    if (reason.has_value()) return *reason;
    if (settled < 0) return reason.emplace(row_reason(row));
    // That it is next is part of row_why_; where others are is no matter.
    reason = row_why_[row];
    reason->add(why_[settled]);
    return *reason;
  };
  for (const Span& s : spans_) {
    if (s.buffer == settled) {
      if (limit < s.last_start && !tired_ && !cap(s.buffer, limit - s.low, why())) return false;
    } else if (s.start < found.first_end &&
               (settled >= 0 || !can_be_first(s, limit, found.deadlines))) {
      if (!raise(s.buffer, found.first_end - s.low, why())) return false;
    }
  }
  return true;
}

bool Search::order_pairs(int32_t row) {
  gather(row);
  const Deadlines deadlines = deadlines_gathered();
  int64_t last_end = -1;  // the two largest
  int64_t second_end = -1;
  for (const Span& s : spans_) {
    second_end = std::max(second_end, std::min(last_end, s.end));
    last_end = std::max(last_end, s.end);
  }
  for (const Span& s : spans_) {
    const int64_t end_of_others = s.end == last_end ? second_end : last_end;
    if ((s.end > deadlines.of_others(s.buffer) && !stack_below(row, s)) ||
        (end_of_others > s.last_start && !stack_above(row, s))) {
      failures_[row] += 1;
      return false;
    }
  }
  return true;
}

// Raises a buffer above all that can only be below it, stacked as low as they go.
bool Search::stack_below(int32_t row, const Span& span) {
  others_.clear();
  for (const Span& o : spans_) {
    if (o.last_start < span.end && o.buffer != span.buffer) {
      others_.emplace_back(o.start, o.high - o.low);
    }
  }
  std::sort(others_.begin(), others_.end());
  int64_t end = 0;
  for (const auto& [start, size] : others_) end = std::max(end, start) + size;
  return end <= span.start || raise(span.buffer, end - span.low, row_reason(row));
}

// Caps a buffer below all that can only be above it, stacked as high as they go.
bool Search::stack_above(int32_t row, const Span& span) {
  others_.clear();
  for (const Span& o : spans_) {
    if (o.end > span.last_start && o.buffer != span.buffer) {
      others_.emplace_back(o.last_end, o.high - o.low);
    }
  }
  std::sort(others_.begin(), others_.end());
  int64_t begin = kNever;
  for (size_t i = others_.size(); i-- > 0;) {
    begin = std::min(begin, others_[i].first) - others_[i].second;
  }
  return begin >= span.last_end || cap(span.buffer, begin - span.high, row_reason(row));
}

// A plan that is at least as good has the two the other way round.
bool Search::dominated(BufferIdx buffer) const {
  if (smaller_twin_[buffer] >= 0 && !states_[smaller_twin_[buffer]].placed) {
    return true;
  }
  if (twins_[buffer] < 0) return false;
  const BufferIdx below = rows_[rows_of_[buffer][0]].top;
  return below >= 0 && twins_[below] == twins_[buffer] && size_[below] < size_[buffer] &&
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
  place_why_[buffer] = why_[buffer];
  for (const int32_t index : rows) {
    place_why_[buffer].add(row_why_[index]);
    Row& row = change_row(index);
    std::vector<Member>& members = members_[index];
    int32_t at = 0;
    while (members[at].buffer != buffer) ++at;
    --row.count;
    row.rest -= members[at].high - members[at].low;
    row.floor = state.lowest + members[at].high;
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
  mark_buffer(buffer);
  return true;
}

bool Search::propagate() {
  const int64_t tired_at = visited_ + max_visits_;
  while (true) {
    tired_ = visited_ > tired_at;
    if (!dirty_.empty()) {
      const int32_t row = dirty_.back();
      dirty_.pop_back();
      is_dirty_[row] = 0;
      if (!propagate_row(row)) return false;
    } else if (!open_boundaries_.empty()) {
      const int32_t boundary = open_boundaries_.back();
      open_boundaries_.pop_back();
      is_open_boundary_[boundary] = 0;
      if (!tired_ && !propagate_boundary(boundary)) return false;
    } else if (!won_.empty()) {
      const BufferIdx buffer = won_.back();
      won_.pop_back();
      if (!place(buffer)) return false;
    } else if (!unordered_.empty()) {
      // Costs more than the rest, so it waits until the rest has settled.
      const int32_t row = unordered_.back();
      unordered_.pop_back();
      is_unordered_[row] = 0;
      if (!tired_ && !order_pairs(row)) return false;
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
      } else if (can_be_next(rows_[row], m)) {
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
  for (const int32_t index : rows_of_[buffer]) {
    const Row& row = rows_[index];
    if (row.next >= 0) {
      if (row.next != buffer) return false;
      continue;
    }
    for (int32_t j = 0; j < row.count; ++j) {
      const Member& m = members_[index][j];
      if (m.buffer != buffer) continue;
      if (!can_be_next(row, m)) return false;
      break;
    }
  }
  return true;
}

}  // namespace petrel::exir::plan
