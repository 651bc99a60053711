// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a `.safetensors` file: the whole index is verified, then everything is read.

#include "extension/named_data_map/safetensors_map.h"
#include "runtime/core/log.h"
#include "test/fuzz/data_map_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel;
  static const runtime::LogHook quiet =
      runtime::set_log_hook({[](void*, runtime::LogLevel, const char*) {}, nullptr});
  (void)quiet;
  fuzz::ExactLoader loader(data, size);
  const auto map = extension::SafetensorsMap::load(&loader);
  if (map.ok()) {
    fuzz::read_everything(*map);
  } else {
    fuzz::require(map.error() == runtime::Error::InvalidExternalData ||
                      map.error() == runtime::Error::NotSupported,
                  "an error of load that its contract does not have");
  }
  return 0;
}
