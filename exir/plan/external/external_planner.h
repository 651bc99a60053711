// SPDX-License-Identifier: Apache-2.0
//
// A planner that is a program of its own: it reads one JSON object from its
// standard input and writes one to its standard output, as problem_json.h
// describes them, and exits with 0.
//
//   Options options;
//   options.planner = external_planner("python3 my_planner.py", 10000);
//   options.planner_name = "my_planner.py";
//   absl::StatusOr<Solution> solution = plan(problem, options);
//
// Errors tell what went wrong: the command did not answer in time
// (DeadlineExceeded), failed or was killed (Aborted, with the last line it
// wrote to its standard error), or answered nonsense (InvalidArgument).

#ifndef PETREL_EXIR_PLAN_EXTERNAL_EXTERNAL_PLANNER_H_
#define PETREL_EXIR_PLAN_EXTERNAL_EXTERNAL_PLANNER_H_

#include <cstdint>
#include <string>

#include "exir/plan/search/planner.h"

namespace petrel::exir::plan {

// The command is given to /bin/sh. Once `timeout_ms` are over it is killed with
// all that it started.
PlacementFn external_planner(std::string command, int64_t timeout_ms);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_EXTERNAL_EXTERNAL_PLANNER_H_
