// SPDX-License-Identifier: Apache-2.0
//
// LinkedDataMap: data that is linked into the binary as a NamedDataMap, for
// apps without a file system and weights in flash.
//
//   extern "C" const uint8_t encoder_weight[4096];
//   const LinkedData kWeights[] = {
//       {"encoder.bias", encoder_bias, sizeof(encoder_bias)},
//       {"encoder.weight", encoder_weight, sizeof(encoder_weight)},
//   };
//   Result<LinkedDataMap> map = LinkedDataMap::create(kWeights);
//
// Nothing is copied and no memory is taken: keys are found by bisection in the
// table. Table and data must outlive the map. Thread-safe.
#ifndef PETREL_EXTENSION_NAMED_DATA_MAP_LINKED_DATA_MAP_H_
#define PETREL_EXTENSION_NAMED_DATA_MAP_LINKED_DATA_MAP_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/core/named_data_map.h"
#include "runtime/core/span.h"

namespace petrel::extension {

struct LinkedData {
  const char* key;
  const void* data;  // at a multiple of runtime::kDataAlignment
  size_t size;
};

class LinkedDataMap final : public runtime::NamedDataMap {
 public:
  // InvalidArgument naming the row whose key is missing or not above the one
  // before it in byte order, or whose data is null or not aligned.
  static runtime::Result<LinkedDataMap> create(runtime::Span<const LinkedData> rows);

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;

 private:
  explicit LinkedDataMap(runtime::Span<const LinkedData> rows) : rows_(rows) {}

  runtime::Span<const LinkedData> rows_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_NAMED_DATA_MAP_LINKED_DATA_MAP_H_
