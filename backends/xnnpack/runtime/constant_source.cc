// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/constant_source.h"

#include <xnnpack.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backends/xnnpack/format/quantization.h"
#include "runtime/backend/byte_source.h"
#include "runtime/core/log.h"
#include "runtime/core/result.h"
#include "runtime/kernels/narrow/narrow_float.h"
#include "runtime/platform/pages.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using runtime::Result;

constexpr size_t kMaxHeapBytes = 64 << 10;

size_t bytes_of(const Value& value) { return static_cast<size_t>(count_bytes(value)); }

float scale_at(const Value& value, const void* scales, size_t i) {
  if (value.quantization == Quantization::kPerGroup) {
    return runtime::bfloat16_value(static_cast<const uint16_t*>(scales)[i]);
  }
  return static_cast<const float*>(scales)[i];
}

}  // namespace

ConstantSource::ConstantSource(const Graph& graph, const runtime::NamedDataMap* map)
    : graph_(graph), map_(map) {
  for (const Node& node : graph.nodes) {
    for (const uint32_t id : node.inputs) {
      if (id == kNoId || !graph.values[id].is_constant()) continue;
      ++readers_[graph.values[id].constant];
    }
  }
}

Result<ConstantSource::Fetched*> ConstantSource::fetch(uint32_t id) {
  const Value& value = graph_.values[id];
  return fetch_entry(value.constant, bytes_of(value), id);
}

Result<ConstantSource::Fetched*> ConstantSource::fetch_entry(uint32_t entry, size_t needed,
                                                             uint32_t id) {
  const Value& value = graph_.values[id];
  const ConstantData& constant = graph_.constants[entry];
  const auto [place, is_new] = fetched_.try_emplace(entry);
  Fetched& fetched = place->second;
  if (!constant.is_named()) {
    // Values of different sizes may share one, and others may follow it.
    if (constant.data == nullptr || constant.size < needed) {
      PETREL_LOG(Error, "constant %u has %zu bytes, value %u needs %zu", entry, constant.size, id,
                 needed);
      return Error::InvalidProgram;
    }
    fetched.data = constant.data;
    fetched.size = needed;
    return &fetched;
  }
  if (is_new) {
    if (map_ == nullptr) {
      PETREL_LOG(Error, "weight '%s' is needed, but no named data was given", constant.key.c_str());
      return Error::NotFound;
    }
    Result<runtime::FreeableBuffer> buffer = map_->get_data(constant.key);
    if (!buffer.ok()) {
      PETREL_LOG(Error, "weight '%s' cannot be had: %s", constant.key.c_str(),
                 runtime::to_string(buffer.error()));
      return buffer.error();
    }
    fetched.buffer = std::move(*buffer);
    fetched.data = fetched.buffer.data();
    fetched.size = fetched.buffer.size();
  }
  if (fetched.data == nullptr || fetched.size != needed) {
    PETREL_LOG(Error, "weight '%s' has %zu bytes, value %u of %s needs %zu", constant.key.c_str(),
               fetched.size, id, to_string(value.dims).c_str(), needed);
    return Error::InvalidExternalData;
  }
  return &fetched;
}

Result<PaddedBuffer> ConstantSource::copy(uint32_t id) {
  PETREL_ASSIGN_OR_RETURN(const Fetched* fetched, fetch(id));
  PaddedBuffer buffer;
  if (!buffer.reserve(fetched->size)) {
    PETREL_LOG(Error, "no memory for a constant of %zu bytes", fetched->size);
    return Error::MemoryAllocationFailed;
  }
  std::memcpy(buffer.data(), fetched->data, fetched->size);
  return buffer;
}

Result<const void*> ConstantSource::get_exact(uint32_t id) {
  PETREL_ASSIGN_OR_RETURN(const Fetched* fetched, fetch(id));
  if (reinterpret_cast<uintptr_t>(fetched->data) % alignof(float) == 0) return fetched->data;
  return get(id);
}

Result<const void*> ConstantSource::get(uint32_t id) {
  PETREL_ASSIGN_OR_RETURN(const Fetched* fetched, fetch(id));
  const bool is_aligned = reinterpret_cast<uintptr_t>(fetched->data) % alignof(float) == 0;
  if (is_aligned && is_safe_to_over_read(fetched->data, fetched->size)) return fetched->data;
  const auto found = copies_.find(id);
  if (found != copies_.end()) return static_cast<const void*>(found->second.data());
  PETREL_ASSIGN_OR_RETURN(PaddedBuffer buffer, copy(id));
  return static_cast<const void*>(copies_.emplace(id, std::move(buffer)).first->second.data());
}

Result<const void*> ConstantSource::get_kept(uint32_t id, std::vector<PaddedBuffer>* keep) {
  PETREL_ASSIGN_OR_RETURN(PaddedBuffer buffer, copy(id));
  keep->push_back(std::move(buffer));
  return static_cast<const void*>(keep->back().data());
}

Result<const void*> ConstantSource::get_in_place(uint32_t id,
                                                 std::vector<runtime::FreeableBuffer>* keep) {
  PETREL_ASSIGN_OR_RETURN(Fetched * fetched, fetch(id));
  const void* const data = fetched->data;
  if (reinterpret_cast<uintptr_t>(data) % alignof(float) != 0) {
    return static_cast<const void*>(nullptr);
  }
  keep->push_back(std::move(fetched->buffer));
  return data;
}

bool ConstantSource::is_in_place(const std::string& key) const {
  if (map_ == nullptr) return false;
  const Result<bool> found = map_->is_in_place(key);
  return found.ok() && *found;
}

Result<PaddedBuffer> ConstantSource::copy_scales(uint32_t id) {
  const Value& value = graph_.values[id];
  const Scales& scales = value.quant.scales;
  const size_t bytes = scales.count * scale_bytes(value);
  PaddedBuffer buffer;
  if (!buffer.reserve(bytes)) {
    PETREL_LOG(Error, "no memory for %u scales", scales.count);
    return Error::MemoryAllocationFailed;
  }
  if (scales.constant != 0) {
    PETREL_ASSIGN_OR_RETURN(const Fetched* fetched, fetch_entry(scales.constant, bytes, id));
    std::memcpy(buffer.data(), fetched->data, bytes);
    return buffer;
  }
  for (size_t i = 0; i < scales.count; ++i) {
    float wide = 0;
    std::memcpy(&wide, scales.inline_data + i * sizeof(wide), sizeof(wide));
    if (value.quantization == Quantization::kPerGroup) {
      const uint16_t narrow = runtime::bfloat16_bits(wide);
      std::memcpy(buffer.data() + i * sizeof(narrow), &narrow, sizeof(narrow));
    } else {
      std::memcpy(buffer.data() + i * sizeof(wide), &wide, sizeof(wide));
    }
  }
  return buffer;
}

Result<const void*> ConstantSource::get_scales(uint32_t id) {
  const Value& value = graph_.values[id];
  if (value.quant.scales.count == 0) return static_cast<const void*>(nullptr);
  const auto found = scales_.find(id);
  if (found != scales_.end()) return static_cast<const void*>(found->second.data.data());
  PETREL_ASSIGN_OR_RETURN(PaddedBuffer buffer, copy_scales(id));
  const float first = scale_at(value, buffer.data(), 0);
  ScaleList list = {std::move(buffer), {first, first}};
  for (size_t i = 0; i < value.quant.scales.count; ++i) {
    const float scale = scale_at(value, list.data.data(), i);
    if (const Problem problem = check_scale(scale); !problem.ok()) {
      const ConstantData& constant = graph_.constants[value.quant.scales.constant];
      PETREL_LOG(Error, "scale %zu of value %u%s%s%s: %s", i, id, constant.is_named() ? ", '" : "",
                 constant.key.c_str(), constant.is_named() ? "'" : "", problem.text().c_str());
      return Error::InvalidExternalData;
    }
    list.range.first = std::min(list.range.first, scale);
    list.range.second = std::max(list.range.second, scale);
  }
  return static_cast<const void*>(scales_.emplace(id, std::move(list)).first->second.data.data());
}

std::optional<runtime::BytePlace> ConstantSource::place_in_map(uint32_t id) const {
  const Value& value = graph_.values[id];
  const ConstantData& constant = graph_.constants[value.constant];
  if (!constant.is_named() || map_ == nullptr) return std::nullopt;
  const Result<runtime::BytePlace> place = map_->find_place(constant.key, bytes_of(value));
  return place.ok() ? std::optional<runtime::BytePlace>(*place) : std::nullopt;
}

std::optional<runtime::BytePlace> ConstantSource::place_of(uint32_t id) const {
  if (const auto place = place_in_map(id)) return place;
  const Fetched& fetched = fetched_.at(graph_.values[id].constant);
  return runtime::ByteSource::find(fetched.data, fetched.size);
}

// Mostly nobody touches it. The system gives no memory to such pages; a few bytes of the heap
// cost less than asking for pages.
Result<void*> ConstantSource::reserve(uint32_t id) {
  const auto found = reserved_.find(id);
  if (found != reserved_.end()) return const_cast<void*>(found->second.memory.data());
  const size_t size = bytes_of(graph_.values[id]) + XNN_EXTRA_BYTES;
  const bool is_small = size <= kMaxHeapBytes;
  void* const memory = is_small ? std::malloc(size) : runtime::take_pages(size);
  if (memory == nullptr) {
    PETREL_LOG(Error, "no memory for a constant of %zu bytes", size);
    return Error::MemoryAllocationFailed;
  }
  const auto free_small = [](void*, void* data, size_t) { std::free(data); };
  const auto unmap = [](void*, void* data, size_t bytes) { runtime::give_back_pages(data, bytes); };
  const runtime::FreeableBuffer::FreeFn give_back = is_small ? +free_small : +unmap;
  reserved_.emplace(id, Reserved{runtime::FreeableBuffer(memory, size, give_back)});
  return memory;
}

Error ConstantSource::fetch_reserved(uint32_t id) {
  const Value& value = graph_.values[id];
  const std::string& key = graph_.constants[value.constant].key;
  Reserved& reserved = reserved_.at(id);
  reserved.has_bytes = true;
  const Error error =
      map_->load_data_into(key, const_cast<void*>(reserved.memory.data()), bytes_of(value));
  if (error != Error::Ok) {
    PETREL_LOG(Error, "weight '%s' cannot be had: %s", key.c_str(), runtime::to_string(error));
  }
  return error;
}

void ConstantSource::was_read(uint32_t id) {
  const uint32_t constant = graph_.values[id].constant;
  size_t& readers = readers_[constant];
  if (readers > 0) --readers;
  // An address alone serves the next node.
  const auto reserved = reserved_.find(id);
  if (reserved != reserved_.end() && (readers == 0 || reserved->second.has_bytes)) {
    reserved_.erase(reserved);
  }
  if (readers > 0) return;
  fetched_.erase(constant);
  copies_.erase(id);
}

}  // namespace petrel::backends::xnnpack
