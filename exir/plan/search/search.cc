// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/search.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace petrel::exir::plan {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Buffers looked at, in rows propagated, that cost as much as one step of
// effort.
constexpr int64_t kVisitsPerStep = 64;
// Rows and buffers as they were before choices that still stand: some 10 MB. Hundreds of
// buffers in hundreds of rows each would remember a gigabyte.
constexpr size_t kMostRemembered = size_t{1} << 16;

// Failures of earlier runs count for less and less.
constexpr double kForget = 0.9;

}  // namespace

void Search::reset(int64_t capacity, const Guide& guide) {
  capacity_ = capacity / unit_;
  settle_pairs_ = guide.settle_pairs;
  max_visits_ = guide.max_visits;
  priority_ = guide.priority;
  const size_t num_rows = members_.size();
  failures_.resize(num_rows, 0);
  rows_.assign(num_rows, Row());
  row_why_.assign(num_rows, Reason());
  states_.assign(size_.size(), State());
  why_.assign(size_.size(), Reason());
  across_.assign(num_rows, 0);
  offsets_.assign(size_.size(), 0);
  is_dirty_.assign(num_rows, 0);
  dirty_.clear();
  is_unordered_.assign(num_rows, 0);
  unordered_.clear();
  is_open_boundary_.assign(boundaries_.size(), 0);
  open_boundaries_.clear();
  place_why_.assign(size_.size(), Reason());
  total_.assign(num_rows, 0);
  won_.clear();
  old_rows_.clear();
  old_states_.clear();
  choice_ = 1;
  gave_up_ = false;

  double most_failures = 0;
  for (double& failures : failures_) {
    most_failures = std::max(most_failures, failures);
    failures *= kForget;
  }
  const double scale = most_failures > 0
                           ? guide.focus * kForget / most_failures * static_cast<double>(capacity_)
                           : 0;
  row_head_start_.assign(num_rows, 0);
  head_start_.assign(size_.size(), 0);
  for (size_t r = 0; r < num_rows; ++r) {
    rows_[r].count = static_cast<int32_t>(members_[r].size());
    row_head_start_[r] = static_cast<int64_t>(scale * failures_[r] / kForget);
    for (const Member& m : members_[r]) total_[r] += m.high - m.low;
    rows_[r].rest = total_[r];
    mark_dirty(static_cast<int32_t>(r));
  }
  for (size_t b = 0; b < size_.size(); ++b) {
    State& state = states_[b];
    state.lowest = std::max<int64_t>(fixed_[b], 0);
    state.highest = fixed_[b] >= 0 ? fixed_[b] : capacity_ - size_[b];
    state.highest -= state.highest > 0 ? state.highest % alignment_[b] : 0;
    if (rows_of_[b].empty()) {
      state.placed = true;
      offsets_[b] = state.lowest;
      continue;
    }
    for (int32_t r = rows_of_[b].front(); r < rows_of_[b].back(); ++r) {
      ++across_[r];
    }
    mark_buffer(static_cast<BufferIdx>(b));
    for (const int32_t r : rows_of_[b]) {
      head_start_[b] = std::max(head_start_[b], row_head_start_[r]);
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

// Maximal runs of rows that unplaced buffers connect; what failed most first.
std::vector<Search::Run> Search::runs_left(Run run) const {
  std::vector<std::pair<double, Run>> found;
  int32_t begin = run.first;
  bool any = false;
  double failures = 0;
  for (int32_t r = run.first; r < run.second; ++r) {
    any = any || rows_[r].count > 0;
    failures = std::max(failures, failures_[r]);
    if (r + 1 < run.second && across_[r] > 0) continue;
    if (any) found.push_back({-failures, {begin, r + 1}});
    begin = r + 1;
    any = false;
    failures = 0;
  }
  std::sort(found.begin(), found.end());
  std::vector<Run> runs;
  for (const auto& entry : found) runs.push_back(entry.second);
  return runs;
}

// Among those that can be placed, the lowest; of equals, the most important.
BufferIdx Search::choose_buffer(Run run) const {
  BufferIdx best = -1;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].placed) continue;
    const auto b = static_cast<BufferIdx>(i);
    if (best >= 0) {
      if (rank(b) > rank(best)) continue;
      if (rank(b) == rank(best) && priority_[b] <= priority_[best]) continue;
    }
    if (rows_of_[b].front() < run.first || rows_of_[b].back() >= run.second) {
      continue;
    }
    if (can_be_placed(b)) best = b;
  }
  return best;
}

// The tightest row with two candidates, unless some buffer is lower.
int32_t Search::choose_pair(Run run, int64_t below) const {
  int32_t best = -1;
  int64_t least_room = kNever;
  for (int32_t r = run.first; r < run.second; ++r) {
    const Row& row = rows_[r];
    if (row.count < 2 || row.next >= 0 || row.candidates.count != 2) continue;
    if (row.candidates.lowest_start - row_head_start_[r] > below) continue;
    const int64_t room = capacity_ - row.rest - row.candidates.lowest_start;
    if (room < least_room) {
      least_room = room;
      best = r;
    }
  }
  return best;
}

// Runs that nothing unplaced connects are solved one after another. While one of
// them is, nothing looks beyond its rows: a failure would else rest on where the
// others happen to be, which its reason does not say.
bool Search::solve(Run run, int32_t level) {
  if (!propagate()) return false;
  const std::vector<Run> runs = runs_left(run);
  const Run outer = scope_;
  for (const Run& next : runs) {
    if (runs.size() > 1) scope_ = next;
    const bool solved = solve_connected(next, level);
    scope_ = outer;
    if (!solved) return false;
  }
  return true;
}

// Each step either solves the run, fails for good, or adds a refutation, after
// which it goes on with what that has left.
bool Search::solve_connected(Run run, int32_t level) {
  bool solved = false;
  while (true) {
    const int64_t work = 1 + visited_ / kVisitsPerStep;
    visited_ = 0;
    const bool remembers_too_much = old_rows_.size() + old_states_.size() > kMostRemembered;
    if (nodes_left_-- <= 0 || remembers_too_much || !effort_->spend(work)) {
      gave_up_ = true;
      return false;
    }
    const BufferIdx buffer = choose_buffer(run);
    const int32_t pair = settle_pairs_ ? choose_pair(run, buffer >= 0 ? rank(buffer) : kNever) : -1;
    if (pair >= 0) {
      if (!settle_pair(pair, run, level, &solved)) return false;
    } else if (buffer >= 0) {
      if (!try_buffer(buffer, run, level, &solved)) return false;
    } else {
      Reason reason;
      for (int32_t r = run.first; r < run.second; ++r) {
        reason.add(row_reason(r));
      }
      return fail(reason);
    }
    if (solved) return true;
    if (!propagate()) return false;
    const std::vector<Run> runs = runs_left(run);
    if (runs.empty()) return true;
    if (runs.size() > 1) return solve(run, level);
    run = runs[0];
  }
}

// Tries the buffer as the lowest of all its rows; if that fails, says so.
bool Search::try_buffer(BufferIdx buffer, Run run, int32_t level, bool* solved) {
  const size_t rows_mark = old_rows_.size();
  const size_t states_mark = old_states_.size();
  ++choice_;
  Reason own;
  own.add(level);
  for (const int32_t row : rows_of_[buffer]) {
    if (rows_[row].next != buffer) set_next(row, buffer, own);
  }
  if (solve(run, level + 1)) return *solved = true;
  drop_queues();
  undo_to(rows_mark, states_mark);
  // A failure that does not rest on this step would come without it, too.
  if (gave_up_ || !conflict_.has(level)) return false;
  Reason rest = conflict_;
  rest.remove(level);
  return refute(buffer, rest);
}

// Tries the more likely one of two; if that fails, it must be the other.
bool Search::settle_pair(int32_t row, Run run, int32_t level, bool* solved) {
  BufferIdx first = rows_[row].candidates.first[0];
  BufferIdx second = rows_[row].candidates.first[1];
  if (states_[second].lowest < states_[first].lowest ||
      (states_[second].lowest == states_[first].lowest && priority_[second] > priority_[first])) {
    std::swap(first, second);
  }
  const Reason only_two = row_reason(row);
  const size_t rows_mark = old_rows_.size();
  const size_t states_mark = old_states_.size();
  ++choice_;
  Reason own;
  own.add(level);
  set_next(row, first, own);
  if (solve(run, level + 1)) return *solved = true;
  drop_queues();
  undo_to(rows_mark, states_mark);
  if (gave_up_ || !conflict_.has(level)) return false;
  Reason rest = conflict_;
  rest.remove(level);
  rest.add(only_two);
  set_next(row, second, rest);
  return true;
}

double Search::share_of_full_rows(int64_t capacity) const {
  int64_t full = 0;
  for (const std::vector<Member>& members : members_) {
    int64_t total = 0;
    for (const Member& m : members) total += m.high - m.low;
    if (total >= capacity / unit_) ++full;
  }
  return static_cast<double>(full) / static_cast<double>(std::max<size_t>(members_.size(), 1));
}

Search::Outcome Search::run(int64_t capacity, const Guide& guide, int64_t node_limit,
                            Effort* effort) {
  reset(capacity, guide);
  nodes_left_ = node_limit;
  effort_ = effort;
  scope_ = {0, static_cast<int32_t>(rows_.size())};
  for (const State& state : states_) {
    if (state.lowest > state.highest) return Outcome::kRefuted;
  }
  if (!solve(scope_, 0)) {
    drop_queues();
    return gave_up_ ? Outcome::kGaveUp : Outcome::kRefuted;
  }
  for (int64_t& offset : offsets_) offset *= unit_;
  return Outcome::kFound;
}

}  // namespace petrel::exir::plan
