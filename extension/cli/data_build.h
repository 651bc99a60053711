// SPDX-License-Identifier: Apache-2.0
//
// Makes other weights for a program that was exported with --weight-keys name.
// The new model is compiled with the options that the program remembers; then
// names and layouts of all weights must be those the program knows, and the rest
// must be the same program. What is written are the weights alone: folded and
// laid out as the program needs them.
//
//   NEW.pt2 --compile--> structure, {name -> bytes, layout}
//                             =              |
//   PROG.pte remembers   structure, {name -> layout}    --> NEW.ptd
#ifndef PETREL_EXTENSION_CLI_DATA_BUILD_H_
#define PETREL_EXTENSION_CLI_DATA_BUILD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace petrel::extension {

struct BuildOptions {
  std::map<std::string, std::string> models;  // method -> NEW.pt2
  std::string program;
  std::string output;
  std::string keys = "*";  // glob of the names of the weights to write
};

struct BuildReport {
  size_t keys = 0;
  uint64_t bytes = 0;  // of the file
};

// FailedPrecondition naming the weight, or the method, that does not agree.
absl::StatusOr<BuildReport> build_data(const BuildOptions& options);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_DATA_BUILD_H_
