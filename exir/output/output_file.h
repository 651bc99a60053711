// SPDX-License-Identifier: Apache-2.0
//
// A file that appears at its path complete or not at all: bytes go to a
// temporary file in the same folder, which is renamed when all is written. Where
// the file system can, it has no name till then: a process that is killed leaves nothing.
//
//   PETREL_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create("model.pte"));
//   PETREL_RETURN_IF_ERROR(file.write(bytes));
//   PETREL_RETURN_IF_ERROR(file.finish());   // on the disk, still invisible
//   PETREL_RETURN_IF_ERROR(file.publish());  // at its path
//
// An object that was not published removes its temporary file. A file that it
// replaced comes back by withdraw(), as long as the object lives.
#ifndef PETREL_EXIR_OUTPUT_OUTPUT_FILE_H_
#define PETREL_EXIR_OUTPUT_OUTPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace petrel::exir {

class OutputFile {
 public:
  // Fails when `path` is there and is not a regular file, or its folder cannot be
  // written to.
  static absl::StatusOr<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // The bytes may stay in a buffer until finish().
  absl::Status write(absl::Span<const uint8_t> bytes);
  // Everything is on the disk; nothing may be written afterwards. May be called again.
  absl::Status finish();
  // Whether a file with other bytes is at the path. Precondition: finish() succeeded.
  absl::StatusOr<bool> differs_from_what_is_there() const;
  // Replaces what is at the path. Precondition: finish() succeeded.
  absl::Status publish();
  // Undoes publish(): what was at the path before is there again.
  void withdraw();

  const std::string& path() const { return path_; }
  // The path, or where it ends if it is a symbolic link: that is written through.
  const std::string& target() const { return target_; }
  // Where the bytes are, for this process. Precondition: it is not published.
  std::string temporary_path() const;

 private:
  OutputFile(std::string path, std::string target, std::string temporary, int fd);
  absl::Status write_out(absl::Span<const uint8_t> bytes);
  // The name of its path, or a temporary one if that is taken.
  absl::Status give_name();
  // For file systems that let no name be given to a file that had none.
  absl::Status name_a_copy();
  int close_file();

  std::string path_;
  std::string target_;     // where the symbolic links of the path end
  std::string temporary_;  // once published: the file that was replaced, or ""
  int fd_;                 // -1 once closed
  bool is_unnamed_;        // it has no name, and must stay open
  bool is_finished_ = false;
  std::vector<uint8_t> pending_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_OUTPUT_OUTPUT_FILE_H_
