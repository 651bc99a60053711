// SPDX-License-Identifier: Apache-2.0
//
// Checks a plan against its problem by the definition: shares no code with the
// planner, trusts nothing that the planner computed, and is short enough to be
// right by inspection. Runs after every plan, in release builds too.
//
//   absl::Status status = validate(problem, solution);
//   // "buffers a and b overlap at time 2 in bytes [16, 32) of pool arena"

#ifndef PETREL_EXIR_PLAN_MODEL_VALIDATOR_H_
#define PETREL_EXIR_PLAN_MODEL_VALIDATOR_H_

#include "absl/status/status.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"

namespace petrel::exir::plan {

// Fails with Internal, naming the buffers, when the plan violates a lifetime,
// conflict, alignment, fixed offset, allowed pool or capacity, or when the
// peaks and bounds it states do not follow from its placements.
absl::Status validate(const Problem& problem, const Solution& solution);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_VALIDATOR_H_
