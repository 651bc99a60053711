// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/reassembly.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "exir/plan/model/conflict_graph.h"
#include "exir/plan/search/descent.h"
#include "exir/plan/model/reversal.h"
#include "exir/plan/search/search.h"

namespace petrel::exir::plan {
namespace {

// Members of groups looked at that cost as much as one step of effort.
constexpr int64_t kVisitsPerStep = 64;

constexpr int64_t kFirstSteps = 1000;
constexpr uint64_t kSeed = 0x626c6f636b73u;

}  // namespace

// The items in one direction of time.
struct Reassembler::Direction {
  Problem problem;
  ConflictGraph graph;
  Effort share;
  ComponentPlan plan;
  Descent descent;

  Direction(Problem items, int64_t capacity, const Effort& effort)
      : problem(std::move(items)),
        graph(problem),
        share(effort),
        descent(problem, graph, &share, &plan) {
    plan.peak = capacity + 1;
  }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;
};

Reassembler::Reassembler(const Problem& problem, Contraction items, int64_t capacity,
                         Effort* effort, ComponentPlan* plan)
    : problem_(problem),
      items_(std::move(items)),
      capacity_(capacity),
      effort_(effort),
      plan_(plan),
      random_(kSeed),
      steps_(4 * static_cast<int64_t>(items_.num_items()) + kFirstSteps) {}

Reassembler::~Reassembler() = default;

void Reassembler::run() {
  while (!decided_ && !effort_->exhausted()) {
    if (turn_ % 2 == 0) {
      search(turn_ / 2 % 2 != 0, steps_);
    } else {
      guess(steps_);
    }
    if (turn_ % 4 == 3) steps_ += steps_ / 2;
    ++turn_;
  }
}

void Reassembler::search(bool backward, int64_t steps) {
  std::unique_ptr<Direction>& direction = directions_[backward];
  if (direction == nullptr) {
    const Problem items = items_.reduced();
    direction =
        std::make_unique<Direction>(backward ? reversed(items) : items, capacity_, *effort_);
  }
  direction->share = effort_->share(steps);
  const Search::Outcome outcome = direction->descent.attempt(capacity_, steps);
  effort_->absorb(direction->share);
  if (outcome == Search::Outcome::kGaveUp) return;
  decided_ = true;
  if (outcome == Search::Outcome::kFound) {
    keep(items_, direction->plan, "exact search");
  } else {
    plan_->lower_bound = std::max(plan_->lower_bound, direction->plan.lower_bound);
  }
}

void Reassembler::guess(int64_t steps) {
  Effort share = effort_->share(steps);
  while (!decided_ && !share.exhausted()) {
    Contraction items = items_;
    int64_t visited = items.visited();
    if (guesses_ % 4 != 3) items.trust_twins();
    while (items.guess(&random_, guesses_ > 0)) {
      if (!share.spend(1 + (items.visited() - visited) / kVisitsPerStep)) break;
      visited = items.visited();
    }
    const Problem problem = items.reduced();
    const auto size = static_cast<int64_t>(problem.buffers.size());
    share.spend(size);
    Direction direction(guesses_ % 2 == 0 ? problem : reversed(problem), capacity_,
                        share.share(4 * (100 + 3 * size)));
    ++guesses_;
    const Search::Outcome outcome = direction.descent.attempt(capacity_, 100 + 3 * size);
    share.absorb(direction.share);
    if (outcome != Search::Outcome::kFound) continue;
    keep(items, direction.plan, "search of guessed blocks");
    decided_ = true;
  }
  effort_->absorb(share);
}

void Reassembler::keep(const Contraction& items, const ComponentPlan& found, const char* method) {
  const std::vector<int64_t> offsets = items.expanded(found.offsets);
  int64_t peak = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    peak = std::max(peak, offsets[i] + problem_.buffers[i].size);
  }
  if (peak >= plan_->peak) return;
  plan_->peak = peak;
  plan_->offsets = offsets;
  plan_->method = method;
}

}  // namespace petrel::exir::plan
