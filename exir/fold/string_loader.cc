// SPDX-License-Identifier: Apache-2.0
#include "exir/fold/string_loader.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace petrel::exir {

runtime::Result<runtime::FreeableBuffer> StringLoader::load(size_t offset, size_t size,
                                                            const SegmentInfo&) const {
  if (!is_inside(offset, size)) return runtime::Error::InvalidArgument;
  const char* data = bytes_.data() + offset;
  if (reinterpret_cast<uintptr_t>(data) % runtime::kDataAlignment == 0) {
    return runtime::FreeableBuffer(data, size, nullptr);
  }
  const size_t rounded = (size / runtime::kDataAlignment + 1) * runtime::kDataAlignment;
  void* copy = std::aligned_alloc(runtime::kDataAlignment, rounded);
  if (copy == nullptr) return runtime::Error::MemoryAllocationFailed;
  std::memcpy(copy, data, size);
  return runtime::FreeableBuffer(copy, size,
                                 [](void*, void* memory, size_t) { std::free(memory); });
}

runtime::Error StringLoader::load_into(size_t offset, size_t size, const SegmentInfo&,
                                       void* buffer) const {
  if (!is_inside(offset, size)) return runtime::Error::InvalidArgument;
  std::memcpy(buffer, bytes_.data() + offset, size);
  return runtime::Error::Ok;
}

}  // namespace petrel::exir
