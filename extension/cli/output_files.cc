// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/output_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::extension {

namespace fs = std::filesystem;

absl::StatusOr<exir::ByteSink> OutputFiles::open(const std::string& path) {
  for (const exir::OutputFile& file : files_) {
    std::error_code error;
    if (fs::weakly_canonical(file.path(), error) == fs::weakly_canonical(path, error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("two outputs would be written to '", path, "'"));
    }
  }
  if (!files_.empty()) PETREL_RETURN_IF_ERROR(files_.back().finish());
  PETREL_ASSIGN_OR_RETURN(exir::OutputFile file, exir::OutputFile::create(path));
  files_.push_back(std::move(file));
  exir::OutputFile* opened = &files_.back();
  return exir::ByteSink([opened](absl::Span<const uint8_t> bytes) { return opened->write(bytes); });
}

absl::Status OutputFiles::publish() {
  if (!files_.empty()) PETREL_RETURN_IF_ERROR(files_.back().finish());
  for (auto file = files_.begin(); file != files_.end(); ++file) {
    const absl::Status status = file->publish();
    if (status.ok()) continue;
    for (auto done = files_.begin(); done != file; ++done) done->withdraw();
    return status;
  }
  return absl::OkStatus();
}

}  // namespace petrel::extension
