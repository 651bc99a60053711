// SPDX-License-Identifier: Apache-2.0
//
// A DataLoader that maps the file: weights are shared with the page cache and
// with other processes, and read from disk when first touched.
//
//   Result<MmapDataLoader> loader = MmapDataLoader::from("model.pte");
//
// One read-only mapping of the whole file lives as long as the loader; buffers
// point into it and cost nothing. In files of 256 KB and more, freeing one takes its
// pages out of the memory of this process, so that weights which a backend packed
// are not there twice:
//
//   file      | weight 0 | weight 1 | weight 2 |
//   resident             |  packing |  pages as they are read
//
// Other buffers over the same pages stay good: what they touch is mapped again
// from the page cache. Ranges of type Program are copied out, since
// verified structures must not change under the runtime. Truncating the file
// while it is mapped makes later reads of its weights raise SIGBUS: replace
// model files by renaming, never in place. Thread-safe.
#ifndef PETREL_EXTENSION_DATA_LOADER_MMAP_DATA_LOADER_H_
#define PETREL_EXTENSION_DATA_LOADER_MMAP_DATA_LOADER_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/backend/byte_source.h"
#include "runtime/core/data_loader.h"

namespace petrel::extension {

class MmapDataLoader final : public runtime::DataLoader {
 public:
  // Errors as FileDataLoader::from.
  static runtime::Result<MmapDataLoader> from(const char* path);

  MmapDataLoader(MmapDataLoader&& other) noexcept = default;
  MmapDataLoader& operator=(MmapDataLoader&&) = delete;

  runtime::Result<runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                const SegmentInfo& info) const override;
  runtime::Error load_into(size_t offset, size_t size, const SegmentInfo& info,
                           void* buffer) const override;
  runtime::Result<runtime::BytePlace> find_place(size_t offset, size_t size) const override;
  bool is_in_place(const SegmentInfo& info) const override {
    return info.segment_type != SegmentInfo::Type::Program;
  }
  runtime::Result<size_t> size() const override { return mapping_->size; }

 private:
  // Buffers point to it, so it stays where it is when the loader moves.
  struct Mapping {
    const char* base;  // null for an empty file
    size_t size;
    int fd;  // stays open: its state tells whether the file was changed
    std::unique_ptr<runtime::ByteSource> source;
    ~Mapping();
  };

  explicit MmapDataLoader(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
  static void give_pages_back(void* mapping, void* data, size_t size);

  std::unique_ptr<Mapping> mapping_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DATA_LOADER_MMAP_DATA_LOADER_H_
