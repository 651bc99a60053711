// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/weight_session.h"

#include <cstdint>
#include <utility>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {
namespace {

// XNNPACK's "not there".
constexpr size_t kNotFound = SIZE_MAX;

WeightSession* self(void* context) { return static_cast<WeightSession*>(context); }

}  // namespace

WeightSession::WeightSession()
    : provider_{this,          &look_up,           &reserve_space, &look_up_or_insert,
                &is_finalized, &offset_to_address, &delete_cache} {}

void WeightSession::begin(size_t expected_bytes, size_t filter_bytes, HugePages huge_pages,
                          runtime::Budget* memory, FileUse file) {
  arena_ = PackedArena::make(expected_bytes, huge_pages);
  memory_ = memory;
  file_ = std::move(file);
  paid_ = free_bytes(filter_bytes);
}

// Channels are filled up to whole tiles, which doubles no filter but small ones.
uint64_t WeightSession::free_bytes(uint64_t filter_bytes) {
  constexpr uint64_t kSmall = uint64_t{1} << 20;
  return kSmall + 2 * filter_bytes;
}

bool WeightSession::is_likely_packed(const runtime::BytePlace& place, size_t size,
                                     const std::string& use) const {
  return wants_places() && PackedWeights::instance().has(place, size, use);
}

void WeightSession::reads_filter(const Weight& filter, const std::string* use,
                                 std::function<bool()> fetch) {
  filter_ = filter;
  use_ = use;
  fetch_ = std::move(fetch);
}

void WeightSession::reads_nothing() {
  filter_.reset();
  bias_.reset();
  use_ = nullptr;
  fetch_ = nullptr;
}

// A filter of one channel is filled up to a tile of many.
bool WeightSession::pay_for(size_t size) {
  packed_bytes_ += size;
  if (memory_ == nullptr || packed_bytes_ <= paid_) return true;
  if (memory_->take("packing filters that grow by it", packed_bytes_ - paid_) !=
      runtime::Error::Ok) {
    over_budget_ = true;
    return false;
  }
  paid_ = packed_bytes_;
  return true;
}

void WeightSession::end() {
  memory_ = nullptr;
  indices_.clear();
  pending_.reset();
  arena_.reset();
  file_ = {};
  reads_nothing();
}

std::optional<WeightSession::Key> WeightSession::key_of(
    const xnn_weights_cache_look_up_key& key) const {
  if (!filter_ || key.kernel != filter_->data) return std::nullopt;
  if (key.bias != nullptr && (!bias_ || key.bias != bias_->data)) return std::nullopt;
  return Key{filter_->value, bias_ ? bias_->value : kNoId, key.seed};
}

std::optional<PackedFile::Key> WeightSession::file_key(
    const xnn_weights_cache_look_up_key& key) const {
  if (file_.file == nullptr || !key_of(key)) return std::nullopt;
  return file_.file->key_of(key.kernel, filter_->size, bias_ ? bias_->data : nullptr,
                            bias_ ? bias_->size : 0, *use_ + "#" + std::to_string(key.seed));
}

std::optional<PackedOrigin> WeightSession::origin(const xnn_weights_cache_look_up_key& key) const {
  if (file_.file != nullptr || !key_of(key) || !filter_->place) return std::nullopt;
  PackedOrigin origin = {*filter_->place, filter_->size, {}, 0, *use_, key.seed};
  if (bias_) {
    if (!bias_->place) return std::nullopt;
    origin.bias = *bias_->place;
    origin.bias_size = bias_->size;
  }
  return origin;
}

size_t WeightSession::keep(const xnn_weights_cache_look_up_key& key, PackedRegionPtr region) {
  regions_.push_back(std::move(region));
  const size_t index = regions_.size() - 1;
  if (const std::optional<Key> known = key_of(key)) indices_[*known] = index;
  return index;
}

size_t WeightSession::look_up(void* context, const xnn_weights_cache_look_up_key* key) {
  WeightSession& session = *self(context);
  const std::optional<Key> known = session.key_of(*key);
  if (!known) return kNotFound;
  const auto index = session.indices_.find(*known);
  if (index != session.indices_.end()) return index->second;
  PackedRegionPtr region;
  if (const std::optional<PackedOrigin> origin = session.origin(*key)) {
    region = PackedWeights::instance().find(*origin);
  } else if (const std::optional<PackedFile::Key> in_file = session.file_key(*key)) {
    region = session.file_.file->find(*in_file, session.file_.verify);
  }
  return region == nullptr ? kNotFound : session.keep(*key, std::move(region));
}

// XNNPACK asks for space before it packs, so the filter must be there from here on.
void* WeightSession::reserve_space(void* context, size_t size) {
  WeightSession& session = *self(context);
  if (session.fetch_ != nullptr && !std::exchange(session.fetch_, nullptr)()) return nullptr;
  // What an operator packed and did not insert, because it was there.
  if (session.pending_ != nullptr) {
    session.packed_bytes_ -= session.pending_->size();
    PackedRegion::discard(std::move(session.pending_));
  }
  if (session.arena_ == nullptr || !session.pay_for(size)) return nullptr;
  session.pending_ = PackedRegion::allocate(session.arena_, size);
  return session.pending_ == nullptr ? nullptr : session.pending_->writable();
}

// What was found does not fit: the next look_up finds nothing.
void WeightSession::forget(const xnn_weights_cache_look_up_key& key) {
  if (const std::optional<Key> known = key_of(key)) indices_.erase(*known);
  if (const std::optional<PackedOrigin> known = origin(key)) {
    PackedWeights::instance().forget(*known);
  } else if (const std::optional<PackedFile::Key> in_file = file_key(key)) {
    file_.file->discard(*in_file);
  }
}

// Operators call this without having packed anything, with null for `data`, when
// look_up found the filter: then only the size is new.
size_t WeightSession::look_up_or_insert(void* context, const xnn_weights_cache_look_up_key* key,
                                        void* data, size_t size) {
  WeightSession& session = *self(context);
  if (const size_t known = look_up(context, key); known != kNotFound) {
    if (session.regions_[known]->size() == size) return known;
    session.forget(*key);
  }
  if (data == nullptr) return kNotFound;
  std::unique_ptr<PackedRegion> region = std::move(session.pending_);
  if (region == nullptr || region->data() != data || region->size() != size) {
    session.failed_ = true;
    return kNotFound;
  }
  PackedRegionPtr shared = PackedWeights::instance().share(std::move(region));
  if (std::optional<PackedOrigin> origin = session.origin(*key)) {
    PackedWeights::instance().remember(*std::move(origin), shared);
  } else if (const std::optional<PackedFile::Key> in_file = session.file_key(*key)) {
    session.file_.file->add(*in_file, shared);
  }
  return session.keep(*key, std::move(shared));
}

// Regions never move, so XNNPACK may use them at any time.
bool WeightSession::is_finalized(void*) { return true; }

void* WeightSession::offset_to_address(void* context, size_t offset) {
  const std::vector<PackedRegionPtr>& regions = self(context)->regions_;
  // XNNPACK's type; it only reads.
  return offset < regions.size() ? const_cast<void*>(regions[offset]->data()) : nullptr;
}

xnn_status WeightSession::delete_cache(void*) { return xnn_status_success; }

}  // namespace petrel::backends::xnnpack
