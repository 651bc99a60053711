// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/weight_session.h"

#include <cstdint>
#include <utility>

namespace petrel::backends::xnnpack {
namespace {

// XNNPACK's "not there".
constexpr size_t kNotFound = SIZE_MAX;

WeightSession* self(void* context) { return static_cast<WeightSession*>(context); }

}  // namespace

WeightSession::WeightSession()
    : provider_{this,          &look_up,           &reserve_space, &look_up_or_insert,
                &is_finalized, &offset_to_address, &delete_cache} {}

void WeightSession::add_filter(const void* data, const Digest& identity) {
  filters_[data] = identity;
}

void WeightSession::add_bias(const void* data, const Digest& identity) {
  biases_[data] = identity;
}

void WeightSession::forget_sources() {
  filters_.clear();
  biases_.clear();
  pending_.reset();
}

bool WeightSession::make_key(const xnn_weights_cache_look_up_key& in, Digest* out) const {
  const auto filter = filters_.find(in.kernel);
  if (filter == filters_.end()) return false;
  Sha256 hash;
  hash.update(filter->second.data(), filter->second.size());
  const uint8_t seed[4] = {static_cast<uint8_t>(in.seed), static_cast<uint8_t>(in.seed >> 8),
                           static_cast<uint8_t>(in.seed >> 16),
                           static_cast<uint8_t>(in.seed >> 24)};
  hash.update(seed, sizeof(seed));
  if (in.bias != nullptr) {
    const auto bias = biases_.find(in.bias);
    if (bias == biases_.end()) return false;
    hash.update(bias->second.data(), bias->second.size());
  }
  *out = hash.finish();
  return true;
}

size_t WeightSession::keep(const Digest& key, PackedRegionPtr region) {
  regions_.push_back(std::move(region));
  indices_[key] = regions_.size() - 1;
  return regions_.size() - 1;
}

size_t WeightSession::look_up(void* context, const xnn_weights_cache_look_up_key* key) {
  WeightSession& session = *self(context);
  Digest digest;
  if (!session.make_key(*key, &digest)) return kNotFound;
  const auto known = session.indices_.find(digest);
  if (known != session.indices_.end()) return known->second;
  PackedRegionPtr region = PackedWeights::instance().find(digest);
  return region == nullptr ? kNotFound : session.keep(digest, std::move(region));
}

void* WeightSession::reserve_space(void* context, size_t size) {
  std::unique_ptr<PackedRegion>& pending = self(context)->pending_;
  pending = PackedRegion::allocate(size);
  return pending == nullptr ? nullptr : pending->data();
}

// Some operators call this without having packed anything, with null for
// `data`, when look_up found the filter.
size_t WeightSession::look_up_or_insert(void* context, const xnn_weights_cache_look_up_key* key,
                                        void* data, size_t size) {
  WeightSession& session = *self(context);
  std::unique_ptr<PackedRegion> region = std::move(session.pending_);
  Digest digest;
  if (session.make_key(*key, &digest)) {
    const auto known = session.indices_.find(digest);
    if (known != session.indices_.end()) return known->second;
    const bool is_packed =
        region != nullptr && region->data() == data && region->size() == size;
    PackedRegionPtr kept =
        is_packed ? PackedWeights::instance().insert(digest, std::move(region)) : nullptr;
    if (kept != nullptr) return session.keep(digest, std::move(kept));
  }
  session.failed_ = true;
  return kNotFound;
}

// Regions never move, so XNNPACK may use them at any time.
bool WeightSession::is_finalized(void*) { return true; }

void* WeightSession::offset_to_address(void* context, size_t offset) {
  const std::vector<PackedRegionPtr>& regions = self(context)->regions_;
  return offset < regions.size() ? regions[offset]->data() : nullptr;
}

xnn_status WeightSession::delete_cache(void*) { return xnn_status_success; }

}  // namespace petrel::backends::xnnpack
