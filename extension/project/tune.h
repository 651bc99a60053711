// SPDX-License-Identifier: Apache-2.0
//
// Finds the variant of each kernel that is fastest on the board of a project. The model is
// generated, built and measured once for each variant that a node may have, and once more with the
// best of all; only steps are compared, so all nodes are measured at the same time.
//
//   const auto generate = [&](const std::string& folder, const auto& tuned) { ...gen-c... };
//   PETREL_ASSIGN_OR_RETURN(const Tuning tuning, tune(project, generate, options));
//   tuning.nodes[0].variant, tuning.nodes[0].ticks
//
// A variant that does not fit the board is left out. Only build/tune of the project is written,
// and gone afterwards.
#ifndef PETREL_EXTENSION_PROJECT_TUNE_H_
#define PETREL_EXTENSION_PROJECT_TUNE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/driver/tuning.h"
#include "extension/project/project.h"

namespace petrel::extension {

using TunedKernels = std::vector<exir::emit_c::TunedKernel>;
// Writes the model with these kernels, or with those of its target where there are none.
using GenerateModel =
    std::function<absl::Status(const std::string& folder, const TunedKernels& tuned)>;

struct TuneOptions {
  int64_t timeout_ms = 60'000;                            // of one measurement
  std::function<void(const std::string& what)> on_round;  // may be empty
};

struct Tuning {
  exir::TuningRecord record;       // without its key
  std::vector<std::string> notes;  // what was left out, and why
};

// FailedPrecondition where no node has variants; otherwise what generating, building and
// measuring with the kernels of the target says.
absl::StatusOr<Tuning> tune(const Project& project, const GenerateModel& generate,
                            const TuneOptions& options);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_PROJECT_TUNE_H_
