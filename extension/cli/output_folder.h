// SPDX-License-Identifier: Apache-2.0
//
// OutputFolder: where a verb puts its outputs. It is made before the work that may take long, so
// that a path that cannot be is told at once, and is gone again when nothing was put into it.
//
//   PETREL_ASSIGN_OR_RETURN(const OutputFolder folder, OutputFolder::make(arguments.output_dir));
#ifndef PETREL_EXTENSION_CLI_OUTPUT_FOLDER_H_
#define PETREL_EXTENSION_CLI_OUTPUT_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace petrel::extension {

class OutputFolder final {
 public:
  // "" is no folder. One that is there already stays whatever becomes of the work.
  static absl::StatusOr<OutputFolder> make(const std::string& path);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&&) = delete;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

 private:
  explicit OutputFolder(std::string made) : made_(std::move(made)) {}

  // "" unless this object made it.
  std::string made_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_OUTPUT_FOLDER_H_
