// SPDX-License-Identifier: Apache-2.0
//
// Weights in a std::unordered_map: the smallest NamedDataMap that an app can
// write. Here it is filled from a data file; it could be from anything.
//
//   ./bazelw run //examples/data_maps:unordered_map -- model.pte model.ptd
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "examples/data_maps/run_on_ones.h"
#include "extension/data_loader/file_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "runtime/core/data_loader.h"

namespace {

using petrel::runtime::Error;
using petrel::runtime::FreeableBuffer;
using petrel::runtime::Result;

class UnorderedDataMap final : public petrel::runtime::NamedDataMap {
 public:
  ~UnorderedDataMap() override {
    for (const auto& [key, data] : data_) std::free(data.first);
  }

  // Copies, because data must be aligned.
  void add(const std::string& key, const void* bytes, size_t size) {
    constexpr size_t kAlignment = petrel::runtime::kDataAlignment;
    void* copy = std::aligned_alloc(kAlignment, (size + kAlignment) / kAlignment * kAlignment);
    if (copy == nullptr) std::abort();
    std::memcpy(copy, bytes, size);
    if (!data_.emplace(key, std::make_pair(copy, size)).second) std::free(copy);
    keys_.push_back(key);
  }

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = data_.find(std::string(key));
    if (found == data_.end()) return Error::NotFound;
    return FreeableBuffer(found->second.first, found->second.second, nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(keys_.size()); }
  Result<const char*> get_key(uint32_t index) const override {
    if (index >= keys_.size()) return Error::InvalidArgument;
    return keys_[index].c_str();
  }

 private:
  std::unordered_map<std::string, std::pair<void*, size_t>> data_;
  std::vector<std::string> keys_;
};

}  // namespace

int main(int argc, char** argv) {
  using namespace petrel;  // NOLINT: an example
  if (argc != 3) return std::fprintf(stderr, "usage: unordered_map MODEL.pte DATA.ptd\n"), 2;
  auto loader = extension::FileDataLoader::from(argv[2]);
  if (!loader.ok()) return 1;
  const auto file = extension::FlatDataMap::load(&*loader);
  if (!file.ok()) return 1;
  UnorderedDataMap weights;
  for (uint32_t i = 0; i < *file->get_num_keys(); ++i) {
    const char* key = *file->get_key(i);
    const auto data = file->get_data(key);
    if (!data.ok()) return 1;
    weights.add(key, data->data(), data->size());
  }
  return examples::run_on_ones(argv[1], weights);
}
