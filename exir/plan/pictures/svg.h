// SPDX-License-Identifier: Apache-2.0
//
// A picture of a plan: time to the right, addresses upwards, one rectangle per
// buffer and stretch of time in which it is needed, one panel per pool. A thin
// line marks the lower bound, hovering over a rectangle names its buffer;
// buffers of one group have one colour.

#ifndef PETREL_EXIR_PLAN_PICTURES_SVG_H_
#define PETREL_EXIR_PLAN_PICTURES_SVG_H_

#include <string>

#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"

namespace petrel::exir::plan {

struct SvgOptions {
  int width = 960;         // pixels
  int panel_height = 480;  // pixels, of each pool
  std::string title;
};

// A whole SVG document. The solution must be valid for the problem.
std::string render_svg(const Problem& problem, const Solution& solution,
                       const SvgOptions& options = SvgOptions());

}  // namespace petrel::exir::plan

#endif  // PETREL_EXIR_PLAN_PICTURES_SVG_H_
