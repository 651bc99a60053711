// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/mmap_data_loader.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "extension/data_loader/buffer_data_loader.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/platform/file.h"
#include "runtime/platform/pages.h"

namespace petrel::extension {
namespace {

// Fewer bytes cost less than what is spent to fetch them, or their neighbours, again.
constexpr size_t kWorthGivingBack = size_t{256} << 10;

}  // namespace

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;

Result<MmapDataLoader> MmapDataLoader::from(const char* path) {
  const int fd = runtime::open_to_read(path);
  if (fd < 0) {
    const int reason = errno;
    PETREL_LOG(Error, "%s: %s", path, strerror(reason));
    return reason == ENOENT ? Error::NotFound : Error::AccessFailed;
  }
  runtime::FileState state;
  if (!runtime::read_state(fd, &state) || !state.is_regular) {
    PETREL_LOG(Error, "%s is not a regular file", path);
    runtime::close_file(fd);
    return Error::AccessFailed;
  }
  size_t size = 0;
  if (!runtime::checked_cast(state.size, &size)) {
    PETREL_LOG(Error, "%s is too large to be mapped", path);
    runtime::close_file(fd);
    return Error::AccessFailed;
  }
  const void* base = nullptr;
  if (size > 0) {
    base = runtime::map_file(fd, size);
    if (base == nullptr) {
      PETREL_LOG(Error, "%s: mapping %zu bytes: %s", path, size, strerror(errno));
      runtime::close_file(fd);
      return Error::AccessFailed;
    }
  }
  auto source = runtime::ByteSource::of_file(fd);
  if (base != nullptr) source->announce(base, size, 0);
  return MmapDataLoader(std::unique_ptr<Mapping>(
      new Mapping{static_cast<const char*>(base), size, fd, std::move(source)}));
}

MmapDataLoader::Mapping::~Mapping() {
  source.reset();
  if (base != nullptr) runtime::unmap_file(base, size);
  runtime::close_file(fd);
}

// Nothing is lost, the bytes are the file's. A touched page brings those around
// it that are in the page cache, so they go together: else many small ranges
// would leave as many pages behind as there are.
void MmapDataLoader::give_pages_back(void* mapping, void* data, size_t size) {
  constexpr size_t kAround = size_t{64} << 10;  // Linux's default, at least a page
  const char* const base = static_cast<const Mapping*>(mapping)->base;
  const size_t mapped = static_cast<const Mapping*>(mapping)->size;
  if (mapped < kWorthGivingBack) return;
  const auto offset = static_cast<size_t>(static_cast<char*>(data) - base);
  // The kernel counts from multiples of that in memory, where no file begins.
  const size_t shift = reinterpret_cast<uintptr_t>(base) % kAround;
  const size_t begin = (offset + shift) / kAround * kAround;
  const size_t end = (offset + size + shift + kAround - 1) / kAround * kAround;
  const size_t first = begin < shift ? 0 : begin - shift;
  // The system rounds up to pages. It may refuse where pages are locked.
  runtime::forget_pages(base + first, std::min(end - shift, mapped) - first);
}

Result<FreeableBuffer> MmapDataLoader::load(size_t offset, size_t size,
                                            const SegmentInfo& info) const {
  const BufferDataLoader mapped(mapping_->base, mapping_->size);
  if (info.segment_type == SegmentInfo::Type::Program) {
    Result<FreeableBuffer> copy = mapped.load_copy(offset, size);
    // Else the process had both in memory.
    if (copy.ok() && size >= kWorthGivingBack) {
      give_pages_back(mapping_.get(), const_cast<char*>(mapping_->base) + offset, size);
    }
    return copy;
  }
  // The mapping begins at a page, so that no range is copied to be aligned.
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer range, mapped.load(offset, size, info));
  return FreeableBuffer(range.data(), size, size == 0 ? nullptr : &give_pages_back, mapping_.get());
}

Error MmapDataLoader::load_into(size_t offset, size_t size, const SegmentInfo& info,
                                void* buffer) const {
  return BufferDataLoader(mapping_->base, mapping_->size).load_into(offset, size, info, buffer);
}

Result<runtime::BytePlace> MmapDataLoader::find_place(size_t offset, size_t size) const {
  if (!runtime::in_bounds(offset, size, mapping_->size)) return Error::InvalidArgument;
  return mapping_->source->place_at(offset);
}

}  // namespace petrel::extension
