// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/segment.h"

#include <cinttypes>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"

namespace petrel::runtime {

Error load_range(const DataLoader& loader, uint64_t offset, uint64_t size,
                 const DataLoader::SegmentInfo& info, FreeableBuffer* to) {
  size_t start = 0;
  size_t count = 0;
  if (!checked_cast(offset, &start) || !checked_cast(size, &count)) {
    PETREL_LOG(Error, "%" PRIu64 " bytes at %" PRIu64 " are beyond this machine's address space",
               size, offset);
    return Error::NotSupported;
  }
  PETREL_ASSIGN_OR_RETURN(FreeableBuffer buffer, loader.load(start, count, info));
  if (buffer.size() != count || (count != 0 && buffer.data() == nullptr)) {
    PETREL_LOG(Error, "the data loader returned %zu bytes instead of %zu at %zu", buffer.size(),
               count, start);
    return Error::AccessFailed;
  }
  if (count != 0 && start % kDataAlignment == 0 &&
      reinterpret_cast<uintptr_t>(buffer.data()) % kDataAlignment != 0) {
    PETREL_LOG(Error, "the data loader returned memory at %p, must be aligned to %zu bytes",
               buffer.data(), kDataAlignment);
    return Error::AccessFailed;
  }
  *to = std::move(buffer);
  return Error::Ok;
}

Error load_segment(const DataLoader& loader, uint64_t segment_base, const SegmentView& segment,
                   const DataLoader::SegmentInfo& info, FreeableBuffer* to) {
  // Verified to lie in the file, so the sum does not overflow.
  return load_range(loader, segment_base + segment.offset, segment.size, info, to);
}

}  // namespace petrel::runtime
