// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a `.ptd` file: the whole index is verified, then everything is read.

#include "extension/flat_data/flat_data_map.h"
#include "test/fuzz/flatbuffer_mutator.h"
#include "test/fuzz/schemas.h"
#include "test/fuzz/data_map_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  petrel::fuzz::load_and_read<petrel::extension::FlatDataMap>(data, size);
  return 0;
}

petrel::fuzz::Layout petrel::fuzz::layout_of(const uint8_t*, size_t) {
  return {flat_data_schema(), 0};
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  using namespace petrel::fuzz;
  return mutate_flatbuffer(layout_of(data, size), data, size, max_size, seed);
}
