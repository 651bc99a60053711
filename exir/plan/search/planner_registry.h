// SPDX-License-Identifier: Apache-2.0
//
// Planners by name, for `--planner NAME` and for plans of one's own:
//
//   PlannerRegistry planners = PlannerRegistry::built_in();
//   PETREL_RETURN_IF_ERROR(planners.add("mine", [](const Problem& problem,
//                                                  const Options&) {
//     std::vector<Placement> places(problem.buffers.size());
//     ...
//     return places;
//   }));
//   Options options;
//   PETREL_RETURN_IF_ERROR(planners.choose("mine", &options));
//   absl::StatusOr<Solution> solution = plan(problem, options);  // validated
//
// Nothing registers itself: whoever makes a registry says what is in it.

#ifndef PETREL_EXIR_PLAN_SEARCH_PLANNER_REGISTRY_H_
#define PETREL_EXIR_PLAN_SEARCH_PLANNER_REGISTRY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/plan/search/planner.h"

namespace petrel::exir::plan {

class PlannerRegistry {
 public:
  // "search", the planner of planner.h; "orderings", that without a search;
  // "unshared", which gives every buffer bytes of its own.
  static PlannerRegistry built_in();

  // Fails when the name is empty or taken.
  absl::Status add(const std::string& name, PlacementFn planner);

  // Makes plan() use this planner. Fails with NotFound, listing the names.
  absl::Status choose(const std::string& name, Options* options) const;

  std::vector<std::string> names() const;

 private:
  std::map<std::string, PlacementFn> planners_;  // null: plan()'s own
};

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_SEARCH_PLANNER_REGISTRY_H_
