// SPDX-License-Identifier: Apache-2.0
//
// How long each step of a compiled method takes.
//
//   StepProfile profile(method);
//   PETREL_RETURN_IF_ERROR(profile.measure(runs));
//   profile.print_text();
#ifndef PETREL_EXTENSION_CLI_STEP_PROFILE_H_
#define PETREL_EXTENSION_CLI_STEP_PROFILE_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "extension/compiled/compiled_method.h"
#include "runtime/core/error.h"

namespace petrel::extension {

class StepProfile {
 public:
  explicit StepProfile(CompiledMethod& method)
      : method_(method), seconds_(method.info().num_steps) {}

  // Errors are those of CompiledMethod::run().
  runtime::Error measure(size_t runs);

  // The median of each, in the order of steps; those that no run did are left out.
  void print_text() const;
  nlohmann::ordered_json json() const;

 private:
  double median(size_t step) const;

  CompiledMethod& method_;
  std::vector<std::vector<double>> seconds_;  // by step
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_STEP_PROFILE_H_
