// SPDX-License-Identifier: Apache-2.0
//
// SafetensorsMap: the tensors of a `.safetensors` file as a NamedDataMap, so
// that weights as model hubs have them can be given to a program.
//
//   Result<MmapDataLoader> loader = MmapDataLoader::from("model.safetensors");
//   Result<SafetensorsMap> weights = SafetensorsMap::load(&*loader);
//   program->load_method("forward", &memory, nullptr, &*weights);
//
//   [ u64 n | n bytes of JSON: name -> dtype, shape, [begin, end) | data ]
//
// Module reads such files when it is told how:
//
//   options.other_data = read_safetensors;
//
// load() checks the whole index: every tensor lies inside the file, has as many
// bytes as its shape says and shares none with others; names occur once. Data is
// read when it is asked for; what does not begin at a multiple of 16 in the file
// is copied to memory that does, once for all who hold it. The loader must outlive
// the map, the map every Method loaded with it. Thread-safe if the loader is.
#ifndef PETREL_EXTENSION_NAMED_DATA_MAP_SAFETENSORS_MAP_H_
#define PETREL_EXTENSION_NAMED_DATA_MAP_SAFETENSORS_MAP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend/byte_source.h"
#include "runtime/core/data_loader.h"
#include "runtime/core/named_data_map.h"

namespace petrel::extension {

class SafetensorsMap final : public runtime::NamedDataMap {
 public:
  // The index may have at most this many bytes.
  static constexpr uint64_t kMaxIndexBytes = uint64_t{100} << 20;

  // InvalidExternalData when the file is not one that can be trusted. The
  // message says what is wrong.
  static runtime::Result<SafetensorsMap> load(runtime::DataLoader* loader);

  runtime::Result<runtime::FreeableBuffer> get_data(std::string_view key) const override;
  runtime::Result<uint32_t> get_num_keys() const override;
  runtime::Result<const char*> get_key(uint32_t index) const override;
  runtime::Result<const runtime::TensorLayout> get_tensor_layout(
      std::string_view key) const override;
  runtime::Result<runtime::BytePlace> find_place(std::string_view key, size_t size) const override;
  runtime::Result<bool> is_in_place(std::string_view key) const override;
  // Of the data of a key, which is not read.
  runtime::Result<size_t> num_bytes(std::string_view key) const;

 private:
  struct Tensor {
    std::string name;
    runtime::ScalarType dtype = runtime::ScalarType::Float;
    std::vector<int32_t> sizes;
    std::vector<uint8_t> dim_order;
    size_t offset = 0;  // in the file
    size_t size = 0;
  };
  class IndexReader;

  // Many that share bytes would be as many copies of these.
  static runtime::Error check_overlaps(const std::vector<Tensor>& tensors);

  SafetensorsMap(runtime::DataLoader* loader, std::vector<Tensor> tensors)
      : loader_(loader), tensors_(std::move(tensors)) {}

  const Tensor* find(std::string_view key) const;

  runtime::DataLoader* loader_;
  std::vector<Tensor> tensors_;  // by name
  // Of what is copied, for as long as a copy is there.
  uint64_t source_ = runtime::ByteSource::new_number();
};

// The map of SafetensorsMap::load() on the heap.
runtime::Result<std::unique_ptr<runtime::NamedDataMap>> read_safetensors(
    runtime::DataLoader* loader);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_NAMED_DATA_MAP_SAFETENSORS_MAP_H_
