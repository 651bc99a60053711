// SPDX-License-Identifier: Apache-2.0
//
// A plan as one HTML page to explore: zoom and drag, point at a buffer to see
// what it is, point at a time to see who is alive, find by name. Holds
// everything it needs; loads nothing from anywhere.

#ifndef PETREL_EXIR_PLAN_PICTURES_HTML_H_
#define PETREL_EXIR_PLAN_PICTURES_HTML_H_

#include <string>

#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"

namespace petrel::exir::plan {

// The solution must be valid for the problem.
std::string render_html(const Problem& problem, const Solution& solution, const std::string& title);

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_PICTURES_HTML_H_
