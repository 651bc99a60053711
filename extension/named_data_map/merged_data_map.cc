// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/merged_data_map.h"

#include <cstring>
#include <utility>

#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::BytePlace;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;
using runtime::Span;
using runtime::TensorLayout;

namespace {

Result<bool> same_data(const NamedDataMap& a, const NamedDataMap& b, const char* key) {
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer from_a, a.get_data(key));
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer from_b, b.get_data(key));
  if (from_a.size() != from_b.size()) return false;
  if (from_a.size() > 0 && std::memcmp(from_a.data(), from_b.data(), from_a.size()) != 0) {
    return false;
  }
  const Result<const TensorLayout> layout_a = a.get_tensor_layout(key);
  const Result<const TensorLayout> layout_b = b.get_tensor_layout(key);
  if (!layout_a.ok() || !layout_b.ok()) return true;
  return layout_a->scalar_type() == layout_b->scalar_type() &&
         runtime::equal(layout_a->sizes(), layout_b->sizes()) &&
         runtime::equal(layout_a->dim_order(), layout_b->dim_order());
}

}  // namespace

Result<MergedDataMap> MergedDataMap::create(Span<const NamedDataMap* const> maps,
                                            const MergeOptions& options) {
  const auto name_of = [&](size_t index) {
    return index < options.names.size() ? options.names[index]
                                        : "data source " + std::to_string(index);
  };
  Owners owners;
  for (size_t m = 0; m < maps.size(); ++m) {
    PETREL_ASSIGN_OR_RETURN(const uint32_t count, maps[m]->get_num_keys());
    for (uint32_t i = 0; i < count; ++i) {
      PETREL_ASSIGN_OR_RETURN(const char* key, maps[m]->get_key(i));
      const auto [it, fresh] = owners.emplace(key, maps[m]);
      if (fresh || options.order == MergeOrder::FirstCounts) continue;
      PETREL_ASSIGN_OR_RETURN(const bool same, same_data(*it->second, *maps[m], key));
      if (same) continue;
      size_t first = 0;
      while (maps[first] != it->second) ++first;
      PETREL_LOG(Error, "key '%.200s' has other bytes in %s than in %s", key, name_of(m).c_str(),
                 name_of(first).c_str());
      return Error::InvalidExternalData;
    }
  }
  return MergedDataMap(std::move(owners));
}

MergedDataMap::MergedDataMap(Owners owners) : owners_(std::move(owners)) {
  keys_.reserve(owners_.size());
  for (const auto& entry : owners_) keys_.push_back(entry.first.c_str());
}

Result<const NamedDataMap*> MergedDataMap::owner(std::string_view key) const {
  const auto it = owners_.find(key);
  if (it == owners_.end()) return Error::NotFound;
  return it->second;
}

Result<FreeableBuffer> MergedDataMap::get_data(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(const NamedDataMap* map, owner(key));
  return map->get_data(key);
}

Result<uint32_t> MergedDataMap::get_num_keys() const { return static_cast<uint32_t>(keys_.size()); }

Result<const char*> MergedDataMap::get_key(uint32_t index) const {
  if (index >= keys_.size()) return Error::InvalidArgument;
  return keys_[index];
}

Result<const TensorLayout> MergedDataMap::get_tensor_layout(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(const NamedDataMap* map, owner(key));
  return map->get_tensor_layout(key);
}

Error MergedDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  PETREL_ASSIGN_OR_RETURN(const NamedDataMap* map, owner(key));
  return map->load_data_into(key, buffer, size);
}

Result<BytePlace> MergedDataMap::find_place(std::string_view key, size_t size) const {
  PETREL_ASSIGN_OR_RETURN(const NamedDataMap* map, owner(key));
  return map->find_place(key, size);
}

Result<bool> MergedDataMap::is_in_place(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(const NamedDataMap* map, owner(key));
  return map->is_in_place(key);
}

}  // namespace petrel::extension
