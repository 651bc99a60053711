// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/descent.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "exir/plan/search/ordering.h"

namespace petrel::exir::plan {
namespace {

// Capacities that are refuted one after the other before halving begins.
constexpr int kMostClimbed = 256;

}  // namespace

Descent::Descent(const Problem& problem, const ConflictGraph& graph, Effort* effort,
                 ComponentPlan* plan)
    : problem_(problem), search_(problem, graph), effort_(effort), plan_(plan) {
  // Buffers on crowded stretches of time first, then long ones; or long
  // ones first: each fails where the other finds plans at once.
  const std::vector<std::vector<Key>> keys = {
      {Key::kCrowd, Key::kWidth, Key::kArea},
      {Key::kWidth, Key::kArea, Key::kCrowd},
      {Key::kCrowd, Key::kArea, Key::kWidth},
      {Key::kArea},
      {Key::kSize, Key::kWidth},
  };
  std::vector<BufferIdx> all;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    all.push_back(static_cast<BufferIdx>(i));
  }
  for (const std::vector<Key>& k : keys) {
    for (const bool mirrored : {false, true}) {
      const std::vector<BufferIdx> order = ordered(problem, graph, all, {k, mirrored});
      std::vector<double> priority(order.size());
      for (size_t i = 0; i < order.size(); ++i) {
        priority[order[i]] = -static_cast<double>(i);
      }
      priorities_.push_back(std::move(priority));
    }
  }
}

Search::Outcome Descent::attempt(int64_t capacity, int64_t nodes) {
  static constexpr std::array<double, 3> kFocus = {0, 0.1, 0.2};
  // Indices of priorities. Where no instant leaves anything free, large
  // buffers first is better.
  static constexpr std::array<size_t, 8> kLoose = {0, 2, 4, 3, 2, 3, 6, 2};
  static constexpr std::array<size_t, 8> kTight = {0, 6, 4, 8, 2, 7, 5, 9};
  const std::array<size_t, 8>& order =
      search_.share_of_full_rows(capacity) > 0.75 ? kTight : kLoose;
  const auto size = static_cast<int64_t>(problem_.buffers.size());
  int64_t run_length = 100 + size + size / 5;
  // One may be refuted before its first step.
  effort_->spend();
  for (size_t turn = 0; nodes > 0 && !effort_->exhausted(); ++turn) {
    Search::Guide guide;
    guide.priority = priorities_[order[turn % order.size()]];
    guide.focus = kFocus[turn / 2 % kFocus.size()];
    guide.settle_pairs = turn % 7 != 6;
    const Search::Outcome outcome = search_.run(capacity, guide, run_length, effort_);
    if (outcome == Search::Outcome::kFound) {
      keep();
      return outcome;
    }
    if (outcome == Search::Outcome::kRefuted) {
      if (search_.proves()) {
        plan_->lower_bound = std::max(plan_->lower_bound, capacity + search_.unit());
      }
      return outcome;
    }
    nodes -= run_length;
    run_length += run_length / 50;
  }
  return Search::Outcome::kGaveUp;
}

void Descent::run(int64_t goal, bool only_goal) {
  const int64_t unit = search_.unit();
  // Offsets and sizes are multiples of the unit, so peaks are.
  plan_->lower_bound = (plan_->lower_bound + unit - 1) / unit * unit;
  const auto size = static_cast<int64_t>(problem_.buffers.size());
  if (!begun_) {
    begun_ = true;
    patience_ = 20 * size + 5000;
    int64_t open = floor_of(goal);  // largest that did not work out
    // Unit by unit: an alignment may be a million of them above the least that fits.
    for (int climbed = 0; climbed < kMostClimbed; ++climbed) {
      open = floor_of(std::max(goal, plan_->lower_bound));
      if (done(goal, only_goal)) return;
      if (attempt(open, patience_) != Search::Outcome::kRefuted) break;
      if (!search_.proves()) break;
    }
    patience_ = 4 * size + 1000;
    while (!only_goal && !done(goal, only_goal) && !effort_->exhausted() &&
           plan_->peak - open > std::max(2 * unit, plan_->peak / 256)) {
      const int64_t middle = floor_of(open + (plan_->peak - open) / 2);
      if (middle <= open) break;
      if (attempt(middle, patience_) != Search::Outcome::kFound) {
        open = middle;
      }
    }
  }
  // Just below what is known, and the goal again, ever longer.
  bool undecided = true;
  while (undecided && !done(goal, only_goal) && !effort_->exhausted()) {
    undecided = false;
    const int64_t best = plan_->peak;
    const int64_t least = floor_of(std::max(goal, plan_->lower_bound));
    for (const int64_t divisor : {64, 16, 4, 1}) {
      if (only_goal && divisor != 1) continue;
      const int64_t capacity = floor_of(best - std::max(unit, (best - least) / divisor));
      if (done(goal, only_goal) || capacity < least) continue;
      if (attempt(capacity, patience_) != Search::Outcome::kRefuted) {
        undecided = true;
      }
      if (plan_->peak < best) break;
    }
    if (plan_->peak == best) patience_ *= 2;
  }
  decided_ = !undecided;
}

bool Descent::done(int64_t goal, bool only_goal) const {
  if (only_goal && plan_->lower_bound > goal) return true;
  return plan_->peak <= std::max(goal, plan_->lower_bound);
}

void Descent::keep() {
  const std::vector<int64_t>& offsets = search_.offsets();
  int64_t peak = 0;
  for (size_t i = 0; i < problem_.buffers.size(); ++i) {
    peak = std::max(peak, offsets[i] + problem_.buffers[i].size);
  }
  if (peak >= plan_->peak) return;
  plan_->peak = peak;
  plan_->offsets = offsets;
  plan_->method = "exact search";
}

}  // namespace petrel::exir::plan
