// SPDX-License-Identifier: Apache-2.0
#include "extension/c_api/data_map.h"

#include <string>
#include <utility>
#include <vector>

#include "extension/c_api/guard.h"
#include "runtime/core/log.h"

namespace petrel::extension::c_api {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;

namespace {

class CallbackMap final : public NamedDataMap {
 public:
  CallbackMap(const petrel_data_map& given, std::vector<std::string> keys)
      : given_(given), keys_(std::move(keys)) {}
  CallbackMap(const CallbackMap&) = delete;
  CallbackMap& operator=(const CallbackMap&) = delete;
  ~CallbackMap() override {
    if (given_.destroy != nullptr) given_.destroy(given_.context);
  }

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    const std::string text(key);
    const void* data = nullptr;
    size_t size = 0;
    const petrel_status status = given_.get_data(given_.context, text.c_str(), &data, &size);
    if (status == PETREL_NOT_FOUND) return Error::NotFound;
    if (status != PETREL_OK) {
      PETREL_LOG(Error, "get_data of a petrel_data_map gave %s for key \"%.200s\"",
                 petrel_status_name(status), text.c_str());
      // A number that is not one of ours must not pass for success elsewhere.
      return Error::AccessFailed;
    }
    return FreeableBuffer(data, size, &give_back, const_cast<CallbackMap*>(this));
  }

  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(keys_.size()); }

  Result<const char*> get_key(uint32_t index) const override {
    if (index >= keys_.size()) return Error::InvalidArgument;
    return keys_[index].c_str();
  }

 private:
  static void give_back(void* map, void* data, size_t size) {
    const petrel_data_map& given = static_cast<const CallbackMap*>(map)->given_;
    if (given.free_data != nullptr) given.free_data(given.context, data, size);
  }

  const petrel_data_map given_;
  const std::vector<std::string> keys_;
};

}  // namespace

Result<std::shared_ptr<const NamedDataMap>> make_data_map(const petrel_data_map* given) {
  PETREL_RETURN_IF_ERROR(require(given, "map"));
  if (given->struct_size < sizeof(petrel_data_map)) {
    PETREL_LOG(Error, "map->struct_size is %zu, must be at least %zu", given->struct_size,
               sizeof(petrel_data_map));
    return Error::InvalidArgument;
  }
  PETREL_RETURN_IF_ERROR(require(reinterpret_cast<const void*>(given->get_data), "map->get_data"));
  if (given->num_keys > UINT32_MAX) {
    PETREL_LOG(Error, "map->num_keys is %zu, must be below 2^32", given->num_keys);
    return Error::InvalidArgument;
  }
  std::vector<std::string> keys;
  for (size_t i = 0; i < given->num_keys; ++i) {
    PETREL_RETURN_IF_ERROR(require(given->keys, "map->keys"));
    PETREL_RETURN_IF_ERROR(require(given->keys[i], "map->keys[i]"));
    keys.emplace_back(given->keys[i]);
  }
  return std::shared_ptr<const NamedDataMap>(
      std::make_shared<CallbackMap>(*given, std::move(keys)));
}

}  // namespace petrel::extension::c_api
