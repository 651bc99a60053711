// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/packed_weights.h"

#include <new>
#include <utility>

namespace petrel::backends::xnnpack {
namespace {

// At least what XNNPACK wants on any processor, and what it may read past the
// end of an array.
constexpr std::align_val_t kAlignment{128};
constexpr size_t kSlack = 128;

}  // namespace

std::unique_ptr<PackedRegion> PackedRegion::allocate(size_t size) {
  size_t padded = 0;
  if (__builtin_add_overflow(size, kSlack, &padded)) return nullptr;
  void* data = ::operator new(padded, kAlignment, std::nothrow);
  if (data == nullptr) return nullptr;
  return std::unique_ptr<PackedRegion>(new PackedRegion(data, size));
}

PackedRegion::~PackedRegion() { ::operator delete(data_, kAlignment); }

PackedWeights& PackedWeights::instance() {
  // Never destroyed: delegates may outlive static objects.
  static PackedWeights* const weights = new PackedWeights;
  return *weights;
}

void PackedWeights::Release::operator()(const PackedRegion* region) const {
  {
    const std::lock_guard<std::mutex> lock(owner->mutex_);
    const auto found = owner->regions_.find(key);
    if (found != owner->regions_.end() && found->second.expired()) owner->regions_.erase(found);
    --owner->stats_.regions;
    owner->stats_.bytes -= region->size();
  }
  delete region;
}

PackedRegionPtr PackedWeights::find(const Digest& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = regions_.find(key);
  PackedRegionPtr region = found == regions_.end() ? nullptr : found->second.lock();
  if (region != nullptr) ++stats_.shared;
  return region;
}

PackedRegionPtr PackedWeights::insert(const Digest& key, std::unique_ptr<PackedRegion> region) {
  // Let go of after the lock: dropping the last reference takes it, too.
  PackedRegionPtr existing;
  const std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<const PackedRegion>& place = regions_[key];
  existing = place.lock();
  if (existing != nullptr) {
    if (existing->size() != region->size()) return nullptr;
    ++stats_.shared;
    return existing;
  }
  ++stats_.regions;
  ++stats_.packed;
  stats_.bytes += region->size();
  PackedRegionPtr kept(region.release(), Release{this, key});
  place = kept;
  return kept;
}

PackedWeights::Stats PackedWeights::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

}  // namespace petrel::backends::xnnpack
