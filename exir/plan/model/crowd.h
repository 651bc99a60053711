// SPDX-License-Identifier: Apache-2.0
//
// The instant at which the buffers alive need most bytes, and which they are:
// what there is to shrink when a plan is too large.
//
//   const Crowd crowd = largest_crowd(problem);
//   describe(problem, crowd, 3);
//   // "at time 2 are alive: b (line 3) 800, a (line 2) 400, 5 more 120"

#ifndef PETREL_EXIR_PLAN_MODEL_CROWD_H_
#define PETREL_EXIR_PLAN_MODEL_CROWD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exir/plan/model/problem.h"

namespace petrel::exir::plan {

struct Crowd {
  int64_t time = 0;    // the first such instant
  int64_t bytes = 0;   // in use: of all members, what they share once
  int64_t shared = 0;  // permitted overlaps of members
  // Bytes needed of each at that time, most first; none needs 0.
  std::vector<std::pair<BufferIdx, int64_t>> members;
};

// Ignores non-conflicts, which can only make the need smaller. The problem must have passed
// check_problem().
Crowd largest_crowd(const Problem& problem);

// Names the first `limit` members and sums up the rest, and tells what they share.
std::string describe(const Problem& problem, const Crowd& crowd, size_t limit);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_MODEL_CROWD_H_
