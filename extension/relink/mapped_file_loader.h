// SPDX-License-Identifier: Apache-2.0
//
// MappedFileLoader: lets the runtime read a file that the compiler has mapped.
// Structures are copied before they are verified, since another process may
// write to the file meanwhile; weights stay in the mapping.
//
//   MappedFileLoader loader(file);
//   const runtime::Result<runtime::Program> program = runtime::Program::load(&loader);
//
// Keeps the mapping; buffers point into it and must not outlive the loader.
#ifndef PETREL_EXTENSION_RELINK_MAPPED_FILE_LOADER_H_
#define PETREL_EXTENSION_RELINK_MAPPED_FILE_LOADER_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "exir/import/mapped_file.h"
#include "extension/data_loader/buffer_data_loader.h"
#include "runtime/core/data_loader.h"

namespace petrel::extension {

class MappedFileLoader final : public runtime::DataLoader {
 public:
  explicit MappedFileLoader(std::shared_ptr<const exir::MappedFile> file)
      : file_(std::move(file)), mapped_(file_->bytes().data(), file_->bytes().size()) {}

  runtime::Result<runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                const SegmentInfo& info) const override {
    return info.segment_type == SegmentInfo::Type::Program ? mapped_.load_copy(offset, size)
                                                           : mapped_.load(offset, size, info);
  }
  runtime::Error load_into(size_t offset, size_t size, const SegmentInfo& info,
                           void* buffer) const override {
    return mapped_.load_into(offset, size, info, buffer);
  }
  runtime::Result<size_t> size() const override { return mapped_.size(); }

 private:
  std::shared_ptr<const exir::MappedFile> file_;
  BufferDataLoader mapped_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_RELINK_MAPPED_FILE_LOADER_H_
