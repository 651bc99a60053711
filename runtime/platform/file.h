// SPDX-License-Identifier: Apache-2.0
//
// Files that are open for reading, as descriptors: the system's own, on Windows those of the
// C library. Whoever opens or duplicates one closes it. Paths are UTF-8 everywhere. What
// fails leaves the reason in errno.
//
//   const int fd = open_to_read("model.pte");     // -1: errno says why
//   FileState state;
//   if (read_state(fd, &state) && state.is_regular) ...
//   const int64_t got = read_at(fd, bytes, size, offset);
//   close_file(fd);

#ifndef PETREL_RUNTIME_PLATFORM_FILE_H_
#define PETREL_RUNTIME_PLATFORM_FILE_H_

#include <cstddef>
#include <cstdint>

namespace petrel::runtime {

// What tells a file, and what is in it, from others.
struct FileState {
  bool is_regular;  // not a folder, a pipe or a device
  uint64_t size;
  uint64_t device;
  uint64_t number;  // of the file on its device
  uint64_t modified_ns;
  uint64_t changed_seconds;  // of bytes or of what is told of them, since 1970
  uint64_t changed_ns;       // of that second
};

// Not handed to programs that this one starts, and not waiting: a pipe is opened at once.
int open_to_read(const char* path);
// Of the same file, but with a life of its own.
int duplicate_file(int fd);
void close_file(int fd);

bool read_state(int fd, FileState* state);

// How many bytes were read, 0 at the end, -1 when it failed. The position of the file is not
// used, and not moved but on Windows.
int64_t read_at(int fd, void* bytes, size_t size, uint64_t offset);

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_PLATFORM_FILE_H_
