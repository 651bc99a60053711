// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/packed_weights.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace petrel::backends::xnnpack {
namespace {

// Of regions that look alike no more are compared, so that a file with many of
// them loads in a time that its size explains.
constexpr size_t kMaxCompared = 8;

}  // namespace

std::unique_ptr<PackedRegion> PackedRegion::allocate(std::shared_ptr<PackedArena> arena,
                                                     size_t size) {
  void* data = arena->allocate(size);
  if (data == nullptr) return nullptr;
  return std::unique_ptr<PackedRegion>(new PackedRegion(std::move(arena), data, size));
}

void PackedRegion::discard(std::unique_ptr<PackedRegion> region) {
  region->arena_->give_back(region->data_, region->size_);
}

PackedWeights& PackedWeights::instance() {
  // Never destroyed: delegates may outlive static objects.
  static PackedWeights* const weights = new PackedWeights;
  return *weights;
}

PackedWeights::Sample PackedWeights::sample_of(const PackedRegion& region) {
  constexpr size_t kWords = 64;
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;  // any odd number mixes
  const auto* bytes = static_cast<const uint8_t*>(region.data());
  uint64_t sum = 0;
  for (size_t i = 0; i < kWords; ++i) {
    uint64_t word = 0;
    const size_t at = region.size() / kWords * i;
    std::memcpy(&word, bytes + at, std::min(sizeof(word), region.size() - at));
    sum = (sum ^ word) * kFactor;
    sum ^= sum >> 29;
  }
  return {region.size(), sum};
}

PackedRegionPtr PackedWeights::find_equal(const Sample& sample, const PackedRegion& region) {
  std::vector<PackedRegionPtr> alike;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [begin, end] = regions_.equal_range(sample);
    for (auto i = begin; i != end && alike.size() < kMaxCompared; ++i) {
      if (PackedRegionPtr other = i->second.lock()) alike.push_back(std::move(other));
    }
  }
  // Without the lock: dropping what may be the last reference takes it, too.
  for (PackedRegionPtr& other : alike) {
    if (std::memcmp(other->data(), region.data(), region.size()) == 0) return std::move(other);
  }
  return nullptr;
}

PackedRegionPtr PackedWeights::share(std::unique_ptr<PackedRegion> region) {
  const Sample sample = sample_of(*region);
  if (PackedRegionPtr equal = find_equal(sample, *region); equal != nullptr) {
    PackedRegion::discard(std::move(region));
    const std::lock_guard<std::mutex> lock(mutex_);
    ++stats_.shared;
    return equal;
  }
  PackedRegionPtr kept(region.release(), Release{this, sample});
  const std::lock_guard<std::mutex> lock(mutex_);
  regions_.emplace(sample, kept);
  ++stats_.regions;
  ++stats_.packed;
  stats_.bytes += kept->size();
  return kept;
}

void PackedWeights::Release::operator()(const PackedRegion* region) const {
  {
    const std::lock_guard<std::mutex> lock(owner->mutex_);
    const auto [begin, end] = owner->regions_.equal_range(sample);
    for (auto i = begin; i != end;) {
      i = i->second.expired() ? owner->regions_.erase(i) : std::next(i);
    }
    --owner->stats_.regions;
    owner->stats_.bytes -= region->size();
  }
  delete region;
}

PackedWeights::Stats PackedWeights::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

}  // namespace petrel::backends::xnnpack
