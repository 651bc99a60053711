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

NewPrivateFile::NewPrivateFile(const std::string& path) : path_(path), name_(path + ".XXXXXX") {
  fd_ = mkostemp(name_.data(), O_CLOEXEC);
  if (fd_ < 0 || fchmod(fd_, 0600) == 0) return;
  close(fd_);
  unlink(name_.c_str());
  fd_ = -1;
}

NewPrivateFile::~NewPrivateFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (!is_in_place_) unlink(name_.c_str());
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
  is_in_place_ = fsync(fd_) == 0 && rename(name_.c_str(), path_.c_str()) == 0;
  return is_in_place_;
}

}  // namespace petrel::runtime
