// SPDX-License-Identifier: Apache-2.0
//
// Problems as JSON, which says all that a Problem holds (CSV has no column for
// pools, conflicts and overlaps):
//
//   {"pools": [{"name": "sram", "capacity": 65536, "preferred_capacity": 40000,
//               "cost_per_access": 1, "kind": "read_write"},
//              {"name": "dram", "cost_per_access": 9}],
//    "buffers": [{"id": "a", "lower": 0, "upper": 3, "size": 2,
//                 "alignment": 16, "offset": 0, "hint": 32,
//                 "pools": ["dram", "sram"], "accesses": 7, "group": "conv1",
//                 "gaps": [{"lower": 1, "upper": 2, "keep": [0, 1]}],
//                 "conflicts": ["b"]}],
//    "conflicts": [["a", "b"]],
//    "non_conflicts": [["a", "c"]],
//    "overlaps": [{"lower": "a", "upper": "b", "bytes": 1}]}
//
// A buffer needs an id, lower, upper (half-open) and size; all else may be
// left out. Without "pools" there is one, "arena", without a capacity.
// Conflicts add to what lifetimes say, in either spelling.
//
// Other planners get the same object plus what follows from it: "conflicts" of
// each buffer are all others whose bytes it must keep off, "pools" its
// candidates, best first, and
//
//    "partial_conflicts": [{"with": "c", "low": -8, "high": 4}]
//
// those it may meet in part: offset(c) - offset(this) must not lie strictly
// between low and high. They answer with
//
//   {"buffers": [{"id": "a", "pool": "sram", "offset": 0}]}
//
// where "pool" may be left out if there is one; other keys are ignored, so
// that the output of `petrel plan --json` is an answer.

#ifndef PETREL_EXIR_PLAN_FORMATS_PROBLEM_JSON_H_
#define PETREL_EXIR_PLAN_FORMATS_PROBLEM_JSON_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"

namespace petrel::exir::plan {

// The problem has passed check_problem(). Errors name the buffer and its index
// or, where the text is not JSON, the line.
absl::StatusOr<Problem> parse_problem_json(absl::string_view text);

// One buffer per line; without what are defaults. Names must be unique.
std::string format_problem_json(const Problem& problem);

// The question to another planner. The problem must have passed
// check_problem() and check_names(). Fails where it would name more pairs of buffers than a
// conflict graph has (ConflictGraph::kMaxPairs).
absl::StatusOr<std::string> format_request_json(const Problem& problem);

// Every buffer must have exactly one place. Nothing else is checked.
absl::StatusOr<std::vector<Placement>> parse_answer_json(const Problem& problem,
                                                         absl::string_view text);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_FORMATS_PROBLEM_JSON_H_
