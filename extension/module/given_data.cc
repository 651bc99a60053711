// SPDX-License-Identifier: Apache-2.0
#include "extension/module/given_data.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "extension/data_loader/file_descriptor_data_loader.h"

namespace petrel::extension {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string name_of_way(const testing::TestParamInfo<Way>& info) {
  const char* const names[] = {"Mapped", "File", "Buffer", "Descriptor", "Map"};
  return names[static_cast<size_t>(info.param)];
}

Given::Given(Way way, std::string bytes) : way_(way), bytes_(std::move(bytes)) {
  static int number = 0;
  path_ = testing::TempDir() + "given_" + std::to_string(++number) + ".ptd";
  std::ofstream(path_, std::ios::binary) << bytes_;
}

void Given::add_to(DataSources* sources) {
  switch (way_) {
    case Way::Mapped:
    case Way::File:
      sources->load_mode =
          way_ == Way::File ? DataSources::LoadMode::File : DataSources::LoadMode::Mmap;
      return sources->data_files.push_back(path_);
    case Way::Buffer:
      return sources->data_loaders.push_back(
          std::make_shared<BufferDataLoader>(bytes_.data(), bytes_.size()));
    case Way::Descriptor: {
      const int fd = open(path_.c_str(), O_RDONLY);
      auto loader = FileDescriptorDataLoader::from(fd);
      close(fd);
      return sources->data_loaders.push_back(
          std::make_shared<FileDescriptorDataLoader>(std::move(loader.get())));
    }
    case Way::Map:
      if (map_ == nullptr) {
        loader_ = std::make_unique<BufferDataLoader>(bytes_.data(), bytes_.size());
        map_ = std::make_unique<FlatDataMap>(std::move(FlatDataMap::load(loader_.get()).get()));
      }
      sources->named_data_map = map_.get();
  }
}

std::string altered(const std::string& path, const std::map<std::string, float>& elements) {
  std::string bytes = read_file(path);
  const BufferDataLoader loader(bytes.data(), bytes.size());
  const runtime::Result<FlatDataMap> map =
      FlatDataMap::load(const_cast<BufferDataLoader*>(&loader));
  for (const auto& [key, element] : elements) {
    const auto data = map->get_data(key);
    EXPECT_TRUE(data.ok()) << key;
    const auto place = static_cast<size_t>(static_cast<const char*>(data->data()) - bytes.data());
    for (size_t i = 0; i < data->size(); i += sizeof(float)) {
      std::memcpy(bytes.data() + place + i, &element, sizeof(float));
    }
  }
  return bytes;
}

}  // namespace petrel::extension
