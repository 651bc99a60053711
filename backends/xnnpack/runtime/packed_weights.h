// SPDX-License-Identifier: Apache-2.0
//
// The packed weights of a process: XNNPACK stores every filter once more in the
// order its kernels read it, and delegates that pack equal filters in the same
// way share one copy.
//
//   delegate 1 ---- WeightSession ----.
//                                      >---- region (key, bytes)      freed with
//   delegate 2 ---- WeightSession ----'                               its last user
//
// Two regions are the same when their keys are: the SHA-256 of the filter's
// bytes, which is computed here, its shape and how the node uses it, XNNPACK's
// seed for its kernels, and the SHA-256 of the bias. What a file calls a weight
// has no part in it, so a file can neither claim another's weight nor poison
// it. All functions may be called by several threads at once.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_WEIGHTS_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "backends/xnnpack/runtime/sha256.h"

namespace petrel::backends::xnnpack {

// Memory for one packed filter, aligned for XNNPACK and readable a little past
// its end.
class PackedRegion {
 public:
  // Null when there is no memory.
  static std::unique_ptr<PackedRegion> allocate(size_t size);
  ~PackedRegion();
  PackedRegion(const PackedRegion&) = delete;
  PackedRegion& operator=(const PackedRegion&) = delete;

  void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  PackedRegion(void* data, size_t size) : data_(data), size_(size) {}
  void* data_;
  size_t size_;
};

using PackedRegionPtr = std::shared_ptr<const PackedRegion>;

class PackedWeights {
 public:
  struct Stats {
    size_t regions = 0;    // held now
    size_t bytes = 0;      // held now
    uint64_t packed = 0;   // regions ever added
    uint64_t shared = 0;   // times a region was used again
  };

  // The one of the process.
  static PackedWeights& instance();

  // The region of `key`; null when there is none.
  PackedRegionPtr find(const Digest& key);

  // Makes `region` the one of `key`, unless somebody else was first: gives the
  // one that is kept. Null when the region of `key` has another size.
  PackedRegionPtr insert(const Digest& key, std::unique_ptr<PackedRegion> region);

  Stats stats() const;

 private:
  // Deletes the region and forgets its key, if no new one has taken it.
  struct Release {
    PackedWeights* owner;
    Digest key;
    void operator()(const PackedRegion* region) const;
  };

  mutable std::mutex mutex_;
  std::map<Digest, std::weak_ptr<const PackedRegion>> regions_;
  Stats stats_;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_WEIGHTS_H_
