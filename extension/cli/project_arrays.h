// SPDX-License-Identifier: Apache-2.0
//
// The arrays of a call as the files that firmware reads and writes, as they lie in its memory.
//
//   PETREL_RETURN_IF_ERROR(write_inputs(method, {"x.npy"}, options, folder));
//   ...                                          the board runs
//   PETREL_RETURN_IF_ERROR(show_board_outputs(method, folder, options));
#ifndef PETREL_EXTENSION_CLI_PROJECT_ARRAYS_H_
#define PETREL_EXTENSION_CLI_PROJECT_ARRAYS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "extension/project/model_package.h"

namespace petrel::extension {

struct ArrayOptions {
  std::vector<std::string> inputs;  // as of `petrel run` (input_words.h)
  std::string output_dir;           // "": outputs are told and not written
  bool floats = false;              // floats are given and got for integers that stand for them
  uint64_t max_bytes = 0;           // of inputs that are not given, which are ones
};

// input_N.bin, and input_N.sizes where sizes vary. InvalidArgument names the input that does not
// fit.
absl::Status write_inputs(const PackageMethod& method, const ArrayOptions& options,
                          const std::string& folder);

// Reads output_N.bin; prints and writes them as `petrel run` does.
absl::Status show_board_outputs(const PackageMethod& method, const ArrayOptions& options,
                                const std::string& folder);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_PROJECT_ARRAYS_H_
