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

void WeightSession::end() {
  indices_.clear();
  pending_.reset();
  arena_.reset();
}

size_t WeightSession::look_up(void* context, const xnn_weights_cache_look_up_key* key) {
  const std::map<Key, size_t>& indices = self(context)->indices_;
  const auto known = indices.find({key->kernel, key->bias, key->seed});
  return known == indices.end() ? kNotFound : known->second;
}

void* WeightSession::reserve_space(void* context, size_t size) {
  WeightSession& session = *self(context);
  // What an operator packed and did not insert, because it was there.
  if (session.pending_ != nullptr) PackedRegion::discard(std::move(session.pending_));
  session.pending_ =
      session.arena_ == nullptr ? nullptr : PackedRegion::allocate(session.arena_, size);
  return session.pending_ == nullptr ? nullptr : session.pending_->data();
}

// Some operators call this without having packed anything, with null for
// `data`, when look_up found the filter.
size_t WeightSession::look_up_or_insert(void* context, const xnn_weights_cache_look_up_key* key,
                                        void* data, size_t size) {
  WeightSession& session = *self(context);
  if (const size_t known = look_up(context, key); known != kNotFound) return known;
  std::unique_ptr<PackedRegion> region = std::move(session.pending_);
  if (region == nullptr || region->data() != data || region->size() != size) {
    session.failed_ = true;
    return kNotFound;
  }
  session.regions_.push_back(PackedWeights::instance().share(std::move(region)));
  const size_t index = session.regions_.size() - 1;
  session.indices_[{key->kernel, key->bias, key->seed}] = index;
  return index;
}

// Regions never move, so XNNPACK may use them at any time.
bool WeightSession::is_finalized(void*) { return true; }

void* WeightSession::offset_to_address(void* context, size_t offset) {
  const std::vector<PackedRegionPtr>& regions = self(context)->regions_;
  return offset < regions.size() ? regions[offset]->data() : nullptr;
}

xnn_status WeightSession::delete_cache(void*) { return xnn_status_success; }

}  // namespace petrel::backends::xnnpack
