// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/mmap_data_loader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "extension/data_loader/buffer_data_loader.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;

Result<MmapDataLoader> MmapDataLoader::from(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const int reason = errno;
    PETREL_LOG(Error, "%s: %s", path, strerror(reason));
    return reason == ENOENT ? Error::NotFound : Error::AccessFailed;
  }
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    PETREL_LOG(Error, "%s is not a regular file", path);
    close(fd);
    return Error::AccessFailed;
  }
  size_t size = 0;
  if (!runtime::checked_cast(status.st_size, &size)) {
    PETREL_LOG(Error, "%s is too large to be mapped", path);
    close(fd);
    return Error::AccessFailed;
  }
  void* base = nullptr;
  if (size > 0) {
    base = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (base == MAP_FAILED) {
      PETREL_LOG(Error, "%s: mapping %zu bytes: %s", path, size, strerror(errno));
      close(fd);
      return Error::AccessFailed;
    }
  }
  close(fd);
  return MmapDataLoader(static_cast<const char*>(base), size);
}

MmapDataLoader::~MmapDataLoader() {
  if (base_ != nullptr) munmap(const_cast<char*>(base_), size_);
}

Result<FreeableBuffer> MmapDataLoader::load(size_t offset, size_t size,
                                            const SegmentInfo& info) const {
  const BufferDataLoader mapped(base_, size_);
  if (info.segment_type != SegmentInfo::Type::Program) return mapped.load(offset, size, info);
  return mapped.load_copy(offset, size);
}

Error MmapDataLoader::load_into(size_t offset, size_t size, const SegmentInfo& info,
                                void* buffer) const {
  return BufferDataLoader(base_, size_).load_into(offset, size, info, buffer);
}

}  // namespace petrel::extension
