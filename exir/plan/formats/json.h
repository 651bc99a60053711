// SPDX-License-Identifier: Apache-2.0
//
// A plan as one JSON object, for `petrel plan --json` and other tools:
//
//   {"peak":4,"lower_bound":4,"optimal":true,"seconds":0.001,
//    "method":"first fit by size",
//    "pools":[{"name":"arena","peak":4,"lower_bound":4}],
//    "buffers":[{"id":"a","pool":"arena","offset":0}, ...]}

#ifndef PETREL_EXIR_PLAN_FORMATS_JSON_H_
#define PETREL_EXIR_PLAN_FORMATS_JSON_H_

#include <string>

#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"

namespace petrel::exir::plan {

// Ends with a newline; one buffer per line.
std::string format_json(const Problem& problem, const Solution& solution);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_FORMATS_JSON_H_
