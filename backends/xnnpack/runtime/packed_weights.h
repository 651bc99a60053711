// SPDX-License-Identifier: Apache-2.0
//
// The packed weights of a process: XNNPACK stores every filter once more in the
// order its kernels read it, and delegates whose packed filters are equal share
// one copy.
//
//   delegate 1 ---- WeightSession ----.
//                                      >---- region (bytes)      freed with
//   delegate 2 ---- WeightSession ----'                          its last user
//
// Two regions are the same when all their bytes are: packed filters are
// compared, not names, digests or sources. What a file calls a weight has no
// part in it, so a file can neither claim another's weight nor poison it, and
// nothing is computed over the weights of a model that is loaded once. All
// functions may be called by several threads at once.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_WEIGHTS_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "backends/xnnpack/runtime/packed_arena.h"
#include "runtime/backend/data_cache.h"

namespace petrel::backends::xnnpack {

// One packed filter, or several that are stored as one.
class PackedRegion final : public runtime::SharedData {
 public:
  // Null when there is no memory. The bytes are zero.
  static std::unique_ptr<PackedRegion> allocate(std::shared_ptr<PackedArena> arena, size_t size);

  // Bytes that `owner` keeps, such as a mapped file.
  static runtime::SharedDataPtr view(std::shared_ptr<const void> owner, const void* data,
                                     size_t size);

  // Only until the region is shared. Precondition: it came from allocate().
  void* writable() const { return const_cast<void*>(data()); }

  // Gives the memory back at once. Precondition: nothing was allocated from the
  // arena since.
  static void discard(std::unique_ptr<PackedRegion> region);

 private:
  PackedRegion(std::shared_ptr<PackedArena> arena, std::shared_ptr<const void> owner,
               const void* data, size_t size)
      : SharedData(data, size), arena_(std::move(arena)), owner_(std::move(owner)) {}
  std::shared_ptr<PackedArena> arena_;
  std::shared_ptr<const void> owner_;
};

using PackedRegionPtr = runtime::SharedDataPtr;

class PackedWeights {
 public:
  struct Stats {
    size_t regions = 0;   // held now
    size_t bytes = 0;     // held now
    uint64_t packed = 0;  // regions ever added
    uint64_t shared = 0;  // times a region was used again
  };

  // The one of the process.
  static PackedWeights& instance();

  // A region with the bytes of `region`: one that is there already, or this
  // one. Nobody may write to it any more. Precondition: as for discard.
  PackedRegionPtr share(std::unique_ptr<PackedRegion> region);

  Stats stats() const;

 private:
  runtime::DataCache cache_;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_WEIGHTS_H_
