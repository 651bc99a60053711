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
// compared, not names or digests. What a file calls a weight has no part in it, so
// a file can neither claim another's weight nor poison it, and nothing is computed
// over the weights of a model that is loaded once. A filter whose bytes are known
// to be those of one that was packed (runtime/core/byte_place.h), for the same use, is
// not packed again. All functions may be called by several threads at once.

#ifndef PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_WEIGHTS_H_
#define PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "backends/xnnpack/runtime/packed_arena.h"
#include "runtime/backend/data_cache.h"
#include "runtime/core/byte_place.h"
#include "runtime/platform/process_mutex.h"

namespace petrel::backends::xnnpack {

// One packed filter, or several that are stored as one.
class PackedRegion final : public runtime::SharedData {
 public:
  ~PackedRegion() override;

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

// Which bytes a packed filter was made of, and how: equal origins give equal bytes.
struct PackedOrigin {
  runtime::BytePlace filter;
  size_t filter_size = 0;
  runtime::BytePlace bias;  // of source 0 without one
  size_t bias_size = 0;
  std::string use;
  uint32_t seed = 0;  // XNNPACK's, of the kernel that reads the packed form

  bool operator<(const PackedOrigin& other) const {
    return std::tie(filter, filter_size, use, bias, bias_size, seed) <
           std::tie(other.filter, other.filter_size, other.use, other.bias, other.bias_size,
                    other.seed);
  }
};

class PackedWeights {
 public:
  struct Stats {
    size_t regions = 0;   // held now
    size_t bytes = 0;     // held now
    uint64_t packed = 0;  // regions ever added
    uint64_t shared = 0;  // times a region was used again
    uint64_t found = 0;   // times that without packing
  };

  // The one of the process.
  static PackedWeights& instance();

  // A region with the bytes of `region`: one that is there already, or this
  // one. Nobody may write to it any more. Precondition: as for discard.
  PackedRegionPtr share(std::unique_ptr<PackedRegion> region);

  // The region that was packed from `origin`, while somebody has it; else null.
  PackedRegionPtr find(const PackedOrigin& origin);
  // Whether somebody has a region that was packed from these bytes for `use`, with
  // whatever bias.
  bool has(const runtime::BytePlace& filter, size_t size, const std::string& use) const;
  void remember(PackedOrigin origin, const PackedRegionPtr& region);
  void forget(const PackedOrigin& origin);

  Stats stats() const;

 private:
  runtime::DataCache cache_;
  mutable runtime::ProcessMutex mutex_;
  std::map<PackedOrigin, std::weak_ptr<const runtime::SharedData>> by_origin_;
  size_t kept_ = 0;  // of these, when it was last looked which somebody has
  uint64_t found_ = 0;
};

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_RUNTIME_PACKED_WEIGHTS_H_
