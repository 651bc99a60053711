// SPDX-License-Identifier: Apache-2.0
#include "exir/input/file_content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace petrel::exir {
namespace {

// Read at once where the size is not known.
constexpr size_t kChunkBytes = size_t{1} << 20;

absl::Status failed(int reason) {
  const char* const text = std::strerror(reason);
  return reason == ENOENT ? absl::NotFoundError(text) : absl::InvalidArgumentError(text);
}

absl::Status too_long(uint64_t max_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("has more than ", max_bytes, " bytes, the most that is read"));
}

}  // namespace

absl::StatusOr<std::string> read_open_file(int fd, uint64_t max_bytes) {
  struct stat status;
  if (fstat(fd, &status) != 0) return failed(errno);
  if (S_ISDIR(status.st_mode)) return absl::InvalidArgumentError("is a folder");
  // A terminal is typed into, until its end of file.
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode) &&
      isatty(fd) == 0) {
    return absl::InvalidArgumentError("is neither a file nor a pipe");
  }
  const auto known = static_cast<uint64_t>(S_ISREG(status.st_mode) ? status.st_size : 0);
  if (known > max_bytes) return too_long(max_bytes);
  std::string content;
  size_t size = 0;
  for (;;) {
    // One byte more than expected, so that the end is seen without another chunk.
    if (size == content.size()) {
      content.resize(size == 0 && known > 0 ? static_cast<size_t>(known) + 1
                                            : size + std::max(size / 2, kChunkBytes));
    }
    const ssize_t got = read(fd, &content[size], content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
    if (size > max_bytes) return too_long(max_bytes);
  }
  content.resize(size);
  return content;
}

absl::StatusOr<std::string> read_file_content(const std::string& path, uint64_t max_bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(errno);
  auto content = read_open_file(fd, max_bytes);
  close(fd);
  return content;
}

}  // namespace petrel::exir
