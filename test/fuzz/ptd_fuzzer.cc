// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a `.ptd` file: the whole index is verified, then everything is read.

#include "extension/flat_data/flat_data_map.h"
#include "runtime/core/log.h"
#include "test/fuzz/flatbuffer_mutator.h"
#include "test/fuzz/schemas.h"
#include "test/fuzz/data_map_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace petrel;
  static const runtime::LogHook quiet =
      runtime::set_log_hook({[](void*, runtime::LogLevel, const char*) {}, nullptr});
  (void)quiet;
  fuzz::ExactLoader loader(data, size);
  const auto map = extension::FlatDataMap::load(&loader);
  if (map.ok()) {
    fuzz::read_everything(*map);
  } else {
    fuzz::require(map.error() == runtime::Error::InvalidExternalData ||
                      map.error() == runtime::Error::NotSupported,
                  "an error of load that its contract does not have");
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return petrel::fuzz::mutate_flatbuffer(petrel::fuzz::flat_data_schema(), 0, data, size, max_size,
                                         seed);
}
