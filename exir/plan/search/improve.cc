// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/improve.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "exir/plan/search/contraction.h"
#include "exir/plan/search/descent.h"
#include "exir/plan/search/local_search.h"
#include "exir/plan/search/reassembly.h"
#include "exir/plan/model/reversal.h"
#include "exir/plan/search/search.h"

namespace petrel::exir::plan {
namespace {

constexpr int64_t kFewRounds = 50;
constexpr int64_t kStepsOfFirstTurn = 400'000;
// Of the buffers; so few are worth more than the buffers themselves.
constexpr double kFewItems = 0.85;
constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

}  // namespace

void improve(const Problem& problem, const ConflictGraph& graph, int64_t goal, bool only_goal,
             Effort* effort, ComponentPlan* plan) {
  const int64_t enough = std::max(goal, plan->lower_bound);
  if (problem.buffers.size() > Search::kMaxBuffers) {
    local_search(problem, graph, enough, kEndless, effort, plan);
    return;
  }
  // Where the bound is loose a few rounds of this save long tries.
  local_search(problem, graph, enough, kFewRounds, effort, plan);
  if (plan->peak <= enough) return;
  // What is hard in one direction of time may be easy in the other.
  const Problem reverse = reversed(problem);
  Effort share = effort->share(0);
  Descent forward(problem, graph, &share, plan);
  if (forward.is_too_large()) {
    local_search(problem, graph, enough, kEndless, effort, plan);
    return;
  }
  std::optional<Descent> backward;
  std::optional<Reassembler> reassembler;
  const auto done = [&] {
    return plan->peak <= std::max(goal, plan->lower_bound) ||
           (only_goal && plan->lower_bound > goal) || effort->exhausted() || forward.decided() ||
           (backward.has_value() && backward->decided());
  };
  const auto take_turn = [&](int64_t steps, const auto& player) {
    if (done()) return;
    share = effort->share(steps);
    player();
    effort->absorb(share);
  };
  if (std::optional<Contraction> items = Contraction::of(problem, graph, enough)) {
    items->contract();
    const auto size = static_cast<int64_t>(problem.buffers.size());
    const bool few =
        static_cast<double>(items->num_items()) < kFewItems * static_cast<double>(size);
    reassembler.emplace(problem, *std::move(items), enough, &share, plan);
    if (few) {
      const int64_t nodes = 20 * size + 5000;
      take_turn(4 * nodes, [&] { forward.attempt(enough, nodes); });
      take_turn(only_goal ? kEndless : effort->nodes_left() / 2, [&] { reassembler->run(); });
    }
  }
  for (int64_t steps = kStepsOfFirstTurn; !done(); steps *= 2) {
    take_turn(steps, [&] { forward.run(goal, only_goal); });
    take_turn(steps, [&] {
      if (!backward.has_value()) {
        backward.emplace(reverse, graph, &share, plan);
      }
      backward->run(goal, only_goal);
    });
    take_turn(steps, [&] {
      if (reassembler.has_value()) reassembler->run();
    });
  }
}

}  // namespace petrel::exir::plan
