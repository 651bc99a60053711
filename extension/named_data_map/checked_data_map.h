// SPDX-License-Identifier: Apache-2.0
//
// CheckedDataMap: a map that somebody else wrote, held to what a NamedDataMap
// promises. What breaks a promise becomes an error with the key in its message:
//
//   data that is null, not aligned or shorter than its layout says
//   another size or other bytes than the first time the key was asked for
//   load_data_into() that leaves other bytes than get_data() gave
//   keys that are null or out of range
//
//   CheckedDataMap checked(mine);
//   program->load_method("forward", &memory, nullptr, &checked);
//
// Reads each buffer once to take a checksum of 64 bits, which finds mistakes and
// no attacks. Module wraps the map that an app gives it. Thread-safe if the map
// is, which must outlive this one.
#ifndef PETREL_EXTENSION_NAMED_DATA_MAP_CHECKED_DATA_MAP_H_
#define PETREL_EXTENSION_NAMED_DATA_MAP_CHECKED_DATA_MAP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/core/named_data_map.h"

namespace petrel::extension {

class CheckedDataMap final : public runtime::NamedDataMap {
 public:
  explicit CheckedDataMap(const runtime::NamedDataMap& map) : map_(map) {}
  CheckedDataMap(const CheckedDataMap&) = delete;
  CheckedDataMap& operator=(const CheckedDataMap&) = delete;

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(
      std::string_view key) const override;
  runtime::Error load_data_into(std::string_view key, void* buffer, size_t size) const override;

 private:
  struct Seen {
    size_t size;
    uint64_t checksum;
  };

  runtime::Error check_same(std::string_view key, const void* data, size_t size) const;

  const runtime::NamedDataMap& map_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Seen, std::less<>> seen_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_NAMED_DATA_MAP_CHECKED_DATA_MAP_H_
