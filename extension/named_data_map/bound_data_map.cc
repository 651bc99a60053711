// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/bound_data_map.h"

// The functions that need no more of OpenSSL than themselves.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/core/log.h"

namespace petrel::extension {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;
using runtime::ScalarType;
using runtime::TensorLayout;
using runtime::WeightView;

namespace {

int shown(std::string_view key) { return static_cast<int>(std::min<size_t>(key.size(), 200)); }

std::string layout_text(ScalarType type, runtime::Span<const int32_t> sizes,
                        runtime::Span<const uint8_t> dim_order) {
  std::string text = runtime::to_string(type);
  text += " [";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  text += "] order [";
  for (size_t i = 0; i < dim_order.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(dim_order[i]);
  }
  return text + "]";
}

std::string text_of(const TensorLayout& layout) {
  return layout_text(layout.scalar_type(), layout.sizes(), layout.dim_order());
}

Result<TensorLayout> layout_of(const WeightView& weight) {
  return TensorLayout::create(weight.sizes, weight.dim_order, weight.scalar_type);
}

bool equal(const TensorLayout& a, const TensorLayout& b) {
  return a.scalar_type() == b.scalar_type() && runtime::equal(a.sizes(), b.sizes()) &&
         runtime::equal(a.dim_order(), b.dim_order());
}

// The layout that a map has for a weight is the one the program needs.
Error check_layout(const NamedDataMap& map, const WeightView& weight, const char* key) {
  if (!weight.has_layout) return Error::Ok;
  const Result<TensorLayout> found = map.get_tensor_layout(key);
  if (!found.ok()) return Error::Ok;  // the map does not tell, or does not have it
  PETREL_ASSIGN_OR_RETURN(const TensorLayout wanted, layout_of(weight));
  if (equal(*found, wanted)) return Error::Ok;
  PETREL_LOG(Error, "weight \"%.200s\" is %s in the data, but the program needs %s", key,
             text_of(*found).c_str(), text_of(wanted).c_str());
  return Error::InvalidExternalData;
}

Error check_size(const WeightView& weight, std::string_view key, size_t size) {
  if (size == weight.bytes) return Error::Ok;
  PETREL_LOG(Error, "weight \"%.*s\" has %zu bytes in the data, but the program needs %llu",
             shown(key), key.data(), size, static_cast<unsigned long long>(weight.bytes));
  return Error::InvalidExternalData;
}

}  // namespace

Result<BoundDataMap> BoundDataMap::create(const NamedDataMap& map,
                                          const std::vector<WeightView>& remembered) {
  Weights weights;
  for (const WeightView& weight : remembered) {
    weights.emplace(weight.key, weight);
    PETREL_RETURN_IF_ERROR(check_layout(map, weight, weight.key.data()));
  }
  return BoundDataMap(map, std::move(weights));
}

Result<FreeableBuffer> BoundDataMap::get_data(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(FreeableBuffer data, map_->get_data(key));
  const auto found = weights_.find(key);
  if (found == weights_.end()) return data;
  const WeightView& weight = found->second;
  PETREL_RETURN_IF_ERROR(check_size(weight, key, data.size()));
  if (weight.digest.empty()) return data;
  {
    const std::lock_guard<std::mutex> lock(checked_->mutex);
    if (checked_->keys.count(found->first) > 0) return data;
  }
  uint8_t digest[SHA256_DIGEST_LENGTH];
  // Not SHA256(), which starts the whole of OpenSSL.
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, data.data(), data.size());
  SHA256_Final(digest, &context);
  if (std::memcmp(digest, weight.digest.data(), sizeof(digest)) != 0) {
    PETREL_LOG(Error, "weight \"%.*s\" has other bytes than those the program is bound to",
               shown(key), key.data());
    return Error::InvalidExternalData;
  }
  const std::lock_guard<std::mutex> lock(checked_->mutex);
  checked_->keys.insert(found->first);
  return data;
}

Result<uint32_t> BoundDataMap::get_num_keys() const { return map_->get_num_keys(); }

Result<const char*> BoundDataMap::get_key(uint32_t index) const { return map_->get_key(index); }

Result<TensorLayout> BoundDataMap::get_tensor_layout(std::string_view key) const {
  return map_->get_tensor_layout(key);
}

Error BoundDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  const auto found = weights_.find(key);
  if (found == weights_.end()) return map_->load_data_into(key, buffer, size);
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer data, get_data(key));
  if (data.size() < size) return Error::InvalidArgument;
  if (size > 0) std::memcpy(buffer, data.data(), size);
  return Error::Ok;
}

}  // namespace petrel::extension
