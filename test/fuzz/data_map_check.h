// SPDX-License-Identifier: Apache-2.0
//
// Holds a map of named data to its interface (runtime/core/named_data_map.h): every
// key that it lists can be asked for, and what it gives is there and fits its layout.

#ifndef PETREL_TEST_FUZZ_DATA_MAP_CHECK_H_
#define PETREL_TEST_FUZZ_DATA_MAP_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/log.h"
#include "runtime/core/named_data_map.h"
#include "test/fuzz/exact_memory.h"

namespace petrel::fuzz {

inline void read_everything(const runtime::NamedDataMap& map) {
  using runtime::Error;
  const uint32_t count = map.get_num_keys().get();
  for (uint32_t i = 0; i < count; ++i) {
    const auto key = map.get_key(i);
    require(key.ok() && *key != nullptr, "a key that is counted is not there");
    auto data = map.get_data(*key);
    if (!data.ok()) continue;
    read_all(data->data(), data->size());
    const auto layout = map.get_tensor_layout(*key);
    if (layout.ok()) {
      require(layout->nbytes() <= data->size(), "data that its layout does not fit");
    }
    Block copy(data->size());
    (void)map.load_data_into(*key, copy.data(), copy.size());
    if (copy.size() != 0) (void)map.load_data_into(*key, copy.data(), copy.size() - 1);
    data->free();
  }
  require(!map.get_key(count).ok(), "a key after the last one");
  (void)map.get_data("no such key");
}

// Loads a file of any bytes as a Map, without a word, and reads all that it gives.
template <typename Map>
void load_and_read(const uint8_t* data, size_t size) {
  using runtime::Error;
  static const runtime::LogHook quiet =
      runtime::set_log_hook({[](void*, runtime::LogLevel, const char*) {}, nullptr});
  (void)quiet;
  ExactLoader loader(data, size);
  const auto map = Map::load(&loader);
  if (map.ok()) return read_everything(*map);
  require(map.error() == Error::InvalidExternalData || map.error() == Error::NotSupported,
          "an error of load that its contract does not have");
}

}  // namespace petrel::fuzz

#endif  // PETREL_TEST_FUZZ_DATA_MAP_CHECK_H_
