// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/weight_feed.h"

#include <utility>

#include "runtime/core/result.h"

namespace petrel::backends::xnnpack {

using runtime::Error;
using runtime::Result;

size_t WeightFeed::bytes_of(uint32_t id) const {
  return static_cast<size_t>(count_bytes(graph_.values[id]));
}

void WeightFeed::add(uint32_t defined, Weight weight) {
  // A value is at most 2^34 bytes, a graph has fewer than 2^30 nodes.
  if (weight.is_filter) filter_bytes_ += bytes_of(weight.id);
  weights_.insert_or_assign(defined, std::move(weight));
}

Result<const void*> WeightFeed::promise(uint32_t defined, const Weight& weight) {
  const void* const none = nullptr;
  if (session_ == nullptr || !session_->wants_places()) return none;
  const auto place = constants_->place_in_map(weight.id);
  const size_t size = bytes_of(weight.id);
  if (!place || !session_->is_likely_packed(*place, size, weight.use)) return none;
  PETREL_ASSIGN_OR_RETURN(const void* data, constants_->reserve(weight.id));
  session_->reads_filter({defined, data, size, place}, &weight.use, [this, id = weight.id] {
    if (error_ == Error::Ok) error_ = constants_->fetch_reserved(id);
    return error_ == Error::Ok;
  });
  return data;
}

Result<const void*> WeightFeed::fetch(uint32_t defined, const Weight& weight) {
  if (weight.is_filter) {
    PETREL_ASSIGN_OR_RETURN(const void* promised, promise(defined, weight));
    if (promised != nullptr) return promised;
  }
  PETREL_ASSIGN_OR_RETURN(const void* data, weight.is_filter ? constants_->get_exact(weight.id)
                                                             : constants_->get(weight.id));
  if (session_ == nullptr) return data;
  const size_t size = bytes_of(weight.id);
  const auto place = session_->wants_places() ? constants_->place_of(weight.id) : std::nullopt;
  if (weight.is_filter) {
    session_->reads_filter({defined, data, size, place}, &weight.use);
  } else {
    session_->reads_bias({defined, data, size, place});
  }
  return data;
}

// Values that are not here have their data.
bool WeightFeed::get(void* context, uint32_t value_id, const void** data) {
  WeightFeed& feed = *static_cast<WeightFeed*>(context);
  const auto weight = feed.weights_.find(value_id);
  if (weight == feed.weights_.end()) return true;
  const Result<const void*> fetched = feed.fetch(value_id, weight->second);
  if (!fetched.ok()) {
    feed.error_ = fetched.error();
    return false;
  }
  *data = *fetched;
  return true;
}

void WeightFeed::done(void* context, const uint32_t* value_ids, size_t count) {
  WeightFeed& feed = *static_cast<WeightFeed*>(context);
  if (feed.session_ != nullptr) feed.session_->reads_nothing();
  for (size_t i = 0; i < count; ++i) {
    const auto weight = feed.weights_.find(value_ids[i]);
    if (weight != feed.weights_.end()) feed.constants_->was_read(weight->second.id);
  }
}

}  // namespace petrel::backends::xnnpack
