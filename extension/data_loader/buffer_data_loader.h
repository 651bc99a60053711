// SPDX-License-Identifier: Apache-2.0
//
// A DataLoader over bytes in memory, for programs that are linked in, decrypted
// or made on the spot.
//
//   BufferDataLoader loader(bytes.data(), bytes.size());
//   Result<Program> program = Program::load(&loader);
//
// The bytes belong to the caller, must not change, and must outlive everything
// loaded from them. Ranges that are aligned to kDataAlignment in memory are
// handed out as they are, others are copied, so the bytes may lie anywhere.
// Thread-safe.
#ifndef PETREL_EXTENSION_DATA_LOADER_BUFFER_DATA_LOADER_H_
#define PETREL_EXTENSION_DATA_LOADER_BUFFER_DATA_LOADER_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/data_loader.h"

namespace petrel::extension {

class BufferDataLoader final : public runtime::DataLoader {
 public:
  BufferDataLoader(const void* data, size_t size)
      : data_(static_cast<const char*>(data)), size_(size) {}

  runtime::Result<runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                const SegmentInfo& info) const override;
  // As load, but always into memory of its own.
  runtime::Result<runtime::FreeableBuffer> load_copy(size_t offset, size_t size) const;
  runtime::Error load_into(size_t offset, size_t size, const SegmentInfo& info,
                           void* buffer) const override;
  bool is_in_place(const SegmentInfo&) const override {
    return reinterpret_cast<uintptr_t>(data_) % runtime::kDataAlignment == 0;
  }
  runtime::Result<size_t> size() const override { return size_; }

 private:
  runtime::Error check_range(size_t offset, size_t size) const;

  const char* data_;
  size_t size_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_DATA_LOADER_BUFFER_DATA_LOADER_H_
