// SPDX-License-Identifier: Apache-2.0
//
// What search may still spend: steps, which make an answer reproducible, and
// optionally time, which does not. Shared by all stages of one plan.
//
//   while (effort.spend()) { ... one step ... }

#ifndef PETREL_EXIR_PLAN_EFFORT_H_
#define PETREL_EXIR_PLAN_EFFORT_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace petrel::exir::plan {

class Effort {
 public:
  // budget_ms 0: no clock.
  Effort(int64_t node_budget, int64_t budget_ms)
      : node_budget_(node_budget), begin_(Clock::now()), timed_(budget_ms > 0),
        end_(begin_ + std::chrono::milliseconds(budget_ms)) {}

  // Counts steps; false once the budget is gone.
  bool spend(int64_t steps = 1) {
    nodes_ += steps;
    if (exhausted_) return false;
    if (nodes_ > node_budget_) return !(exhausted_ = true);
    // A look at the clock costs as much as a few steps.
    if (timed_ && nodes_ >= next_look_) {
      next_look_ = nodes_ + 64;
      if (Clock::now() >= end_) return !(exhausted_ = true);
    }
    return true;
  }

  // A share for one stage, with the same clock; to be absorbed afterwards.
  Effort part(int64_t steps) const {
    Effort part = *this;
    part.nodes_ = 0;
    part.next_look_ = 0;
    part.node_budget_ = std::max<int64_t>(
        0, std::min(steps, exhausted() ? 0 : nodes_left()));
    return part;
  }
  void absorb(const Effort& part) { spend(part.nodes_); }

  bool exhausted() const { return exhausted_ || nodes_ >= node_budget_; }
  int64_t nodes() const { return nodes_; }
  int64_t nodes_left() const { return node_budget_ - nodes_; }
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  int64_t node_budget_;
  int64_t nodes_ = 0;
  int64_t next_look_ = 0;
  bool exhausted_ = false;
  Clock::time_point begin_;
  bool timed_;
  Clock::time_point end_;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_EFFORT_H_
