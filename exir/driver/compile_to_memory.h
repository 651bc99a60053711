// SPDX-License-Identifier: Apache-2.0
//
// A program for kernels, with everything inside, to be run right away: nothing is
// written.
//
//   ExportOptions options;
//   options.methods["forward"] = "model.pt2";
//   PETREL_ASSIGN_OR_RETURN(const std::string pte, compile_to_memory(options));
#ifndef PETREL_EXIR_DRIVER_COMPILE_TO_MEMORY_H_
#define PETREL_EXIR_DRIVER_COMPILE_TO_MEMORY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/driver/export.h"
#include "exir/ir/constant.h"

namespace petrel::exir {

// Backends are not used; of the other options those count that say what is compiled. What the
// program computes with goes to `constants`, where that is given.
absl::StatusOr<std::string> compile_to_memory(const ExportOptions& options,
                                              std::vector<ConstantPtr>* constants = nullptr);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_DRIVER_COMPILE_TO_MEMORY_H_
