// SPDX-License-Identifier: Apache-2.0
//
// A DataLoader that maps the file: weights are shared with the page cache and
// with other processes, and read from disk when first touched.
//
//   Result<MmapDataLoader> loader = MmapDataLoader::from("model.pte");
//
// One read-only mapping of the whole file lives as long as the loader; buffers
// point into it and cost nothing. Ranges of type Program are copied out, since
// verified structures must not change under the runtime. Truncating the file
// while it is mapped makes later reads of its weights raise SIGBUS: replace
// model files by renaming, never in place. Thread-safe.
#ifndef PETREL_EXTENSION_DATA_LOADER_MMAP_DATA_LOADER_H_
#define PETREL_EXTENSION_DATA_LOADER_MMAP_DATA_LOADER_H_

#include <cstddef>
#include <utility>

#include "runtime/core/data_loader.h"

namespace petrel::extension {

class MmapDataLoader final : public runtime::DataLoader {
 public:
  // Errors as FileDataLoader::from.
  static runtime::Result<MmapDataLoader> from(const char* path);

  MmapDataLoader(MmapDataLoader&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MmapDataLoader& operator=(MmapDataLoader&&) = delete;
  ~MmapDataLoader() override;

  runtime::Result<runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                const SegmentInfo& info) const override;
  runtime::Error load_into(size_t offset, size_t size, const SegmentInfo& info,
                           void* buffer) const override;
  runtime::Result<size_t> size() const override { return size_; }

 private:
  MmapDataLoader(const char* base, size_t size) : base_(base), size_(size) {}

  const char* base_;  // null for an empty file
  size_t size_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DATA_LOADER_MMAP_DATA_LOADER_H_
