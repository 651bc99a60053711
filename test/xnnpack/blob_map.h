// SPDX-License-Identifier: Apache-2.0
//
// A NamedBlobStore as the runtime's NamedDataMap: what a `.pte` or `.ptd` is
// between them, without the file. Counts the buffers that are out.

#ifndef PETREL_TEST_XNNPACK_BLOB_MAP_H_
#define PETREL_TEST_XNNPACK_BLOB_MAP_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "exir/backend/named_blob_store.h"
#include "runtime/core/named_data_map.h"

namespace petrel::test {

class BlobMap final : public runtime::NamedDataMap {
 public:
  BlobMap() = default;
  explicit BlobMap(const exir::NamedBlobStore& store) {
    for (const auto& [unused, destination] : store.destinations()) {
      for (const auto& entry : destination.entries) {
        blobs_.emplace(entry.key, destination.buffers[entry.buffer].blob.bytes());
      }
    }
  }

  // Replaces or adds a key.
  void set(const std::string& key, const exir::Blob& blob) {
    blobs_.erase(key);
    blobs_.emplace(key, blob.bytes());
  }

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = blobs_.find(std::string(key));
    if (found == blobs_.end()) return runtime::Error::NotFound;
    ++out_;
    return runtime::FreeableBuffer(
        found->second.data(), found->second.size(),
        [](void* context, void*, size_t) { --static_cast<const BlobMap*>(context)->out_; },
        const_cast<BlobMap*>(this));
  }
  runtime::Result<uint32_t> get_num_keys() const override {
    return static_cast<uint32_t>(blobs_.size());
  }
  runtime::Result<const char*> get_key(uint32_t index) const override {
    if (index >= blobs_.size()) return runtime::Error::InvalidArgument;
    return std::next(blobs_.begin(), index)->first.c_str();
  }

  int out() const { return out_; }

 private:
  std::map<std::string, exir::Blob::Bytes> blobs_;
  mutable int out_ = 0;
};

}  // namespace petrel::test

#endif  // PETREL_TEST_XNNPACK_BLOB_MAP_H_
