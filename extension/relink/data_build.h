// SPDX-License-Identifier: Apache-2.0
//
// Makes other weights for a program that was exported with --weight-keys name.
// The new model is compiled with the options that the program remembers; then
// names and layouts of all weights must be those the program knows, and the rest
// must be the same program. What is written are the weights alone: folded and
// laid out as the program needs them.
//
// Where keys say how a weight is made of one tensor, tensors alone will do
// (derived_weights.h): an adapter that was trained elsewhere.
//
//   NEW.pt2 --compile--> structure, {name -> bytes, layout}
//                             =              |
//   PROG.pte remembers   structure, {name -> layout}    --> NEW.ptd
#ifndef PETREL_EXTENSION_RELINK_DATA_BUILD_H_
#define PETREL_EXTENSION_RELINK_DATA_BUILD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/backend/backend_selection.h"
#include "extension/export/export_option.h"
#include "runtime/core/limits.h"

namespace petrel::extension {

// The backends that the words of the options "backend" and "compile-spec" name.
using SelectBackends = std::function<absl::StatusOr<exir::BackendSelection>(const OptionWords&)>;

struct BuildOptions {
  // Method -> NEW.pt2; or one .safetensors or .ptd file for any method.
  std::map<std::string, std::string> models;
  // Text in names of such tensors, and what takes its place, in order.
  std::vector<std::pair<std::string, std::string>> renames;
  std::string program;
  std::string output;
  std::string keys = "*";  // glob of the names of the weights to write
  SelectBackends select_backends;
  runtime::Limits limits;                                  // of loading the program
  std::function<void(const std::string& phase)> on_phase;  // may be empty
};

struct BuildReport {
  size_t keys = 0;
  uint64_t bytes = 0;  // of the file
};

// FailedPrecondition naming the weight, or the method, that does not agree.
absl::StatusOr<BuildReport> build_data(const BuildOptions& options);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_RELINK_DATA_BUILD_H_
