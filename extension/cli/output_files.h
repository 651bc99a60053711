// SPDX-License-Identifier: Apache-2.0
//
// Several files that appear at their paths all or none:
//
//   OutputFiles files;
//   PETREL_ASSIGN_OR_RETURN(exir::ByteSink sink, files.open("m.pte"));
//   ...
//   PETREL_RETURN_IF_ERROR(files.publish());
#ifndef PETREL_EXTENSION_CLI_OUTPUT_FILES_H_
#define PETREL_EXTENSION_CLI_OUTPUT_FILES_H_

#include <list>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/driver/output_file.h"
#include "exir/emit/file_layout.h"

namespace petrel::extension {

class OutputFiles {
 public:
  // The file before is complete when the next is opened. InvalidArgument when a
  // path is opened twice.
  absl::StatusOr<exir::ByteSink> open(const std::string& path);
  // All of them or none.
  absl::Status publish();

 private:
  std::list<exir::OutputFile> files_;  // sinks hold pointers to them
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_CLI_OUTPUT_FILES_H_
