// SPDX-License-Identifier: Apache-2.0
//
// A DataLoader that reads ranges of the file at a path into memory of its own.
// For files that others may truncate or write into: what it loaded cannot change
// under the runtime. Otherwise MmapDataLoader takes less memory.
//
//   Result<FileDataLoader> loader = FileDataLoader::from("model.pte");
//   if (!loader.ok()) return loader.error();
//   Result<Program> program = Program::load(&*loader);
//
// Only what is asked for is read. Ownership and threads as in
// FileDescriptorDataLoader.
#ifndef PETREL_EXTENSION_DATA_LOADER_FILE_DATA_LOADER_H_
#define PETREL_EXTENSION_DATA_LOADER_FILE_DATA_LOADER_H_

#include "extension/data_loader/file_descriptor_data_loader.h"

namespace petrel::extension {

class FileDataLoader final : public FileDescriptorDataLoader {
 public:
  // NotFound when there is no such file, AccessFailed when it cannot be read
  // or is not a regular file.
  static runtime::Result<FileDataLoader> from(const char* path);

 private:
  explicit FileDataLoader(int owned_fd) : FileDescriptorDataLoader(owned_fd, 0, 0) {}
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DATA_LOADER_FILE_DATA_LOADER_H_
