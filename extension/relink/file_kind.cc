// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/file_kind.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace petrel::extension {

absl::StatusOr<FileKind> file_kind(const std::string& path) {
  // Not blocking: a pipe must be refused, not waited for.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  struct stat status;
  char head[9] = {};
  const bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const ssize_t got = is_file ? pread(fd, head, sizeof(head), 0) : 0;
  ::close(fd);
  if (!is_file) return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));
  if (got >= 8) {
    if (std::memcmp(head + 4, "ET", 2) == 0) return FileKind::kProgram;
    if (std::memcmp(head + 4, "FT", 2) == 0) return FileKind::kData;
    if (std::memcmp(head, "PK\x03\x04", 4) == 0) return FileKind::kArchive;
    if (std::memcmp(head,
                    "\x7f"
                    "ELF",
                    4) == 0)
      return FileKind::kModule;
    // The length of the index, below 2^32, and its first byte.
    if (std::memcmp(head + 4, "\0\0\0\0", 4) == 0 && got > 8 && head[8] == '{') {
      return FileKind::kTensors;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is not a .pte, .ptd, .pt2 or .safetensors file"));
}

}  // namespace petrel::extension
