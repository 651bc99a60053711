// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/linked_model_map.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/data_loader.h"
#include "runtime/core/log.h"
#include "runtime/platform/aligned_memory.h"

namespace petrel::extension {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;

namespace {

void free_copy(void*, void* data, size_t) { runtime::free_aligned(data); }

// A compiler aligns small arrays as their elements need it.
Result<FreeableBuffer> aligned_copy(const petrel_param_info& param) {
  size_t rounded = 0;
  if (!runtime::checked_align_up(std::max<size_t>(param.bytes, 1), runtime::kDataAlignment,
                                 &rounded)) {
    return Error::InvalidArgument;
  }
  void* const copy = runtime::allocate_aligned(runtime::kDataAlignment, rounded);
  if (copy == nullptr) return Error::MemoryAllocationFailed;
  std::memcpy(copy, param.data, param.bytes);
  return FreeableBuffer(copy, param.bytes, free_copy);
}

}  // namespace

LinkedModelMap::LinkedModelMap(const petrel_model_metadata& model) {
  for (uint32_t i = 0; i < model.num_params; ++i) {
    const petrel_param_info& param = model.params[i];
    if (param.data == nullptr) continue;
    rows_.emplace_back(param.name, &param);
    rows_.emplace_back(param.sha256, &param);
  }
  const auto before = [](const auto& a, const auto& b) {
    return std::strcmp(a.first, b.first) < 0;
  };
  std::stable_sort(rows_.begin(), rows_.end(), before);
  const auto same = [](const auto& a, const auto& b) { return std::strcmp(a.first, b.first) == 0; };
  rows_.erase(std::unique(rows_.begin(), rows_.end(), same), rows_.end());
}

Result<FreeableBuffer> LinkedModelMap::get_data(std::string_view key) const {
  const auto found =
      std::lower_bound(rows_.begin(), rows_.end(), key,
                       [](const auto& row, std::string_view wanted) { return row.first < wanted; });
  if (found == rows_.end() || found->first != key) return Error::NotFound;
  const petrel_param_info& param = *found->second;
  if (reinterpret_cast<uintptr_t>(param.data) % runtime::kDataAlignment != 0) {
    return aligned_copy(param);
  }
  return FreeableBuffer(param.data, param.bytes, nullptr);
}

Result<uint32_t> LinkedModelMap::get_num_keys() const {
  return static_cast<uint32_t>(rows_.size());
}

Result<const char*> LinkedModelMap::get_key(uint32_t index) const {
  if (index >= rows_.size()) {
    PETREL_LOG(Error, "key %u of linked parameters that have %zu", index, rows_.size());
    return Error::InvalidArgument;
  }
  return rows_[index].first;
}

}  // namespace petrel::extension
