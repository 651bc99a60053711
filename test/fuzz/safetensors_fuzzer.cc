// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a `.safetensors` file: the whole index is verified, then everything is read.

#include "extension/named_data_map/safetensors_map.h"
#include "test/fuzz/data_map_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  petrel::fuzz::load_and_read<petrel::extension::SafetensorsMap>(data, size);
  return 0;
}
