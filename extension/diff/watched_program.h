// SPDX-License-Identifier: Apache-2.0
//
// A program whose values can be seen: a `.pte` with its data, or an archive, which is
// compiled for kernels in memory.
//
//   PETREL_ASSIGN_OR_RETURN(auto program, WatchedProgram::open("model.pte", {}, "forward"));
//   PETREL_ASSIGN_OR_RETURN(ValueTrace trace, program->run("forward", inputs));
#ifndef PETREL_EXTENSION_DIFF_WATCHED_PROGRAM_H_
#define PETREL_EXTENSION_DIFF_WATCHED_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/constant.h"
#include "extension/diff/tap.h"
#include "extension/diff/value_trace.h"
#include "extension/module/module.h"
#include "runtime/core/evalue.h"

namespace petrel::extension {

class WatchedProgram {
 public:
  // `path` ends in .pt2 for archives, which become the method `method`. Errors name the
  // file. What the runtime says of a program that cannot be loaded goes to its log. `max_sizes`
  // are upper bounds for sizes that have none in an archive (exir/driver/export.h).
  static absl::StatusOr<std::unique_ptr<WatchedProgram>> open(
      const std::string& path, const std::vector<std::string>& data_files,
      const std::string& method, bool only_reference_kernels = false,
      const std::vector<std::string>& max_sizes = {});

  // To make inputs for.
  Module& module() { return *module_; }

  // What an archive computes with, as it was compiled; nothing of a `.pte`, which has no names.
  const std::vector<exir::ConstantPtr>& constants() const { return constants_; }

  absl::StatusOr<ValueTrace> run(const std::string& method,
                                 const std::vector<runtime::EValue>& inputs);

 private:
  explicit WatchedProgram(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  std::vector<uint64_t> bytes_;  // of a program that lies in memory, aligned
  std::vector<exir::ConstantPtr> constants_;
  Tap tap_;
  std::unique_ptr<Module> module_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DIFF_WATCHED_PROGRAM_H_
