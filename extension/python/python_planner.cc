// SPDX-License-Identifier: Apache-2.0
#include "extension/python/python_planner.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "exir/plan/formats/problem_json.h"
#include "exir/status_macros.h"
#include "extension/python/gil.h"

namespace petrel::extension::python {

namespace py = pybind11;
namespace plan = exir::plan;

namespace {

constexpr char kName[] = "planner";

void drop(py::object* object) {
  const Gil gil;
  delete object;
}

}  // namespace

void choose_python_planner(const py::object& function, const std::shared_ptr<Pending>& pending,
                           plan::Options* options) {
  if (function.is_none()) return;
  const std::shared_ptr<py::object> held(new py::object(function), drop);
  options->planner_name = kName;
  options->planner = [held, pending](
                         const plan::Problem& problem,
                         const plan::Options&) -> absl::StatusOr<std::vector<plan::Placement>> {
    PETREL_RETURN_IF_ERROR(plan::check_names(problem));
    PETREL_ASSIGN_OR_RETURN(const std::string request, plan::format_request_json(problem));
    std::string answer;
    {
      const Gil gil;
      const bool ok = pending->guard(kName, [&] { answer = (*held)(request).cast<std::string>(); });
      if (!ok) return absl::CancelledError("the planner raised an exception");
    }
    absl::StatusOr<std::vector<plan::Placement>> places = plan::parse_answer_json(problem, answer);
    if (places.ok()) return places;
    return absl::InvalidArgumentError(
        absl::StrCat("answer of the planner: ", places.status().message()));
  };
}

}  // namespace petrel::extension::python
