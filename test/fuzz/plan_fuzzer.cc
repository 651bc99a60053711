// SPDX-License-Identifier: Apache-2.0
//
// Any text as a planning problem, CSV or (behind a brace) JSON. What is read is
// written and read again, and says the same; a small problem is solved, too, and the
// plan of it passes the checks of plans.

#include <string>

#include "exir/plan/formats/csv.h"
#include "exir/plan/formats/problem_json.h"
#include "exir/plan/model/validator.h"
#include "exir/plan/search/planner.h"
#include "test/fuzz/oracle.h"

namespace petrel::fuzz {
namespace {

using namespace exir::plan;  // NOLINT: all of it is about plans

constexpr size_t kMaxBuffers = 8;

void solve(const Problem& problem) {
  if (problem.buffers.size() > kMaxBuffers) return;
  Options options;
  options.node_budget = 200;
  const auto solution = plan(problem, options);
  if (!solution.ok()) return;
  require(validate(problem, *solution).ok(), "a plan that does not fit its problem");
}

}  // namespace
}  // namespace petrel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool is_json = size != 0 && data[0] == '{';
  const auto problem = is_json ? exir::plan::parse_problem_json(text) : exir::plan::parse_csv(text);
  if (!problem.ok()) return 0;
  const std::string written = exir::plan::format_problem_json(*problem);
  const auto again = exir::plan::parse_problem_json(written);
  if (again.ok()) {
    fuzz::require(exir::plan::format_problem_json(*again) == written,
                  "a problem that reads back as another");
  }
  fuzz::solve(*problem);
  return 0;
}
