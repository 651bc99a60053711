// SPDX-License-Identifier: Apache-2.0
//
// LinkedModelMap: the parameters of a package of generated C (docs/portable_c.md) as a
// NamedDataMap, so that the same symbols serve the C, the interpreter and its backends.
//
//   const LinkedModelMap weights(*kws_get_model_metadata());
//   Module::Options options;
//   options.named_data_map = &weights;
//
// A parameter has two keys: its name, by which kernels ask, and the SHA-256 of its bytes, by which
// backends do. Parameters that are not linked have none. What is aligned as the runtime needs it is
// not copied. The metadata lives as long as the program; the map is thread-safe.
#ifndef PETREL_EXTENSION_NAMED_DATA_MAP_LINKED_MODEL_MAP_H_
#define PETREL_EXTENSION_NAMED_DATA_MAP_LINKED_MODEL_MAP_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core/named_data_map.h"
#include "runtime/micro/model/petrel_model.h"

namespace petrel::extension {

class LinkedModelMap final : public runtime::NamedDataMap {
 public:
  explicit LinkedModelMap(const petrel_model_metadata& model);

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;

 private:
  // In byte order of keys, each once.
  std::vector<std::pair<const char*, const petrel_param_info*>> rows_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_NAMED_DATA_MAP_LINKED_MODEL_MAP_H_
