// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/checked_data_map.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/data_loader.h"
#include "runtime/core/log.h"
#include "schema/checksum.h"

namespace petrel::extension {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::TensorLayout;

namespace {

// How much of a key messages show.
int shown(std::string_view key) { return static_cast<int>(std::min<size_t>(key.size(), 200)); }

}  // namespace

Error CheckedDataMap::check_same(std::string_view key, const void* data, size_t size) const {
  const Seen now = {size, schema::checksum(data, size)};
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [it, fresh] = seen_.emplace(std::string(key), now);
  if (fresh || (it->second.size == now.size && it->second.checksum == now.checksum)) {
    return Error::Ok;
  }
  PETREL_LOG(Error, "data map gives %zu bytes for key \"%.*s\", and gave %zu other bytes before",
             size, shown(key), key.data(), it->second.size);
  return Error::InvalidExternalData;
}

Result<FreeableBuffer> CheckedDataMap::get_data(std::string_view key) const {
  PETREL_ASSIGN_OR_RETURN(FreeableBuffer data, map_.get_data(key));
  if (data.data() == nullptr && data.size() > 0) {
    PETREL_LOG(Error, "data map gives no data for key \"%.*s\", but says %zu bytes", shown(key),
               key.data(), data.size());
    return Error::InvalidExternalData;
  }
  if (reinterpret_cast<uintptr_t>(data.data()) % runtime::kDataAlignment != 0) {
    PETREL_LOG(Error, "data map gives data for key \"%.*s\" that is not aligned to %zu bytes",
               shown(key), key.data(), runtime::kDataAlignment);
    return Error::InvalidExternalData;
  }
  const Result<const TensorLayout> layout = get_tensor_layout(key);
  if (layout.ok() && layout->nbytes() > data.size()) {
    PETREL_LOG(Error, "data map gives %zu bytes for key \"%.*s\", but a layout of %zu", data.size(),
               shown(key), key.data(), layout->nbytes());
    return Error::InvalidExternalData;
  }
  PETREL_RETURN_IF_ERROR(check_same(key, data.data(), data.size()));
  return data;
}

Result<uint32_t> CheckedDataMap::get_num_keys() const { return map_.get_num_keys(); }

Result<const char*> CheckedDataMap::get_key(uint32_t index) const {
  PETREL_ASSIGN_OR_RETURN(const char* key, map_.get_key(index));
  if (key != nullptr && key[0] != '\0') return key;
  PETREL_LOG(Error, "data map gives no text for key number %u", index);
  return Error::InvalidExternalData;
}

Result<const TensorLayout> CheckedDataMap::get_tensor_layout(std::string_view key) const {
  return map_.get_tensor_layout(key);
}

Error CheckedDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  PETREL_ASSIGN_OR_RETURN(const FreeableBuffer data, get_data(key));
  if (data.size() < size) {
    PETREL_LOG(Error, "data map gives %zu bytes for key \"%.*s\", but %zu are needed", data.size(),
               shown(key), key.data(), size);
    return Error::InvalidExternalData;
  }
  PETREL_RETURN_IF_ERROR(map_.load_data_into(key, buffer, size));
  if (size == 0 || std::memcmp(buffer, data.data(), size) == 0) return Error::Ok;
  PETREL_LOG(Error, "data map loads other bytes for key \"%.*s\" than it gives", shown(key),
             key.data());
  return Error::InvalidExternalData;
}

}  // namespace petrel::extension
