// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/packed_weights.h"

#include <iterator>
#include <mutex>
#include <utility>

namespace petrel::backends::xnnpack {

using runtime::DataCache;
using runtime::SharedData;
using runtime::SharedDataPtr;

PackedRegion::~PackedRegion() {
  // What others keep of the arena would keep these pages, too.
  if (arena_ != nullptr && arena_.use_count() > 1) PackedArena::drop(writable(), size());
}

std::unique_ptr<PackedRegion> PackedRegion::allocate(std::shared_ptr<PackedArena> arena,
                                                     size_t size) {
  void* data = arena->allocate(size);
  if (data == nullptr) return nullptr;
  return std::unique_ptr<PackedRegion>(new PackedRegion(std::move(arena), nullptr, data, size));
}

SharedDataPtr PackedRegion::view(std::shared_ptr<const void> owner, const void* data, size_t size) {
  return SharedDataPtr(new PackedRegion(nullptr, std::move(owner), data, size));
}

void PackedRegion::discard(std::unique_ptr<PackedRegion> region) {
  region->arena_->give_back(region->writable(), region->size());
}

PackedWeights& PackedWeights::instance() {
  // Never destroyed: delegates may outlive static objects.
  static PackedWeights* const weights = new PackedWeights;
  return *weights;
}

PackedRegionPtr PackedWeights::share(std::unique_ptr<PackedRegion> region) {
  std::unique_ptr<SharedData> data = std::move(region);
  PackedRegionPtr shared = cache_.share(&data);
  if (data != nullptr) {
    PackedRegion::discard(
        std::unique_ptr<PackedRegion>(static_cast<PackedRegion*>(data.release())));
  }
  return shared;
}

PackedRegionPtr PackedWeights::find(const PackedOrigin& origin) {
  const std::lock_guard<runtime::ProcessMutex> lock(mutex_);
  const auto known = by_origin_.find(origin);
  if (known == by_origin_.end()) return nullptr;
  PackedRegionPtr region = known->second.lock();
  if (region != nullptr) ++found_;
  return region;
}

bool PackedWeights::has(const runtime::BytePlace& filter, size_t size,
                        const std::string& use) const {
  const auto is_of_it = [&](const PackedOrigin& origin) {
    return origin.filter == filter && origin.filter_size == size && origin.use == use;
  };
  const std::lock_guard<runtime::ProcessMutex> lock(mutex_);
  auto known = by_origin_.lower_bound(PackedOrigin{filter, size, {}, 0, use, 0});
  for (; known != by_origin_.end() && is_of_it(known->first); ++known) {
    if (!known->second.expired()) return true;
  }
  return false;
}

void PackedWeights::remember(PackedOrigin origin, const PackedRegionPtr& region) {
  const std::lock_guard<runtime::ProcessMutex> lock(mutex_);
  by_origin_[std::move(origin)] = region;
  constexpr size_t kFew = 64;
  if (by_origin_.size() < kFew + 2 * kept_) return;
  for (auto entry = by_origin_.begin(); entry != by_origin_.end();) {
    entry = entry->second.expired() ? by_origin_.erase(entry) : std::next(entry);
  }
  kept_ = by_origin_.size();
}

void PackedWeights::forget(const PackedOrigin& origin) {
  const std::lock_guard<runtime::ProcessMutex> lock(mutex_);
  by_origin_.erase(origin);
}

PackedWeights::Stats PackedWeights::stats() const {
  const DataCache::Stats stats = cache_.stats();
  const std::lock_guard<runtime::ProcessMutex> lock(mutex_);
  return {stats.entries, stats.bytes, stats.added, stats.shared + found_, found_};
}

}  // namespace petrel::backends::xnnpack
