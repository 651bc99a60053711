// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/platform/file.h"

namespace petrel::runtime {

int open_to_read(const char* path) { return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

int duplicate_file(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

void close_file(int fd) { close(fd); }

bool read_state(int fd, FileState* state) {
  struct stat found;
  if (fstat(fd, &found) != 0) return false;
  state->is_regular = S_ISREG(found.st_mode);
  state->size = static_cast<uint64_t>(found.st_size);
  state->device = static_cast<uint64_t>(found.st_dev);
  state->number = static_cast<uint64_t>(found.st_ino);
  state->modified_ns = static_cast<uint64_t>(found.st_mtim.tv_sec) * 1'000'000'000 +
                       static_cast<uint64_t>(found.st_mtim.tv_nsec);
  state->changed_seconds = static_cast<uint64_t>(found.st_ctim.tv_sec);
  state->changed_ns = static_cast<uint64_t>(found.st_ctim.tv_nsec);
  return true;
}

int64_t read_at(int fd, void* bytes, size_t size, uint64_t offset) {
  for (;;) {
    const ssize_t got = pread(fd, bytes, size, static_cast<off_t>(offset));
    if (got >= 0 || errno != EINTR) return got;
  }
}

}  // namespace petrel::runtime
