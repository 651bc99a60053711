// SPDX-License-Identifier: Apache-2.0

#include "exir/plan/external/external_planner.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/plan/external/child_process.h"
#include "exir/plan/formats/problem_json.h"
#include "exir/status_macros.h"

namespace petrel::exir::plan {

PlacementFn external_planner(std::string command, int64_t timeout_ms) {
  return [command = std::move(command), timeout_ms](
             const Problem& problem, const Options&) -> absl::StatusOr<std::vector<Placement>> {
    PETREL_RETURN_IF_ERROR(check_names(problem));
    PETREL_ASSIGN_OR_RETURN(const std::string request, format_request_json(problem));
    PETREL_ASSIGN_OR_RETURN(const std::string answer, run_command(command, request, timeout_ms));
    absl::StatusOr<std::vector<Placement>> places = parse_answer_json(problem, answer);
    if (places.ok()) return places;
    return absl::InvalidArgumentError(
        absl::StrCat("answer of '", command, "': ", places.status().message()));
  };
}

}  // namespace petrel::exir::plan
