// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/search/planner_registry.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace petrel::exir::plan {
namespace {

constexpr const char* kSearch = "search";

absl::StatusOr<std::vector<Placement>> orderings(const Problem& problem, const Options&) {
  Options without_search;
  without_search.node_budget = 0;
  absl::StatusOr<Solution> solution = plan(problem, without_search);
  if (!solution.ok()) return solution.status();
  return std::move(solution->placements);
}

// Buffers one above the other, each in the first of its pools with room.
absl::StatusOr<std::vector<Placement>> unshared(const Problem& problem, const Options&) {
  std::vector<int64_t> used(problem.pools.size(), 0);
  std::vector<Placement> places;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.offset.has_value()) {
      return absl::UnimplementedError(
          absl::StrCat("planner unshared: buffer ", label(buffer),
                       " has a fixed offset, which it does not support"));
    }
    const size_t num_choices = buffer.pools.empty() ? used.size() : buffer.pools.size();
    bool placed = false;
    for (size_t i = 0; i < num_choices && !placed; ++i) {
      const PoolIdx pool = buffer.pools.empty() ? static_cast<PoolIdx>(i) : buffer.pools[i];
      // The sum of sizes and alignments is below kMaxBytes.
      const int64_t start =
          (used[pool] + buffer.alignment - 1) / buffer.alignment * buffer.alignment;
      const int64_t capacity = problem.pools[pool].capacity.value_or(kMaxBytes);
      if (start + buffer.size > capacity) continue;
      used[pool] = start + buffer.size;
      places.push_back({pool, start});
      placed = true;
    }
    if (!placed) {
      return absl::ResourceExhaustedError(
          absl::StrCat("found no plan that fits, whether there is one is not "
                       "known: planner unshared has no room left for buffer ",
                       label(buffer)));
    }
  }
  return places;
}

}  // namespace

PlannerRegistry PlannerRegistry::built_in() {
  PlannerRegistry registry;
  registry.planners_[kSearch] = nullptr;
  registry.planners_["orderings"] = orderings;
  registry.planners_["unshared"] = unshared;
  return registry;
}

absl::Status PlannerRegistry::add(const std::string& name, PlacementFn planner) {
  if (name.empty() || !planner) {
    return absl::InvalidArgumentError("a planner needs a name and a function");
  }
  if (!planners_.emplace(name, std::move(planner)).second) {
    return absl::AlreadyExistsError(absl::StrCat("there is a planner ", name, " already"));
  }
  return absl::OkStatus();
}

absl::Status PlannerRegistry::choose(const std::string& name, Options* options) const {
  const auto it = planners_.find(name);
  if (it == planners_.end()) {
    return absl::NotFoundError(
        absl::StrCat("there is no planner ", name, ", known: ", absl::StrJoin(names(), ", ")));
  }
  options->planner = it->second;
  options->planner_name = name;
  return absl::OkStatus();
}

std::vector<std::string> PlannerRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, planner] : planners_) names.push_back(name);
  return names;
}

}  // namespace petrel::exir::plan
