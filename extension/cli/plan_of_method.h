// SPDX-License-Identifier: Apache-2.0
//
// The memory plan that a `.pte` holds, read back for a picture: when each value
// with a place in an arena is in use, and where it lies. Works on any program,
// whoever planned it.
//
//   time 0          inputs are filled
//   time i + 1      instruction i runs
//   last time       outputs are read
//
// Temporary memory of kernels that the program plans is there, too: "scratch of 4"
// during instruction 4. Values of other kinds (constants, memory of the caller) are
// left out. Values may share bytes, as views and results computed in place do.
#ifndef PETREL_EXTENSION_CLI_PLAN_OF_METHOD_H_
#define PETREL_EXTENSION_CLI_PLAN_OF_METHOD_H_

#include <string>

#include "absl/status/status.h"
#include "exir/plan/model/problem.h"
#include "exir/plan/model/solution.h"
#include "runtime/core/error.h"
#include "runtime/core/limits.h"

namespace petrel::extension {

struct MethodPlan {
  runtime::Error error = runtime::Error::Ok;  // of loading; its reason is logged
  absl::Status status;                        // there is no such method
  std::string method;
  // `lower_bound` is the most that is in use at one time.
  exir::plan::Problem problem;
  exir::plan::Solution solution;
};

// An empty name means the first method; `limits` are those of loading the program.
MethodPlan read_method_plan(const std::string& path, const std::string& method,
                            const runtime::Limits& limits);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_PLAN_OF_METHOD_H_
