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
// load() verifies the whole index, always (schema/flat_data.md), and makes lists of
// it, from which all is answered: what is asked for later lies inside the file and
// has the size its layout says. Data is read when it is asked for. The loader must
// outlive the map, the map every Method loaded with it. Thread-safe if the loader is.
#ifndef PETREL_EXTENSION_FLAT_DATA_FLAT_DATA_MAP_H_
#define PETREL_EXTENSION_FLAT_DATA_FLAT_DATA_MAP_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core/data_loader.h"
#include "runtime/core/named_data_map.h"
#include "runtime/core/scalar_type.h"

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
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(
      std::string_view key) const override;
  runtime::Error load_data_into(std::string_view key, void* buffer, size_t size) const override;
  runtime::Result<runtime::BytePlace> find_place(std::string_view key, size_t size) const override;
  runtime::Result<bool> is_in_place(std::string_view key) const override;
  // Of the data of a key, which is not read.
  runtime::Result<size_t> num_bytes(std::string_view key) const;

 private:
  class Index;
  // Where bytes are; absolute in the file.
  struct Range {
    size_t offset;
    size_t size;
  };
  // What it points to lies in the index.
  struct Entry {
    std::string_view key;  // followed by a NUL
    const int32_t* sizes = nullptr;
    const uint8_t* dim_order = nullptr;
    uint32_t segment = 0;  // in ranges_
    runtime::ScalarType scalar_type = runtime::ScalarType::Byte;
    uint8_t rank = 0;
    bool has_layout = false;
  };

  FlatDataMap(runtime::DataLoader* loader, runtime::FreeableBuffer&& index,
              std::vector<Range> ranges, std::vector<Entry> sorted)
      : loader_(loader),
        index_(std::move(index)),
        ranges_(std::move(ranges)),
        sorted_(std::move(sorted)) {}

  runtime::Result<const Entry*> find(std::string_view key) const;

  runtime::DataLoader* loader_;
  runtime::FreeableBuffer index_;
  std::vector<Range> ranges_;
  std::vector<Entry> sorted_;  // by key
};

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_FLAT_DATA_FLAT_DATA_MAP_H_
