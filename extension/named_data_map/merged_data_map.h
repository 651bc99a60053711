// SPDX-License-Identifier: Apache-2.0
//
// MergedDataMap: several named data maps as one, for programs whose weights lie
// in several files.
//
//   const NamedDataMap* maps[] = {&base, &adapter};
//   Result<MergedDataMap> all = MergedDataMap::create(maps);
//
// A key may be in several maps when its bytes (and layout, where both tell one)
// are equal; create() compares them once. Other bytes are an error that names
// the key and both maps, unless the app says that earlier maps go before later
// ones:
//
//   options.order = MergeOrder::FirstCounts;    // {&adapter, &base}
//
// The maps must outlive this one.
#ifndef PETREL_EXTENSION_NAMED_DATA_MAP_MERGED_DATA_MAP_H_
#define PETREL_EXTENSION_NAMED_DATA_MAP_MERGED_DATA_MAP_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/named_data_map.h"

namespace petrel::extension {

// Which bytes count when a key is in several maps and the bytes differ.
enum class MergeOrder {
  RefuseDifferent,
  FirstCounts,
};

struct MergeOptions {
  MergeOrder order = MergeOrder::RefuseDifferent;
  // What messages call the maps, one for each; empty: "data source 0", ...
  std::vector<std::string> names;
};

class MergedDataMap final : public runtime::NamedDataMap {
 public:
  static runtime::Result<MergedDataMap> create(
      runtime::Span<const runtime::NamedDataMap* const> maps, const MergeOptions& options = {});

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(
      std::string_view key) const override;
  runtime::Error load_data_into(std::string_view key, void* buffer, size_t size) const override;
  runtime::Result<runtime::BytePlace> find_place(std::string_view key, size_t size) const override;
  runtime::Result<bool> is_in_place(std::string_view key) const override;

 private:
  using Owners = std::map<std::string, const runtime::NamedDataMap*, std::less<>>;

  explicit MergedDataMap(Owners owners);
  runtime::Result<const runtime::NamedDataMap*> owner(std::string_view key) const;

  Owners owners_;
  std::vector<const char*> keys_;  // into owners_
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_NAMED_DATA_MAP_MERGED_DATA_MAP_H_
