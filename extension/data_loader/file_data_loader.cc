// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/file_data_loader.h"

#include <cerrno>
#include <cstring>

#include "runtime/core/log.h"
#include "runtime/platform/file.h"

namespace petrel::extension {

using runtime::Error;
using runtime::Result;

Result<FileDataLoader> FileDataLoader::from(const char* path) {
  const int fd = runtime::open_to_read(path);
  if (fd < 0) {
    const int reason = errno;
    PETREL_LOG(Error, "%s: %s", path, strerror(reason));
    return reason == ENOENT ? Error::NotFound : Error::AccessFailed;
  }
  FileDataLoader loader(fd);
  const Error error = loader.take_size();
  if (error != Error::Ok) {
    PETREL_LOG(Error, "%s cannot be loaded", path);
    return error;
  }
  return loader;
}

}  // namespace petrel::extension
