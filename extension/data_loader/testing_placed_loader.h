// SPDX-License-Identifier: Apache-2.0
//
// For tests: a loader of bytes that says of any range where it is, as loaders of files that have
// not just been written do. The bytes must outlive it.

#ifndef PETREL_EXTENSION_DATA_LOADER_TESTING_PLACED_LOADER_H_
#define PETREL_EXTENSION_DATA_LOADER_TESTING_PLACED_LOADER_H_

#include <cstddef>
#include <string>

#include "extension/data_loader/buffer_data_loader.h"
#include "runtime/core/data_loader.h"

namespace petrel::extension {

class PlacedLoader final : public runtime::DataLoader {
 public:
  explicit PlacedLoader(const std::string& bytes) : loader_(bytes.data(), bytes.size()) {}
  runtime::Result<runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                const SegmentInfo& info) const override {
    return loader_.load(offset, size, info);
  }
  runtime::Result<runtime::BytePlace> find_place(size_t offset, size_t) const override {
    return runtime::BytePlace{1, offset};
  }
  runtime::Result<size_t> size() const override { return loader_.size(); }

 private:
  BufferDataLoader loader_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DATA_LOADER_TESTING_PLACED_LOADER_H_
