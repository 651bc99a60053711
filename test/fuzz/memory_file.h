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

  std::string write(const void* data, size_t size) const {
    require(::ftruncate(fd_, 0) == 0 && ::ftruncate(fd_, static_cast<off_t>(size)) == 0 &&
                ::pwrite(fd_, data, size, 0) == static_cast<ssize_t>(size),
            "a memory file that can be written");
    return "/proc/self/fd/" + std::to_string(fd_);
  }

 private:
  int fd_;
};

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_MEMORY_FILE_H_
