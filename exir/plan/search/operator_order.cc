// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/operator_order.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/plan/model/problem.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {
namespace {

template <typename... Args>
absl::Status invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

absl::Status check(const OrderProblem& problem) {
  const auto num_values = static_cast<int64_t>(problem.values.size());
  const auto num_operators = static_cast<int64_t>(problem.operators.size());
  int64_t total = 0;
  for (int64_t v = 0; v < num_values; ++v) {
    const OrderProblem::Value& value = problem.values[v];
    if (value.size < 0 || value.size >= kMaxBytes - total) {
      return invalid("value ", v, ": size is ", value.size,
                     ", must not be negative nor bring the sum to ", kMaxBytes);
    }
    total += value.size;
    if (value.producer < -1 || value.producer >= num_operators) {
      return invalid("value ", v, ": producer is ", value.producer, ", must be in [-1, ",
                     num_operators, ")");
    }
  }
  for (int64_t o = 0; o < num_operators; ++o) {
    for (const int32_t v : problem.operators[o].reads) {
      if (v < 0 || v >= num_values || problem.values[v].producer >= o) {
        return invalid("operator ", o, " reads value ", v, ", which is not made before it");
      }
    }
    for (const int32_t before : problem.operators[o].after) {
      if (before < 0 || before >= o) {
        return invalid("operator ", o, " comes after operator ", before, ", must be in [0, ", o,
                       ")");
      }
    }
  }
  return absl::OkStatus();
}

// Operators that are looked at in all, each in some nanoseconds: a graph of 260,000 of them would
// be gone through for hours.
constexpr int64_t kMostSteps = int64_t{1} << 31;

// What has run so far, and what that means for memory. Running an operator
// cannot be undone; copies are cheap enough.
class Progress {
 public:
  // Facts that never change, shared by all, and what may still be done with them.
  struct Facts {
    explicit Facts(const OrderProblem& given) : problem(given) {
      const size_t n = given.operators.size();
      reads.resize(n);
      makes.resize(n);
      followers.resize(n);
      num_readers.resize(given.values.size(), 0);
      num_before.resize(n, 0);
      for (size_t v = 0; v < given.values.size(); ++v) {
        if (given.values[v].producer >= 0) {
          makes[given.values[v].producer].push_back(static_cast<int32_t>(v));
        }
      }
      for (size_t o = 0; o < n; ++o) {
        reads[o] = given.operators[o].reads;
        std::sort(reads[o].begin(), reads[o].end());
        reads[o].erase(std::unique(reads[o].begin(), reads[o].end()), reads[o].end());
        std::vector<int32_t> before = given.operators[o].after;
        for (const int32_t v : reads[o]) {
          ++num_readers[v];
          if (given.values[v].producer >= 0) {
            before.push_back(given.values[v].producer);
          }
        }
        std::sort(before.begin(), before.end());
        before.erase(std::unique(before.begin(), before.end()), before.end());
        num_before[o] = static_cast<int32_t>(before.size());
        for (const int32_t b : before) {
          followers[b].push_back(static_cast<int32_t>(o));
        }
      }
    }

    // Before all operators are looked at or copied.
    bool take_turn() const {
      steps_left -= 1 + static_cast<int64_t>(reads.size());
      return steps_left > 0;
    }

    const OrderProblem& problem;
    std::vector<std::vector<int32_t>> reads, makes, followers;
    std::vector<int32_t> num_readers, num_before;
    mutable int64_t steps_left = kMostSteps;
  };

  explicit Progress(const Facts& facts)
      : facts_(&facts),
        readers_left_(facts.num_readers),
        before_left_(facts.num_before),
        done_(facts.reads.size(), '0') {
    for (const OrderProblem::Value& value : facts.problem.values) {
      if (value.producer < 0) live_ += value.size;
    }
    peak_ = live_;
    for (size_t v = 0; v < readers_left_.size(); ++v) {
      const OrderProblem::Value& value = facts.problem.values[v];
      if (value.producer < 0 && readers_left_[v] == 0 && !value.kept) {
        live_ -= value.size;
      }
    }
  }

  bool can_run(int32_t op) const { return done_[op] == '0' && before_left_[op] == 0; }

  // Bytes alive while it runs.
  int64_t need(int32_t op) const { return live_ + made(op); }

  // By how much fewer or more bytes are alive afterwards.
  int64_t change(int32_t op) const {
    int64_t change = made(op);
    for (const int32_t v : facts_->makes[op]) {
      if (facts_->num_readers[v] == 0 && !value(v).kept) {
        change -= value(v).size;
      }
    }
    for (const int32_t v : facts_->reads[op]) {
      if (readers_left_[v] == 1 && !value(v).kept) change -= value(v).size;
    }
    return change;
  }

  void run(int32_t op) {
    peak_ = std::max(peak_, need(op));
    live_ += change(op);
    for (const int32_t v : facts_->reads[op]) --readers_left_[v];
    for (const int32_t f : facts_->followers[op]) --before_left_[f];
    done_[op] = '1';
    order_.push_back(op);
  }

  // Everything that needs no more than the peak and frees what it makes.
  void run_what_is_free() {
    bool any = true;
    while (any && facts_->take_turn()) {
      any = false;
      for (int32_t op = 0; op < size(); ++op) {
        if (can_run(op) && need(op) <= peak_ && change(op) <= 0) {
          run(op);
          any = true;
        }
      }
    }
  }

  int32_t size() const { return static_cast<int32_t>(done_.size()); }
  bool complete() const { return order_.size() == done_.size(); }
  int64_t peak() const { return peak_; }
  const std::vector<int32_t>& order() const { return order_; }
  const std::string& key() const { return done_; }

 private:
  const OrderProblem::Value& value(int32_t v) const { return facts_->problem.values[v]; }
  int64_t made(int32_t op) const {
    int64_t bytes = 0;
    for (const int32_t v : facts_->makes[op]) bytes += value(v).size;
    return bytes;
  }

  const Facts* facts_;
  std::vector<int32_t> readers_left_, before_left_;
  std::string done_;
  std::vector<int32_t> order_;
  int64_t live_ = 0;
  int64_t peak_ = 0;
};

// Whatever makes the smallest step next; not complete where that takes too long.
Progress greedy(const Progress::Facts& facts) {
  Progress progress(facts);
  while (true) {
    progress.run_what_is_free();
    if (progress.complete() || !facts.take_turn()) return progress;
    int32_t best = -1;
    std::pair<int64_t, int64_t> least;
    for (int32_t op = 0; op < progress.size(); ++op) {
      if (!progress.can_run(op)) continue;
      const std::pair<int64_t, int64_t> step(progress.need(op), progress.change(op));
      if (best < 0 || step < least) {
        best = op;
        least = step;
      }
    }
    progress.run(best);
  }
}

// Every operator needs what it reads and makes, whatever the order.
int64_t evident_bound(const Progress::Facts& facts) {
  int64_t bound = Progress(facts).peak();
  int64_t kept = 0;
  for (const OrderProblem::Value& value : facts.problem.values) {
    if (value.kept) kept += value.size;
  }
  bound = std::max(bound, kept);
  for (size_t op = 0; op < facts.reads.size(); ++op) {
    int64_t need = 0;
    for (const std::vector<int32_t>* values : {&facts.reads[op], &facts.makes[op]}) {
      for (const int32_t v : *values) need += facts.problem.values[v].size;
    }
    bound = std::max(bound, need);
  }
  return bound;
}

}  // namespace

absl::StatusOr<OrderAnswer> best_order(const OrderProblem& problem, int64_t max_states) {
  PETREL_RETURN_IF_ERROR(check(problem));
  const Progress::Facts facts(problem);
  OrderAnswer answer;
  Progress given(facts);
  for (int32_t op = 0; op < given.size(); ++op) given.run(op);
  answer.order = given.order();
  answer.peak = answer.given_peak = given.peak();
  answer.lower_bound = evident_bound(facts);
  const auto offer = [&](const Progress& progress) {
    if (!progress.complete() || progress.peak() >= answer.peak) return;
    answer.peak = progress.peak();
    answer.order = progress.order();
  };
  if (answer.peak > answer.lower_bound) offer(greedy(facts));

  // Smallest peak first; of equal ones the one that is furthest.
  using Entry = std::tuple<int64_t, int64_t, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> open;
  std::vector<Progress> states;
  std::unordered_map<std::string, int64_t> best_peak;
  const auto add = [&](Progress progress) {
    progress.run_what_is_free();
    if (progress.peak() >= answer.peak) return;
    const auto [known, fresh] = best_peak.emplace(progress.key(), progress.peak());
    if (!fresh) {
      if (known->second <= progress.peak()) return;
      known->second = progress.peak();
    }
    open.emplace(progress.peak(), -static_cast<int64_t>(progress.order().size()),
                 static_cast<int32_t>(states.size()));
    states.push_back(std::move(progress));
  };
  if (answer.peak > answer.lower_bound) add(Progress(facts));
  bool is_cut = false;
  while (!open.empty() && !is_cut) {
    const int64_t peak = std::get<0>(open.top());
    answer.lower_bound = std::max(answer.lower_bound, peak);
    if (static_cast<int64_t>(states.size()) >= max_states) break;
    ++answer.states;
    const Progress now = std::move(states[std::get<2>(open.top())]);
    open.pop();
    if (now.complete()) {
      offer(now);
      break;
    }
    for (int32_t op = 0; op < now.size() && !is_cut; ++op) {
      if (!now.can_run(op)) continue;
      // One set may be followed by as many as there are operators.
      is_cut = static_cast<int64_t>(states.size()) >= max_states || !facts.take_turn();
      Progress next = now;
      next.run(op);
      add(std::move(next));
    }
  }
  // Nothing open: every order that could be better was gone through.
  if (open.empty() && !is_cut) answer.lower_bound = answer.peak;
  answer.lower_bound = std::min(answer.lower_bound, answer.peak);
  answer.optimal = answer.lower_bound == answer.peak;
  return answer;
}

}  // namespace petrel::exir::plan
