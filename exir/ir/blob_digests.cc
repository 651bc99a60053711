// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/blob_digests.h"

#include <cstdint>
#include <set>

namespace petrel::exir {
namespace {

// Fewer are hashed before a thread has begun.
constexpr uint64_t kLeastBytes = uint64_t{1} << 20;

// Those for threads; others have their digests afterwards.
std::vector<Blob> distinct(const std::vector<Blob>& blobs) {
  std::vector<Blob> left;
  std::set<const void*> known;
  for (const Blob& blob : blobs) {
    if (!known.insert(blob.identity()).second) continue;
    if (blob.is_produced()) {
      blob.sha256();
    } else {
      left.push_back(blob);
    }
  }
  return left;
}

size_t helpers_for(const std::vector<Blob>& blobs, size_t threads) {
  uint64_t bytes = 0;
  for (const Blob& blob : blobs) bytes += blob.size();
  return threads <= 1 || bytes < kLeastBytes ? 0 : threads - 1;
}

}  // namespace

BlobDigests::BlobDigests(const std::vector<Blob>& blobs, size_t threads)
    : blobs_(distinct(blobs)),
      work_(blobs_.size(), helpers_for(blobs_, threads), [this](size_t i) { blobs_[i].sha256(); }) {
}

}  // namespace petrel::exir
