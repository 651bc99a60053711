// SPDX-License-Identifier: Apache-2.0
#include "extension/data_loader/buffer_data_loader.h"

#include <cstdint>
#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/platform/aligned_memory.h"

namespace petrel::extension {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::kDataAlignment;
using runtime::Result;

namespace {

void free_memory(void*, void* data, size_t) { runtime::free_aligned(data); }

}  // namespace

Error BufferDataLoader::check_range(size_t offset, size_t size) const {
  if (runtime::in_bounds(offset, size, size_)) return Error::Ok;
  PETREL_LOG(Error, "range [%zu, +%zu) is not inside the data of %zu bytes", offset, size, size_);
  return Error::InvalidArgument;
}

Result<FreeableBuffer> BufferDataLoader::load(size_t offset, size_t size,
                                              const SegmentInfo&) const {
  PETREL_RETURN_IF_ERROR(check_range(offset, size));
  const char* start = data_ + offset;
  const bool wants_alignment = offset % kDataAlignment == 0;
  if (wants_alignment && reinterpret_cast<uintptr_t>(start) % kDataAlignment != 0) {
    return load_copy(offset, size);
  }
  return FreeableBuffer(start, size, nullptr);
}

Result<FreeableBuffer> BufferDataLoader::load_copy(size_t offset, size_t size) const {
  PETREL_RETURN_IF_ERROR(check_range(offset, size));
  if (size == 0) return FreeableBuffer();
  size_t padded = 0;
  if (!runtime::checked_align_up(size, kDataAlignment, &padded)) {
    return Error::MemoryAllocationFailed;
  }
  void* memory = runtime::allocate_aligned(kDataAlignment, padded);
  if (memory == nullptr) return Error::MemoryAllocationFailed;
  std::memcpy(memory, data_ + offset, size);
  return FreeableBuffer(memory, size, free_memory);
}

Error BufferDataLoader::load_into(size_t offset, size_t size, const SegmentInfo&,
                                  void* buffer) const {
  PETREL_RETURN_IF_ERROR(check_range(offset, size));
  if (size > 0) std::memcpy(buffer, data_ + offset, size);
  return Error::Ok;
}

}  // namespace petrel::extension
