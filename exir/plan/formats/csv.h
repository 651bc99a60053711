// SPDX-License-Identifier: Apache-2.0
//
// Problems and plans as text, in the column format of the MiniMalloc benchmark
// so that its tools and ours can read each other's files:
//
//   id,lower,upper,size,alignment,gaps,offset
//   a,0,3,2,1,,0
//   b,2,9,4,4,4-6 7-8@0:2,
//
// Columns may come in any order. `lower`/`upper` are half-open; `start`/`end`
// may stand in their place, where `end` is the last instant alive. A gap
// `4-6` frees the whole buffer in [4, 6); `7-8@0:2` all but its bytes [0, 2).
// Optional: alignment, gaps (space-separated), offset (fixed place), hint. Ids
// with commas, quotes or line ends stand in quotes (csv_rows.h).

#ifndef PETREL_EXIR_PLAN_FORMATS_CSV_H_
#define PETREL_EXIR_PLAN_FORMATS_CSV_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"

namespace petrel::exir::plan {

// The problem has one pool, "arena", without a capacity. Errors name the line.
absl::StatusOr<Problem> parse_csv(absl::string_view text);

// Columns that hold nothing but defaults are left out. With a solution the
// column `offset` holds its placements, else the fixed offsets. Conflicts,
// permitted overlaps and pools have no column.
std::string format_csv(const Problem& problem);
std::string format_csv(const Problem& problem, const Solution& solution);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_FORMATS_CSV_H_
