// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "runtime/platform/private_file.h"
#include "runtime/platform/random_bytes.h"

namespace petrel::runtime {
namespace {

// Null when the file is private.
const char* reason_against(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return "is not a regular file";
  if (info.st_uid != geteuid()) return "belongs to another user";
  if ((info.st_mode & 07777) != 0600) {
    return "is open to other users: its mode must be 0600";
  }
  return nullptr;
}

std::string place_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// A file without a name in the folder of `path`, which is gone with the process, however that
// ends; -1 where there are none, or none that can be named later.
int create_unnamed(const std::string& path) {
#ifdef O_TMPFILE
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 && access(place_of(fd).c_str(), F_OK) == 0) return fd;
  if (fd >= 0) close(fd);
#else
  (void)path;
#endif
  return -1;
}

// Names it beside `path`; "" with errno where that cannot be.
std::string name_beside(int fd, const std::string& path) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    uint32_t number = 0;
    if (!random_bytes(&number, sizeof(number))) return "";
    const std::string name = path + "." + std::to_string(number);
    if (linkat(AT_FDCWD, place_of(fd).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      return name;
    }
    if (errno != EEXIST) return "";
  }
  return "";
}

}  // namespace

int open_private(const char* path, const char** out_reason) {
  *out_reason = nullptr;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT) *out_reason = errno == ELOOP ? "is a symbolic link" : strerror(errno);
    return -1;
  }
  *out_reason = reason_against(fd);
  if (*out_reason == nullptr) return fd;
  close(fd);
  return -1;
}

NewPrivateFile::NewPrivateFile(const std::string& path) : path_(path), fd_(create_unnamed(path)) {
  if (fd_ < 0) {
    name_ = path + ".XXXXXX";
    fd_ = mkostemp(name_.data(), O_CLOEXEC);
  }
  if (fd_ < 0 || fchmod(fd_, 0600) == 0) return;
  close(fd_);
  if (!name_.empty()) unlink(name_.c_str());
  fd_ = -1;
}

NewPrivateFile::~NewPrivateFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (!is_in_place_ && !name_.empty()) unlink(name_.c_str());
}

bool NewPrivateFile::write(const void* bytes, size_t size) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  while (size > 0) {
    const ssize_t put = ::write(fd_, at, std::min(size, size_t{1} << 30));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    at += put;
    size -= static_cast<size_t>(put);
  }
  return true;
}

bool NewPrivateFile::put_in_place() {
  if (fsync(fd_) != 0) return false;
  if (name_.empty()) name_ = name_beside(fd_, path_);
  is_in_place_ = !name_.empty() && rename(name_.c_str(), path_.c_str()) == 0;
  return is_in_place_;
}

}  // namespace petrel::runtime
