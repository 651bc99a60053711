// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/output_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace petrel::extension {

absl::StatusOr<OutputFolder> OutputFolder::make(const std::string& path) {
  if (path.empty()) return OutputFolder("");
  if (mkdir(path.c_str(), 0777) == 0) return OutputFolder(path);
  const int reason = errno;
  struct stat there = {};
  if (reason != EEXIST) {
    return absl::PermissionDeniedError(absl::StrCat(path, ": ", std::strerror(reason)));
  }
  if (stat(path.c_str(), &there) != 0 || !S_ISDIR(there.st_mode)) {
    return absl::PermissionDeniedError(absl::StrCat(path, ": is not a folder"));
  }
  return OutputFolder("");
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : made_(std::exchange(other.made_, std::string())) {}

OutputFolder::~OutputFolder() {
  // Fails, as it should, where there is something in it.
  if (!made_.empty()) rmdir(made_.c_str());
}

}  // namespace petrel::extension
