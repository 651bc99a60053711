// SPDX-License-Identifier: Apache-2.0
#include "exir/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Small writes are gathered up to this much.
constexpr size_t kPendingBytes = size_t{1} << 16;
// Some systems write at most 2 GB in one call.
constexpr size_t kMaxWriteBytes = size_t{1} << 30;

absl::Status failed(const std::string& what, const std::string& path, int error) {
  const std::string message = absl::StrCat("cannot ", what, " '", path, "': ", strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    default:  // a full disk, too: another try may succeed
      return absl::UnavailableError(message);
  }
}

// glibc has a function for it from 2.28 on, and this runs from 2.17 on.
bool exchange_names(const std::string& a, const std::string& b) {
  return syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

// Names that meet are found by O_EXCL; that nobody can foretell them keeps others from taking them.
std::string random_suffix() {
  constexpr char kLetters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  uint64_t bits = 0;
  // glibc has a function for it from 2.25 on, and Linux the call from 3.17 on.
  if (syscall(SYS_getrandom, &bits, sizeof(bits), 0) != long{sizeof(bits)}) {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    bits = static_cast<uint64_t>(now.tv_nsec) << 22 ^ static_cast<uint64_t>(getpid());
  }
  std::string suffix = ".";
  for (int i = 0; i < 8; ++i, bits /= 36) suffix += kLetters[bits % 36];
  return suffix;
}

// A new file beside `path`, whose name goes to `name`; -1 with errno where there can be none.
// The system applies the umask to `mode`. Asking for it would take setting it, and another thread
// may be doing so, too: what both then put back is that of neither.
int create_beside(const std::string& path, mode_t mode, std::string* name) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    *name = path + random_suffix();
    const int fd = open(name->c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::create(const std::string& path) {
  if (path.empty()) {
    return absl::InvalidArgumentError("path of an output file is empty");
  }
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "output '", path, "' is ", S_ISDIR(info.st_mode) ? "a directory" : "not a regular file"));
  }
  if (path.back() == '/') {
    return absl::InvalidArgumentError(absl::StrCat("output '", path, "' names no file"));
  }
  std::string temporary;
  // Nobody reads a file that has yet to get the mode of the one that it replaces.
  const int fd = create_beside(path, exists ? 0600 : 0666, &temporary);
  if (fd < 0) return failed("create a file beside", path, errno);
  OutputFile file(path, temporary, fd);
  if (exists && fchmod(fd, info.st_mode & 07777) != 0) {
    return failed("set the mode of", temporary, errno);
  }
  return file;
}

absl::StatusOr<bool> OutputFile::differs_from_what_is_there() const {
  std::ifstream there(path_, std::ios::binary);
  if (!there.is_open()) {
    // What cannot be read may be anything.
    struct stat info;
    return stat(path_.c_str(), &info) == 0;
  }
  std::ifstream made(temporary_, std::ios::binary);
  std::vector<char> a(kPendingBytes), b(kPendingBytes);
  while (made.good() && there.good()) {
    made.read(a.data(), static_cast<std::streamsize>(a.size()));
    there.read(b.data(), static_cast<std::streamsize>(b.size()));
    if (made.gcount() != there.gcount()) return true;
    if (memcmp(a.data(), b.data(), static_cast<size_t>(made.gcount())) != 0) return true;
  }
  if (made.bad() || there.bad()) {
    return absl::UnavailableError(absl::StrCat("cannot read '", path_, "'"));
  }
  return made.eof() != there.eof();
}

OutputFile::OutputFile(std::string path, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      pending_(std::move(other.pending_)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status OutputFile::write_out(absl::Span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxWriteBytes));
    if (written < 0) {
      if (errno == EINTR) continue;
      return failed("write", path_, errno);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::write(absl::Span<const uint8_t> bytes) {
  if (pending_.size() + bytes.size() > kPendingBytes) {
    PETREL_RETURN_IF_ERROR(write_out(pending_));
    pending_.clear();
    if (bytes.size() > kPendingBytes) return write_out(bytes);
  }
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  return absl::OkStatus();
}

absl::Status OutputFile::finish() {
  if (fd_ == -1) return absl::OkStatus();
  PETREL_RETURN_IF_ERROR(write_out(pending_));
  pending_.clear();
  if (fsync(fd_) != 0) return failed("write", path_, errno);
  if (close(std::exchange(fd_, -1)) != 0) return failed("write", path_, errno);
  return absl::OkStatus();
}

absl::Status OutputFile::publish() {
  // A file that is replaced changes places with ours, for withdraw(). Where
  // there is none, or the kernel or the file system cannot exchange names, ours
  // just moves.
  if (!exchange_names(temporary_, path_)) {
    if (rename(temporary_.c_str(), path_.c_str()) != 0) {
      return failed("rename a file to", path_, errno);
    }
    temporary_.clear();
  }
  // The new name is on the disk once its folder is. Not all file systems can
  // say so, and the file is in place either way.
  const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return absl::OkStatus();
}

void OutputFile::withdraw() {
  if (temporary_.empty()) {
    unlink(path_.c_str());
  } else if (rename(temporary_.c_str(), path_.c_str()) == 0) {
    temporary_.clear();
  }
}

}  // namespace petrel::exir
