// SPDX-License-Identifier: Apache-2.0
//
// What a call returned, printed and written.
#ifndef PETREL_EXTENSION_CLI_CALL_OUTPUTS_H_
#define PETREL_EXTENSION_CLI_CALL_OUTPUTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "extension/levels/levels.h"
#include "runtime/core/evalue.h"

namespace petrel::extension {

// By output; an output whose levels are here is shown as the numbers that they stand for.
using OutputLevels = std::vector<std::optional<Levels>>;

// A line for each output, and each tensor as PREFIXoutput_N.npy in `folder` unless that is "".
// ResourceExhausted where they have more than `max_bytes`, the limit max_input_bytes: a method may
// name one tensor as many outputs, and each is copied.
absl::Status show_outputs(const std::vector<runtime::EValue>& outputs, const std::string& folder,
                          const std::string& prefix, uint64_t max_bytes,
                          const OutputLevels& levels = {});

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_CALL_OUTPUTS_H_
