// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/memory.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/data_loader/shared_reads.h"
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
  MemoryLoader(const void* data, size_t size, bool may_change)
      : bytes_(data, size),
        source_(ByteSource::of_memory(data, size)),
        is_aligned_(reinterpret_cast<uintptr_t>(data) % runtime::kDataAlignment == 0),
        may_change_(may_change) {}

  // What is not aligned is copied, once.
  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo& info) const override {
    if (may_change_ && info.segment_type == SegmentInfo::Type::Program) {
      return bytes_.load_copy(offset, size);
    }
    const Result<BytePlace> place = find_place(offset, size);
    if (is_aligned_ || !place.ok() || !SharedReads::may_share(size, info)) {
      return bytes_.load(offset, size, info);
    }
    std::optional<FreeableBuffer> there = SharedReads::find({*place, size});
    if (there.has_value()) return *std::move(there);
    PETREL_ASSIGN_OR_RETURN(FreeableBuffer copy, bytes_.load_copy(offset, size));
    return SharedReads::share({*place, size}, std::move(copy));
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
  // A backend that packs weights is done with them when they change.
  bool is_in_place(const SegmentInfo&) const override { return is_aligned_ && !may_change_; }
  Result<size_t> size() const override { return bytes_.size(); }

 private:
  const BufferDataLoader bytes_;
  const std::unique_ptr<ByteSource> source_;
  const bool is_aligned_;
  const bool may_change_;
};

}  // namespace

std::unique_ptr<DataLoader> open_memory(const void* data, size_t size, bool may_change) {
  return std::make_unique<MemoryLoader>(data, size, may_change);
}

}  // namespace petrel::extension
