// SPDX-License-Identifier: Apache-2.0
//
// The files that one run writes: they appear at their paths all or none, and each
// is complete when it appears. Every file that the compiler, the command or
// Python writes is written by this class.
//
//   OutputFiles files;
//   PETREL_ASSIGN_OR_RETURN(ByteSink sink, files.open("m.pte"));
//   PETREL_RETURN_IF_ERROR(sink(bytes));
//   PETREL_ASSIGN_OR_RETURN(sink, files.open("m.ptd"));   // m.pte is complete
//   ...
//   PETREL_RETURN_IF_ERROR(files.publish());
//
//   PETREL_RETURN_IF_ERROR(write_output_file("plan.svg", text));
//
// Until publish() the bytes lie in temporary files beside the paths, which the
// object owns and removes. Sinks must not be used after publish().
#ifndef PETREL_EXIR_OUTPUT_OUTPUT_FILES_H_
#define PETREL_EXIR_OUTPUT_OUTPUT_FILES_H_

#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "exir/output/byte_sink.h"
#include "exir/output/output_file.h"

namespace petrel::exir {

class OutputFiles {
 public:
  // What publish() does with a file of other bytes that is at a path.
  enum class WhenOther { kReplace, kRefuse };

  // The file before is complete when the next is opened. InvalidArgument when a
  // path is opened twice, under whatever spelling.
  absl::StatusOr<ByteSink> open(const std::string& path,
                                WhenOther when_other = WhenOther::kReplace);
  // Where the files are until they are published, by path; all of them are complete.
  absl::StatusOr<std::map<std::string, std::string>> finish();
  // All of them or none, also where a signal such as that of Ctrl-C arrives meanwhile.
  // AlreadyExists, which names the path, for one that is not to be replaced.
  absl::Status publish();

 private:
  struct Opened {
    OutputFile file;
    WhenOther when_other;
  };
  std::list<Opened> files_;  // sinks hold pointers to them
};

// One spelling for every path of a file, also of one that is not there yet: paths
// that have it in common write the same file.
std::string canonical_path(const std::string& path);

// InvalidArgument where they are one file: what is read is not written over. `what`
// tells the input, such as "the program".
absl::Status check_is_not(const std::string& output, const std::string& what,
                          const std::string& input);

// One file.
absl::Status write_output_file(const std::string& path, absl::Span<const uint8_t> bytes);
absl::Status write_output_file(const std::string& path, absl::string_view text);

// Whether a file could be opened at `path` now: the folder is there and takes
// files. Leaves nothing behind.
absl::Status check_output_path(const std::string& path);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_OUTPUT_OUTPUT_FILES_H_
