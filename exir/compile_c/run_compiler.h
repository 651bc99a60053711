// SPDX-License-Identifier: Apache-2.0
//
// Starts programs in a folder and waits for their end.
//
//   PETREL_RETURN_IF_ERROR(run_compiler({"cc", "-c", "kws.c"}, folder));
#ifndef PETREL_EXIR_COMPILE_C_RUN_COMPILER_H_
#define PETREL_EXIR_COMPILE_C_RUN_COMPILER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace petrel::exir {

// NotFound when there is no such program; FailedPrecondition with the first lines of what it
// said when it fails. What it says lies in `folder` until then.
absl::Status run_compiler(const std::vector<std::string>& words, const std::string& folder);

// All at the same time. The first error in their order.
absl::Status run_compilers(const std::vector<std::vector<std::string>>& commands,
                           const std::string& folder);

// The first line that the compiler says, "" when there is none or it fails.
std::string ask_compiler(const std::vector<std::string>& words, const std::string& folder);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_COMPILE_C_RUN_COMPILER_H_
