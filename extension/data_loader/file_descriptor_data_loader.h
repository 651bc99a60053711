// SPDX-License-Identifier: Apache-2.0
//
// A DataLoader that reads ranges of an open file, or of a part of it: an asset
// inside a package, for example.
//
//   Result<FileDescriptorDataLoader> loader =
//       FileDescriptorDataLoader::from(fd, asset_offset, asset_length);
//   Result<Program> program = Program::load(&*loader);
//
// The loader duplicates the descriptor and owns the duplicate; the caller may
// close its own at once. A load() allocates and reads (pread, so the file position is
// neither used nor moved); freeing the buffer frees the memory, large ones to the system
// (spare_memory.h). Large weights that are in memory already, read by this or another loader from
// the same unchanged file, are not read again: all share that memory (shared_reads.h).
// Memory is aligned as far as the offset is, up to a page. Thread-safe.
#ifndef PETREL_EXTENSION_DATA_LOADER_FILE_DESCRIPTOR_DATA_LOADER_H_
#define PETREL_EXTENSION_DATA_LOADER_FILE_DESCRIPTOR_DATA_LOADER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/backend/byte_source.h"
#include "runtime/core/data_loader.h"

namespace petrel::extension {

class FileDescriptorDataLoader : public runtime::DataLoader {
 public:
  // All of the file.
  static runtime::Result<FileDescriptorDataLoader> from(int fd);
  // `length` bytes from `offset`. InvalidArgument when the file is shorter.
  static runtime::Result<FileDescriptorDataLoader> from(int fd, uint64_t offset, uint64_t length);

  FileDescriptorDataLoader(FileDescriptorDataLoader&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        base_(other.base_),
        size_(other.size_),
        source_(std::move(other.source_)) {}
  FileDescriptorDataLoader& operator=(FileDescriptorDataLoader&&) = delete;
  ~FileDescriptorDataLoader() override;

  runtime::Result<runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                const SegmentInfo& info) const override;
  runtime::Error load_into(size_t offset, size_t size, const SegmentInfo& info,
                           void* buffer) const override;
  runtime::Result<runtime::BytePlace> find_place(size_t offset, size_t size) const override;
  runtime::Result<size_t> size() const override { return size_; }

 private:
  friend class FileDataLoader;
  // Of a loader without a size yet: that of the file.
  runtime::Error take_size();

  FileDescriptorDataLoader(int owned_fd, uint64_t base, size_t size)
      : fd_(owned_fd), base_(base), size_(size) {
    if constexpr (runtime::kKnowsPlaces) source_ = runtime::ByteSource::of_file(owned_fd);
  }

  // Where the bytes are for others who read the file, else for this loader.
  runtime::Result<runtime::BytePlace> place_to_share(size_t offset) const;

  int fd_;
  uint64_t base_;
  size_t size_;
  // Null where places are not known.
  std::unique_ptr<runtime::ByteSource> source_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DATA_LOADER_FILE_DESCRIPTOR_DATA_LOADER_H_
