// SPDX-License-Identifier: Apache-2.0
//
// BoundDataMap: a map held to what a program remembers of its weights
// (schema/additions.md): their sizes and layouts, and their digests where the
// program is bound to certain bytes.
//
//   Result<BoundDataMap> bound =
//       BoundDataMap::create(map, weights);   // of program.additions()
//
// A weight that does not agree is InvalidExternalData, with its name and what
// the program needs in the message. Layouts are looked at when the map is made,
// digests when a key is first asked for. Keys of which the program remembers
// nothing pass. Module wraps the maps of programs that remember weights. Both
// map and program must outlive this one. Thread-safe if the map is.
#ifndef PETREL_EXTENSION_NAMED_DATA_MAP_BOUND_DATA_MAP_H_
#define PETREL_EXTENSION_NAMED_DATA_MAP_BOUND_DATA_MAP_H_

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "runtime/core/named_data_map.h"
#include "runtime/program/program_additions.h"

namespace petrel::extension {

class BoundDataMap final : public runtime::NamedDataMap {
 public:
  static runtime::Result<BoundDataMap> create(const runtime::NamedDataMap& map,
                                              const std::vector<runtime::WeightView>& remembered);

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;
  runtime::Result<runtime::TensorLayout> get_tensor_layout(std::string_view key) const override;
  runtime::Error load_data_into(std::string_view key, void* buffer, size_t size) const override;

 private:
  using Weights = std::map<std::string_view, runtime::WeightView>;
  // Keys whose digest was found right.
  struct Checked {
    std::mutex mutex;
    std::set<std::string_view> keys;
  };

  BoundDataMap(const runtime::NamedDataMap& map, Weights weights)
      : map_(&map), weights_(std::move(weights)), checked_(std::make_unique<Checked>()) {}

  const runtime::NamedDataMap* map_;
  Weights weights_;
  std::unique_ptr<Checked> checked_;
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_NAMED_DATA_MAP_BOUND_DATA_MAP_H_
