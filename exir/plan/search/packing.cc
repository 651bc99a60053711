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
struct Part {
  Problem problem;
  ConflictGraph graph;
  std::vector<size_t> member_of;  // position in the members of the packing
  PartPlan plan;
};

// Conflicts that all orderings of one part may look at: some seconds.
constexpr int64_t kMaxVisits = 100'000'000;

// Only what bounds and orderings read; pairs among `members` are renumbered.
Problem restricted(const Problem& whole, const std::vector<BufferIdx>& members) {
  Problem problem;
  problem.pools.resize(1);
  for (const BufferIdx member : members) {
    problem.buffers.push_back(whole.buffers[member]);
    problem.buffers.back().pools.clear();
  }
  // There may be as many parts as buffers, so nothing of the size of the whole.
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

void keep_if_better(const std::vector<Placement>& places, const std::string& method, Part* part) {
  const int64_t peak = peak_of(part->problem, places);
  PartPlan& plan = part->plan;
  if (!plan.offsets.empty() && peak >= plan.peak) return;
  plan.peak = peak;
  plan.method = method;
  plan.offsets.clear();
  for (const Placement& place : places) plan.offsets.push_back(place.offset);
}

// All orderings and fits, until one reaches `target`, or, once there is a plan,
// until the time is over or more conflicts were looked at than is reasonable.
void run_portfolio(int64_t target, Effort* effort, Part* part) {
  const Problem& problem = part->problem;
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
    const std::vector<BufferIdx> order = ordered(problem, part->graph, all, ordering);
    for (const Fit fit : {Fit::kFirst, Fit::kBest, Fit::kLowest}) {
      if (fit == Fit::kLowest && fixed) continue;
      const bool sure = part->plan.offsets.empty() || visited < kSureVisits;
      if (!sure && (visited > kMaxVisits || effort->late())) return;
      visited += static_cast<int64_t>(all.size()) + part->graph.num_edges();
      if (!place_in_order(problem, part->graph, choices, order, fit, sure ? nullptr : effort,
                          &places)) {
        continue;
      }
      static constexpr const char* kNames[] = {"first fit by ", "best fit by ", "lowest by "};
      keep_if_better(places, kNames[static_cast<int>(fit)] + name_of(ordering), part);
      if (part->plan.peak <= std::max(target, part->plan.lower_bound)) return;
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

  // Single buffers need no thought; the rest is bounded first, because a part
  // need not be better than the worst bound of all.
  std::vector<Part> parts;
  for (const std::vector<BufferIdx>& own : parts_members) {
    if (own.size() == 1) {
      const Buffer& buffer = pool_problem.buffers[own[0]];
      packing.offsets[own[0]] = buffer.offset.value_or(0);
      packing.peak = std::max(packing.peak, packing.offsets[own[0]] + buffer.size);
      continue;
    }
    Part part{restricted(pool_problem, own),
              ConflictGraph(pool_graph, own),
              {own.begin(), own.end()},
              PartPlan()};
    part.plan.lower_bound = BoundFinder(part.problem, part.graph).bound({});
    parts.push_back(std::move(part));
  }
  packing.method = "single buffer";
  packing.lower_bound = packing.peak;
  for (const Part& part : parts) {
    packing.lower_bound = std::max(packing.lower_bound, part.plan.lower_bound);
  }
  for (Part& part : parts) {
    run_portfolio(std::max(target, packing.lower_bound), effort, &part);
  }

  // The hardest part decides how far the others need to go.
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.plan.peak > b.plan.peak; });
  for (Part& part : parts) {
    const int64_t goal = std::max(target, packing.lower_bound);
    if (part.plan.peak <= goal || effort->exhausted()) continue;
    improve(part.problem, part.graph, goal, target > 0, effort, &part.plan);
    packing.lower_bound = std::max(packing.lower_bound, part.plan.lower_bound);
  }
  for (const Part& part : parts) {
    if (part.plan.peak > packing.peak) {
      packing.peak = part.plan.peak;
      packing.method = part.plan.method;
    }
    for (size_t i = 0; i < part.member_of.size(); ++i) {
      packing.offsets[part.member_of[i]] = part.plan.offsets[i];
    }
  }
  return packing;
}

}  // namespace petrel::exir::plan
