// SPDX-License-Identifier: Apache-2.0
//
// What a call returned, printed and written.
#ifndef PETREL_EXTENSION_CLI_CALL_OUTPUTS_H_
#define PETREL_EXTENSION_CLI_CALL_OUTPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/core/evalue.h"

namespace petrel::extension {

// A line for each output, and each tensor as PREFIXoutput_N.npy in `folder` unless that is "".
absl::Status show_outputs(const std::vector<runtime::EValue>& outputs, const std::string& folder,
                          const std::string& prefix);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_CALL_OUTPUTS_H_
