// SPDX-License-Identifier: Apache-2.0
//
// Bytes under a path, for readers that open files: the file never leaves memory and
// is written anew for every input.
//
//   static MemoryFile file;
//   read_npy(file.write(data, size));

#ifndef PETREL_TEST_FUZZ_MEMORY_FILE_H_
#define PETREL_TEST_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "test/fuzz/oracle.h"

namespace petrel::fuzz {

class MemoryFile final {
 public:
  MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) { require(fd_ >= 0, "a memory file"); }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Pages that it has are kept: to give them back and take others is most of the time of a
  // reader of small files.
  std::string write(const void* data, size_t size) {
    const bool is_cut = size >= size_ || ::ftruncate(fd_, static_cast<off_t>(size)) == 0;
    require(is_cut && ::pwrite(fd_, data, size, 0) == static_cast<ssize_t>(size),
            "a memory file that can be written");
    size_ = size;
    return "/proc/self/fd/" + std::to_string(fd_);
  }

 private:
  int fd_;
  size_t size_ = 0;
};

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_MEMORY_FILE_H_
