// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/file_descriptor_data_loader.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "extension/data_loader/shared_reads.h"
#include "extension/data_loader/spare_memory.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/platform/aligned_memory.h"
#include "runtime/platform/file.h"

namespace petrel::extension {

using runtime::BytePlace;
using runtime::checked_align_up;
using runtime::checked_cast;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::in_bounds;
using runtime::kDataAlignment;
using runtime::Result;

namespace {

Result<uint64_t> file_size(int fd) {
  runtime::FileState state;
  if (!runtime::read_state(fd, &state)) {
    PETREL_LOG(Error, "descriptor %d: %s", fd, strerror(errno));
    return Error::AccessFailed;
  }
  // Pipes and devices have no ranges to ask for.
  if (!state.is_regular) {
    PETREL_LOG(Error, "descriptor %d is not a regular file", fd);
    return Error::AccessFailed;
  }
  return state.size;
}

// From here on memory comes from the system and goes back to it, but for a little, and
// not to the heap, which would keep all that was freed.
constexpr size_t kMinMappedBytes = size_t{128} << 10;
constexpr size_t kPageBytes = 4096;

void free_memory(void*, void* data, size_t) { runtime::free_aligned(data); }

void give_back(void*, void* data, size_t size) { SpareMemory::give_back(data, size); }

// Aligned as far as `offset` is, up to a page: as the bytes would be in a mapping.
size_t alignment_at(size_t offset) {
  size_t alignment = kDataAlignment;
  while (alignment < kPageBytes && offset % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

// Null when there is none.
FreeableBuffer memory_for(size_t offset, size_t size) {
  if (size >= kMinMappedBytes) {
    void* const memory = SpareMemory::take(size);
    return memory == nullptr ? FreeableBuffer() : FreeableBuffer(memory, size, give_back);
  }
  const size_t alignment = alignment_at(offset);
  size_t padded = 0;
  if (!checked_align_up(size, alignment, &padded)) return FreeableBuffer();
  void* const memory = runtime::allocate_aligned(alignment, padded);
  return memory == nullptr ? FreeableBuffer() : FreeableBuffer(memory, size, free_memory);
}

}  // namespace

Result<FileDescriptorDataLoader> FileDescriptorDataLoader::from(int fd) {
  PETREL_ASSIGN_OR_RETURN(const uint64_t size, file_size(fd));
  return from(fd, 0, size);
}

Error FileDescriptorDataLoader::take_size() {
  PETREL_ASSIGN_OR_RETURN(const uint64_t file, file_size(fd_));
  if (checked_cast(file, &size_)) return Error::Ok;
  PETREL_LOG(Error, "a file of %llu bytes is beyond this machine's address space",
             static_cast<unsigned long long>(file));
  return Error::InvalidArgument;
}

Result<FileDescriptorDataLoader> FileDescriptorDataLoader::from(int fd, uint64_t offset,
                                                                uint64_t length) {
  PETREL_ASSIGN_OR_RETURN(const uint64_t file, file_size(fd));
  size_t size = 0;
  if (!in_bounds(offset, length, file) || !checked_cast(length, &size)) {
    PETREL_LOG(Error, "range [%llu, +%llu) is not inside the file of %llu bytes",
               static_cast<unsigned long long>(offset), static_cast<unsigned long long>(length),
               static_cast<unsigned long long>(file));
    return Error::InvalidArgument;
  }
  const int duplicate = runtime::duplicate_file(fd);
  if (duplicate < 0) {
    PETREL_LOG(Error, "descriptor %d cannot be duplicated: %s", fd, strerror(errno));
    return Error::AccessFailed;
  }
  return FileDescriptorDataLoader(duplicate, offset, size);
}

FileDescriptorDataLoader::~FileDescriptorDataLoader() {
  source_.reset();
  if (fd_ >= 0) runtime::close_file(fd_);
}

Result<FreeableBuffer> FileDescriptorDataLoader::load(size_t offset, size_t size,
                                                      const SegmentInfo& info) const {
  if (size == 0) {
    PETREL_RETURN_IF_ERROR(load_into(offset, 0, info, nullptr));
    return FreeableBuffer();
  }
  if (!in_bounds(offset, size, size_)) {
    // Before allocating: a wrong size must not ask for memory.
    PETREL_LOG(Error, "range [%zu, +%zu) is not inside the file of %zu bytes", offset, size, size_);
    return Error::InvalidArgument;
  }
  const Result<BytePlace> place = SharedReads::may_share(size, info)
                                      ? place_to_share(offset)
                                      : Result<BytePlace>(Error::NotSupported);
  if (place.ok()) {
    std::optional<FreeableBuffer> there = SharedReads::find({*place, size});
    if (there.has_value()) return *std::move(there);
  }
  FreeableBuffer buffer = memory_for(offset, size);
  if (buffer.data() == nullptr) return Error::MemoryAllocationFailed;
  PETREL_RETURN_IF_ERROR(load_into(offset, size, info, const_cast<void*>(buffer.data())));
  // The file may have been changed while it was read.
  const Result<BytePlace> after =
      place.ok() ? place_to_share(offset) : Result<BytePlace>(Error::NotSupported);
  if (!after.ok() || !(*after == *place)) return buffer;
  return SharedReads::share({*place, size}, std::move(buffer));
}

Result<BytePlace> FileDescriptorDataLoader::find_place(size_t offset, size_t size) const {
  if constexpr (!runtime::kKnowsPlaces) return Error::NotSupported;
  if (!in_bounds(offset, size, size_)) return Error::InvalidArgument;
  return source_->place_at(base_ + offset);
}

Result<BytePlace> FileDescriptorDataLoader::place_to_share(size_t offset) const {
  Result<BytePlace> place = source_->place_at(base_ + offset);
  if (place.ok()) return place;
  return source_->own_place_at(base_ + offset);
}

Error FileDescriptorDataLoader::load_into(size_t offset, size_t size, const SegmentInfo&,
                                          void* buffer) const {
  if (!in_bounds(offset, size, size_)) {
    PETREL_LOG(Error, "range [%zu, +%zu) is not inside the file of %zu bytes", offset, size, size_);
    return Error::InvalidArgument;
  }
  size_t done = 0;
  while (done < size) {
    const int64_t got = runtime::read_at(fd_, static_cast<char*>(buffer) + done, size - done,
                                         base_ + offset + done);
    if (got <= 0) {
      PETREL_LOG(Error, "reading %zu bytes at %zu: %s", size, offset,
                 got == 0 ? "the file ends early" : strerror(errno));
      return Error::AccessFailed;
    }
    done += static_cast<size_t>(got);
  }
  return Error::Ok;
}

}  // namespace petrel::extension
