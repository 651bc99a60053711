// SPDX-License-Identifier: Apache-2.0
#include "exir/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
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

// So many files without a name are open at a time; others are named at once, and closed when they
// are written, so that thousands of shards do not want as many descriptors.
constexpr int kMaxUnnamed = 64;
std::atomic<int> unnamed{0};

#ifndef O_TMPFILE
#define O_TMPFILE (020000000 | O_DIRECTORY)  // glibc 2.17 does not have it
#endif

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

// Letters and a dot.
constexpr size_t kSuffixSize = 9;

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
  for (; suffix.size() < kSuffixSize; bits /= 36) suffix += kLetters[bits % 36];
  return suffix;
}

// Tries names beside `path`, which go to `name`, until `take` returns no EEXIST.
template <typename Take>
int take_name_beside(const std::string& path, std::string* name, const Take& take) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    *name = path + random_suffix();
    const int result = take(name->c_str());
    if (result >= 0 || errno != EEXIST) return result;
  }
  return -1;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Where bytes for `path` go: the end of its symbolic links, as with other compilers, also where
// there is no file yet. The system may forbid to follow links, such as those that others put
// into a shared folder.
absl::StatusOr<std::string> end_of_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // of Linux
  struct stat info;
  const bool is_followed = stat(path.c_str(), &info) == 0 || errno == ENOENT || errno == ENOTDIR;
  const int error = errno;
  std::string end = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::string target(PATH_MAX, '\0');
    const ssize_t size = readlink(end.c_str(), target.data(), target.size());
    if (size < 0) return end;  // no link
    if (!is_followed) return failed("follow the link", path, error);
    target.resize(static_cast<size_t>(size));
    end = target[0] == '/' ? target : absl::StrCat(folder_of(end), "/", target);
  }
  return failed("follow the link", path, ELOOP);
}

std::string place_of(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

// A new file in the folder of `path` that has no name and is gone with the process, however that
// ends; -1 where the system or the file system has none. The name that it may need for a moment
// has to fit.
int create_unnamed(const std::string& path, mode_t mode) {
  constexpr size_t kMaxName = 255;
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? path.size() : path.size() - slash - 1;
  if (name + kSuffixSize > kMaxName) return -1;
  if (unnamed.fetch_add(1) < kMaxUnnamed) {
    const int fd = open(folder_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (fd >= 0 && access(place_of(fd).c_str(), F_OK) == 0) return fd;
    if (fd >= 0) close(fd);
  }
  --unnamed;
  return -1;
}

// The system applies the umask to `mode`. Asking for it would take setting it, and another thread
// may be doing so, too: what both then put back is that of neither.
int create_named(const std::string& path, mode_t mode, std::string* name) {
  return take_name_beside(path, name, [&](const char* free) {
    return open(free, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  });
}

// False with errno.
bool write_to(int fd, absl::Span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), std::min(bytes.size(), kMaxWriteBytes));
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// The bytes and the mode, on the disk; false with errno.
bool copy_file(int from, int to) {
  std::vector<uint8_t> bytes(kPendingBytes);
  off_t offset = 0;
  while (true) {
    const ssize_t got = pread(from, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    if (!write_to(to, {bytes.data(), static_cast<size_t>(got)})) return false;
    offset += got;
  }
  struct stat info;
  return fstat(from, &info) == 0 && fchmod(to, info.st_mode & 07777) == 0 && fsync(to) == 0;
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::create(const std::string& path) {
  if (path.empty()) {
    return absl::InvalidArgumentError("path of an output file is empty");
  }
  // Who writes it means standard output, which cannot have all or nothing.
  if (path == "-") {
    return absl::InvalidArgumentError(
        "output '-' is no file; nothing is written to standard output, and ./- is the file '-'");
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
  PETREL_ASSIGN_OR_RETURN(const std::string target, end_of_links(path));
  std::string temporary;
  // Nobody reads a file that has yet to get the mode of the one that it replaces.
  const mode_t mode = exists ? 0600 : 0666;
  int fd = create_unnamed(target, mode);
  if (fd < 0) fd = create_named(target, mode, &temporary);
  if (fd < 0) return failed("create a file beside", path, errno);
  OutputFile file(path, target, temporary, fd);
  if (exists && fchmod(fd, info.st_mode & 07777) != 0) {
    return failed("set the mode of a file beside", path, errno);
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
  std::ifstream made(temporary_path(), std::ios::binary);
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

OutputFile::OutputFile(std::string path, std::string target, std::string temporary, int fd)
    : path_(std::move(path)),
      target_(std::move(target)),
      temporary_(std::move(temporary)),
      fd_(fd),
      is_unnamed_(temporary_.empty()) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      is_unnamed_(std::exchange(other.is_unnamed_, false)),
      is_finished_(other.is_finished_),
      pending_(std::move(other.pending_)) {}

OutputFile::~OutputFile() {
  close_file();
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

int OutputFile::close_file() {
  if (fd_ < 0) return 0;
  if (is_unnamed_) --unnamed;
  is_unnamed_ = false;
  return close(std::exchange(fd_, -1));
}

std::string OutputFile::temporary_path() const { return is_unnamed_ ? place_of(fd_) : temporary_; }

absl::Status OutputFile::write_out(absl::Span<const uint8_t> bytes) {
  return write_to(fd_, bytes) ? absl::OkStatus() : failed("write", path_, errno);
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
  if (is_finished_) return absl::OkStatus();
  PETREL_RETURN_IF_ERROR(write_out(pending_));
  pending_.clear();
  if (fsync(fd_) != 0) return failed("write", path_, errno);
  // What has no name lives by its descriptor.
  if (!is_unnamed_ && close_file() != 0) return failed("write", path_, errno);
  is_finished_ = true;
  return absl::OkStatus();
}

absl::Status OutputFile::give_name() {
  const std::string place = place_of(fd_);
  const auto link_to = [&](const char* name) {
    return linkat(AT_FDCWD, place.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
  };
  // A link takes no name that is there, so a file that is replaced needs another one for a moment.
  if (link_to(target_.c_str()) != 0) {
    std::string name;
    if (errno == EEXIST && take_name_beside(target_, &name, link_to) == 0) {
      temporary_ = name;
    } else {
      PETREL_RETURN_IF_ERROR(name_a_copy());
    }
  }
  close_file();
  return absl::OkStatus();
}

absl::Status OutputFile::name_a_copy() {
  const int copy = create_named(target_, 0600, &temporary_);
  if (copy < 0) {
    const int error = errno;
    temporary_.clear();  // the name is another's
    return failed("name a file", path_, error);
  }
  const bool is_whole = copy_file(fd_, copy);
  const int error = errno;
  close(copy);
  return is_whole ? absl::OkStatus() : failed("copy a file that has no name to", path_, error);
}

absl::Status OutputFile::publish() {
  // A file that is replaced changes places with ours, for withdraw(). Where
  // there is none, or the kernel or the file system cannot exchange names, ours
  // just moves.
  if (is_unnamed_) PETREL_RETURN_IF_ERROR(give_name());
  if (!temporary_.empty() && !exchange_names(temporary_, target_)) {
    if (rename(temporary_.c_str(), target_.c_str()) != 0) {
      return failed("rename a file to", path_, errno);
    }
    temporary_.clear();
  }
  // The new name is on the disk once its folder is. Not all file systems can
  // say so, and the file is in place either way.
  const int folder = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return absl::OkStatus();
}

void OutputFile::withdraw() {
  if (temporary_.empty()) {
    unlink(target_.c_str());
  } else if (rename(temporary_.c_str(), target_.c_str()) == 0) {
    temporary_.clear();
  }
}

}  // namespace petrel::exir
