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

// Where outputs are written, as PREFIXoutput_N.npy.
struct OutputPlace {
  std::string folder;  // "": nowhere
  std::string prefix;
  std::vector<std::string> read;  // files, or words NAME=FILE of inputs, that stay as they are
};

// A line for each output, and a file for each tensor.
// InvalidArgument where one would take the place of what was read; none is written then.
// ResourceExhausted where they have more than `max_bytes`, the limit max_input_bytes: a method may
// name one tensor as many outputs, and each is copied.
absl::Status show_outputs(const std::vector<runtime::EValue>& outputs, const OutputPlace& place,
                          uint64_t max_bytes, const OutputLevels& levels = {});

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_CALL_OUTPUTS_H_
