// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/file_data_loader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Error;
using runtime::Result;

Result<FileDataLoader> FileDataLoader::from(const char* path) {
  // Not blocking: opening a pipe must fail in from(), not hang.
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const int reason = errno;
    PETREL_LOG(Error, "%s: %s", path, strerror(reason));
    return reason == ENOENT ? Error::NotFound : Error::AccessFailed;
  }
  Result<FileDescriptorDataLoader> opened = FileDescriptorDataLoader::from(fd);
  close(fd);
  if (!opened.ok()) {
    PETREL_LOG(Error, "%s cannot be loaded", path);
    return opened.error();
  }
  return FileDataLoader(std::move(opened.get()));
}

}  // namespace petrel::extension
