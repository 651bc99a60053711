// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/constant_source.h"

#include <cstring>
#include <utility>

#include "runtime/core/log.h"
#include "runtime/core/result.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::Error;
using runtime::Result;

size_t bytes_of(const Value& value) {
  return static_cast<size_t>(count_elements(value.dims)) * sizeof(float);
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
  const ConstantData& constant = graph_.constants[value.constant];
  const size_t needed = bytes_of(value);
  const auto [place, is_new] = fetched_.try_emplace(value.constant);
  Fetched& fetched = place->second;
  if (is_new) {
    if (!constant.is_named()) {
      fetched.data = constant.data;
      // Inline constants may be followed by others.
      fetched.size = needed;
    } else {
      if (map_ == nullptr) {
        PETREL_LOG(Error, "weight '%s' is needed, but no named data was given",
                   constant.key.c_str());
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
  }
  if (fetched.data == nullptr || fetched.size != needed) {
    if (constant.is_named()) {
      PETREL_LOG(Error, "weight '%s' has %zu bytes, value %u of %s needs %zu", constant.key.c_str(),
                 fetched.size, id, to_string(value.dims).c_str(), needed);
      return Error::InvalidExternalData;
    }
    // Values of different sizes may share one inline constant.
    if (fetched.data == nullptr || constant.size < needed) {
      PETREL_LOG(Error, "constant %u has %zu bytes, value %u needs %zu", value.constant,
                 constant.size, id, needed);
      return Error::InvalidProgram;
    }
    fetched.size = needed;
  }
  if (is_new && readers_[value.constant] == 1) read_once_[fetched.data] = &fetched;
  return &fetched;
}

Result<const void*> ConstantSource::copy(uint32_t id, std::vector<PaddedBuffer>* into) {
  PETREL_ASSIGN_OR_RETURN(const Fetched* fetched, fetch(id));
  const size_t size = fetched->size;
  PaddedBuffer buffer;
  if (!buffer.reserve(size)) {
    PETREL_LOG(Error, "no memory for a constant of %zu bytes", size);
    return Error::MemoryAllocationFailed;
  }
  std::memcpy(buffer.data(), fetched->data, size);
  into->push_back(std::move(buffer));
  return static_cast<const void*>(into->back().data());
}

Result<const void*> ConstantSource::get_exact(uint32_t id) {
  PETREL_ASSIGN_OR_RETURN(const Fetched* fetched, fetch(id));
  if (reinterpret_cast<uintptr_t>(fetched->data) % alignof(float) == 0) return fetched->data;
  return get(id);
}

Result<const void*> ConstantSource::get(uint32_t id) {
  const auto found = addresses_.find(id);
  if (found != addresses_.end()) return found->second;
  PETREL_ASSIGN_OR_RETURN(const Fetched* fetched, fetch(id));
  const void* data = fetched->data;
  const bool is_aligned = reinterpret_cast<uintptr_t>(data) % alignof(float) == 0;
  if (!is_aligned || !is_safe_to_over_read(data, fetched->size)) {
    PETREL_ASSIGN_OR_RETURN(data, copy(id, &copies_));
  }
  addresses_[id] = data;
  return data;
}

Result<const void*> ConstantSource::get_copy(uint32_t id) { return copy(id, &copies_); }

Result<const void*> ConstantSource::get_kept(uint32_t id, std::vector<PaddedBuffer>* keep) {
  PETREL_ASSIGN_OR_RETURN(const void* kept, copy(id, keep));
  packed(fetched_[graph_.values[id].constant].data);
  return kept;
}

std::optional<runtime::ByteSource::Place> ConstantSource::place_of(uint32_t id) const {
  const Fetched& fetched = fetched_.at(graph_.values[id].constant);
  return runtime::ByteSource::find(fetched.data, fetched.size);
}

void ConstantSource::packed(const void* address) {
  const auto found = read_once_.find(address);
  if (found == read_once_.end()) return;
  found->second->buffer.free();
  read_once_.erase(found);
}

void ConstantSource::release() {
  read_once_.clear();
  fetched_.clear();
  addresses_.clear();
  copies_.clear();
}

}  // namespace petrel::backends::xnnpack
