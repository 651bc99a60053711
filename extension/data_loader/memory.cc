// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/memory.h"

#include "extension/data_loader/buffer_data_loader.h"
#include "runtime/backend/byte_source.h"
#include "runtime/core/checked_math.h"

namespace petrel::extension {
namespace {

using runtime::BytePlace;
using runtime::ByteSource;
using runtime::DataLoader;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;

class MemoryLoader final : public DataLoader {
 public:
  MemoryLoader(const void* data, size_t size)
      : bytes_(data, size), source_(ByteSource::of_memory(data, size)) {}

  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo& info) const override {
    return bytes_.load(offset, size, info);
  }
  Error load_into(size_t offset, size_t size, const SegmentInfo& info,
                  void* buffer) const override {
    return bytes_.load_into(offset, size, info, buffer);
  }
  Result<BytePlace> find_place(size_t offset, size_t size) const override {
    PETREL_ASSIGN_OR_RETURN(const size_t all, bytes_.size());
    if (!runtime::in_bounds(offset, size, all)) return Error::InvalidArgument;
    return source_->place_at(offset);
  }
  Result<size_t> size() const override { return bytes_.size(); }

 private:
  const BufferDataLoader bytes_;
  const std::shared_ptr<ByteSource> source_;
};

}  // namespace

std::unique_ptr<DataLoader> open_memory(const void* data, size_t size) {
  return std::make_unique<MemoryLoader>(data, size);
}

}  // namespace petrel::extension
