// SPDX-License-Identifier: Apache-2.0
//
// FlatDataMap: the named data of a `.ptd` file, as a NamedDataMap.
//
//   Result<FileDataLoader> loader = FileDataLoader::from("model.ptd");
//   Result<FlatDataMap> weights = FlatDataMap::load(&*loader);
//   program->load_method("forward", &memory, nullptr, &*weights);
//
//   [ header FH01 | flatbuffer: keys, layouts, segments | data of segments ]
//
// load() verifies the whole index, always (schema/flat_data.md): what is asked
// for later lies inside the file and has the size its layout says. Data is read
// when it is asked for. The loader must outlive the map, the map every Method
// loaded with it. Thread-safe if the loader is.
#ifndef PETREL_EXTENSION_FLAT_DATA_FLAT_DATA_MAP_H_
#define PETREL_EXTENSION_FLAT_DATA_FLAT_DATA_MAP_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/core/data_loader.h"
#include "runtime/core/named_data_map.h"

namespace petrel::schema::flat_data {
struct FlatData;
struct NamedData;
}  // namespace petrel::schema::flat_data

namespace petrel::extension {

class FlatDataMap final : public runtime::NamedDataMap {
 public:
  // InvalidExternalData when the file is not one that can be trusted;
  // NotSupported when its version is newer. The message says what is wrong.
  static runtime::Result<FlatDataMap> load(runtime::DataLoader* loader);

  FlatDataMap(FlatDataMap&&) noexcept = default;
  FlatDataMap& operator=(FlatDataMap&&) = delete;

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;
  runtime::Result<runtime::TensorLayout> get_tensor_layout(std::string_view key) const override;
  runtime::Error load_data_into(std::string_view key, void* buffer, size_t size) const override;

 private:
  // Where the bytes of an entry are; absolute in the file.
  struct Range {
    size_t offset;
    size_t size;
  };
  using Entry = schema::flat_data::NamedData;

  FlatDataMap(runtime::DataLoader* loader, runtime::FreeableBuffer&& index,
              const schema::flat_data::FlatData* root, uint64_t segment_base,
              std::vector<const Entry*> sorted)
      : loader_(loader),
        index_(std::move(index)),
        root_(root),
        segment_base_(segment_base),
        sorted_(std::move(sorted)) {}

  runtime::Result<const Entry*> find(std::string_view key) const;
  Range range_of(const Entry& entry) const;

  runtime::DataLoader* loader_;
  runtime::FreeableBuffer index_;
  const schema::flat_data::FlatData* root_;
  uint64_t segment_base_;
  std::vector<const Entry*> sorted_;  // by key
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_FLAT_DATA_FLAT_DATA_MAP_H_
