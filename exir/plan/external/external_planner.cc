// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/external/external_planner.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/plan/external/child_process.h"
#include "exir/plan/formats/problem_json.h"
#include "exir/plan/model/conflict_graph.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {

PlacementFn external_planner(std::string command, int64_t timeout_ms) {
  return [command = std::move(command), timeout_ms](
             const Problem& problem, const Options&) -> absl::StatusOr<std::vector<Placement>> {
    PETREL_RETURN_IF_ERROR(check_names(problem));
    // A request names them all.
    if (const int64_t pairs = ConflictGraph::count_pairs(problem);
        pairs > ConflictGraph::kMaxPairs) {
      return absl::ResourceExhaustedError(
          absl::StrCat(pairs,
                       " pairs of buffers are needed at the same time, a planner by "
                       "command is asked of at most ",
                       ConflictGraph::kMaxPairs));
    }
    PETREL_ASSIGN_OR_RETURN(const std::string answer,
                            run_command(command, format_request_json(problem), timeout_ms));
    absl::StatusOr<std::vector<Placement>> places = parse_answer_json(problem, answer);
    if (places.ok()) return places;
    return absl::InvalidArgumentError(
        absl::StrCat("answer of '", command, "': ", places.status().message()));
  };
}

}  // namespace petrel::exir::plan
