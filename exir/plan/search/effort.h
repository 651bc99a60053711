// SPDX-License-Identifier: Apache-2.0
//
// What search may still spend: steps, which make an answer reproducible, and
// optionally time, which does not. Shared by all stages of one plan.
//
//   while (effort.spend()) { ... one step ... }
//
// Orderings cost no steps but time: what they do is cut by late().

#ifndef PETREL_EXIR_PLAN_SEARCH_EFFORT_H_
#define PETREL_EXIR_PLAN_SEARCH_EFFORT_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace petrel::exir::plan {

class Effort {
 public:
  // In seconds from any moment on.
  using Clock = std::function<double()>;

  // budget_ms 0: no limit. `clock`: the machine's, if empty.
  Effort(int64_t node_budget, int64_t budget_ms, Clock clock = nullptr)
      : node_budget_(node_budget),
        clock_(std::move(clock)),
        begin_(now()),
        timed_(budget_ms > 0),
        end_(begin_ + static_cast<double>(budget_ms) / 1000) {}

  // Counts steps; false once the budget is gone.
  bool spend(int64_t steps = 1) {
    nodes_ += steps;
    if (exhausted_) return false;
    if (nodes_ > node_budget_) return !(exhausted_ = true);
    // A look at the clock costs as much as a few steps.
    if (timed_ && nodes_ >= next_look_) {
      next_look_ = nodes_ + 64;
      if (late()) return false;
    }
    return true;
  }

  // Looks at the clock: whether the time is over, after which nothing is left.
  bool late() {
    if (!timed_) return false;
    if (!late_) late_ = now() >= end_;
    if (late_) exhausted_ = true;
    return late_;
  }

  // A share for one stage, with the same clock; to be absorbed afterwards.
  Effort share(int64_t steps) const {
    Effort share = *this;
    share.nodes_ = 0;
    share.next_look_ = 0;
    share.node_budget_ = std::max<int64_t>(0, std::min(steps, exhausted() ? 0 : nodes_left()));
    return share;
  }
  void absorb(const Effort& share) {
    late_ = late_ || share.late_;
    exhausted_ = exhausted_ || late_;
    spend(share.nodes_);
  }

  bool exhausted() const { return exhausted_ || nodes_ >= node_budget_; }
  int64_t nodes() const { return nodes_; }
  int64_t nodes_left() const { return node_budget_ - nodes_; }
  double seconds() const { return now() - begin_; }

 private:
  double now() const {
    if (clock_) return clock_();
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  int64_t node_budget_;
  int64_t nodes_ = 0;
  int64_t next_look_ = 0;
  bool exhausted_ = false;
  bool late_ = false;
  Clock clock_;
  double begin_;
  bool timed_;
  double end_;
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_EFFORT_H_
