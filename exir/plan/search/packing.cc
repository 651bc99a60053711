// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/packing.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "exir/plan/model/bound.h"
#include "exir/plan/model/solution.h"
#include "exir/plan/search/greedy.h"
#include "exir/plan/search/improve.h"
#include "exir/plan/search/ordering.h"

namespace petrel::exir::plan {
namespace {

// A connected set of buffers as a problem of its own with one pool.
struct Component {
  Problem problem;
  ConflictGraph graph;
  std::vector<size_t> member_of;  // position in the members of the packing
  ComponentPlan plan;
};

// Conflicts that all orderings of one component may look at: some seconds.
constexpr int64_t kMaxVisits = 100'000'000;

// Only what bounds and orderings read; pairs among `members` are renumbered.
Problem restricted(const Problem& whole, const std::vector<BufferIdx>& members) {
  Problem problem;
  problem.pools.resize(1);
  for (const BufferIdx member : members) {
    problem.buffers.push_back(whole.buffers[member]);
    problem.buffers.back().pools.clear();
  }
  // There may be as many components as buffers, so nothing of the size of the whole.
  if (whole.non_conflicts.empty() && whole.overlaps.empty()) return problem;
  std::vector<BufferIdx> index(whole.buffers.size(), -1);
  for (size_t i = 0; i < members.size(); ++i) {
    index[members[i]] = static_cast<BufferIdx>(i);
  }
  for (const Pair& pair : whole.non_conflicts) {
    if (index[pair.first] >= 0 && index[pair.second] >= 0) {
      problem.non_conflicts.push_back({index[pair.first], index[pair.second]});
    }
  }
  for (const PermittedOverlap& overlap : whole.overlaps) {
    if (index[overlap.lower] >= 0 && index[overlap.upper] >= 0) {
      problem.overlaps.push_back({index[overlap.lower], index[overlap.upper], overlap.bytes});
    }
  }
  return problem;
}

// Labels of connected sets, 0, 1, ... in order of their first buffer.
std::vector<int32_t> components(const ConflictGraph& graph, size_t num_buffers, int32_t* count) {
  std::vector<int32_t> label(num_buffers, -1);
  std::vector<BufferIdx> stack;
  *count = 0;
  for (size_t i = 0; i < num_buffers; ++i) {
    if (label[i] >= 0) continue;
    label[i] = *count;
    stack.push_back(static_cast<BufferIdx>(i));
    while (!stack.empty()) {
      const BufferIdx b = stack.back();
      stack.pop_back();
      for (const Edge* e = graph.begin(b); e != graph.end(b); ++e) {
        if (label[e->other] >= 0) continue;
        label[e->other] = *count;
        stack.push_back(e->other);
      }
    }
    ++*count;
  }
  return label;
}

int64_t peak_of(const Problem& problem, const std::vector<Placement>& places) {
  int64_t peak = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    peak = std::max(peak, places[i].offset + problem.buffers[i].size);
  }
  return peak;
}

void keep_if_better(const std::vector<Placement>& places, const std::string& method,
                    Component* component) {
  const int64_t peak = peak_of(component->problem, places);
  ComponentPlan& plan = component->plan;
  if (!plan.offsets.empty() && peak >= plan.peak) return;
  plan.peak = peak;
  plan.method = method;
  plan.offsets.clear();
  for (const Placement& place : places) plan.offsets.push_back(place.offset);
}

// All orderings and fits, until one reaches `target`, or, once there is a plan,
// until the time is over or more conflicts were looked at than is reasonable.
void run_portfolio(int64_t target, Effort* effort, Component* component) {
  const Problem& problem = component->problem;
  bool fixed = false;
  std::vector<BufferIdx> all;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    all.push_back(static_cast<BufferIdx>(i));
    fixed = fixed || problem.buffers[i].offset.has_value();
  }
  const PoolChoices choices = pool_choices(problem);
  std::vector<Placement> places(all.size());
  int64_t visited = 0;
  for (const Ordering& ordering : all_orderings(problem)) {
    const std::vector<BufferIdx> order = ordered(problem, component->graph, all, ordering);
    for (const Fit fit : {Fit::kFirst, Fit::kBest, Fit::kLowest}) {
      if (fit == Fit::kLowest && fixed) continue;
      const bool sure = component->plan.offsets.empty() || visited < kSureVisits;
      if (!sure && (visited > kMaxVisits || effort->late())) return;
      visited += static_cast<int64_t>(all.size()) + component->graph.num_edges();
      if (!place_in_order(problem, component->graph, choices, order, fit, sure ? nullptr : effort,
                          &places)) {
        continue;
      }
      static constexpr const char* kNames[] = {"first fit by ", "best fit by ", "lowest by "};
      keep_if_better(places, kNames[static_cast<int>(fit)] + name_of(ordering), component);
      if (component->plan.peak <= std::max(target, component->plan.lower_bound)) return;
    }
  }
}

}  // namespace

Packing pack(const Problem& problem, const ConflictGraph& graph,
             const std::vector<BufferIdx>& members, int64_t target, Effort* effort) {
  Packing packing;
  packing.offsets.resize(members.size());
  const Problem pool_problem = restricted(problem, members);
  const ConflictGraph pool_graph(graph, members);
  int32_t num_parts = 0;
  const std::vector<int32_t> label = components(pool_graph, members.size(), &num_parts);
  std::vector<std::vector<BufferIdx>> parts_members(num_parts);
  for (size_t i = 0; i < members.size(); ++i) {
    parts_members[label[i]].push_back(static_cast<BufferIdx>(i));
  }

  // Single buffers need no thought; the rest is bounded first, because a component
  // need not be better than the worst bound of all.
  std::vector<Component> components;
  for (const std::vector<BufferIdx>& own : parts_members) {
    if (own.size() == 1) {
      const Buffer& buffer = pool_problem.buffers[own[0]];
      packing.offsets[own[0]] = buffer.offset.value_or(0);
      packing.peak = std::max(packing.peak, packing.offsets[own[0]] + buffer.size);
      continue;
    }
    Component component{restricted(pool_problem, own),
                        ConflictGraph(pool_graph, own),
                        {own.begin(), own.end()},
                        ComponentPlan()};
    component.plan.lower_bound = BoundFinder(component.problem, component.graph).bound({});
    components.push_back(std::move(component));
  }
  packing.method = "single buffer";
  packing.lower_bound = packing.peak;
  for (const Component& component : components) {
    packing.lower_bound = std::max(packing.lower_bound, component.plan.lower_bound);
  }
  for (Component& component : components) {
    run_portfolio(std::max(target, packing.lower_bound), effort, &component);
  }

  // The hardest component decides how far the others need to go.
  std::stable_sort(
      components.begin(), components.end(),
      [](const Component& a, const Component& b) { return a.plan.peak > b.plan.peak; });
  for (Component& component : components) {
    const int64_t goal = std::max(target, packing.lower_bound);
    if (component.plan.peak <= goal || effort->exhausted()) continue;
    improve(component.problem, component.graph, goal, target > 0, effort, &component.plan);
    packing.lower_bound = std::max(packing.lower_bound, component.plan.lower_bound);
  }
  for (const Component& component : components) {
    if (component.plan.peak > packing.peak) {
      packing.peak = component.plan.peak;
      packing.method = component.plan.method;
    }
    for (size_t i = 0; i < component.member_of.size(); ++i) {
      packing.offsets[component.member_of[i]] = component.plan.offsets[i];
    }
  }
  return packing;
}

}  // namespace petrel::exir::plan
