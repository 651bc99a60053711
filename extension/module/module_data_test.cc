// SPDX-License-Identifier: Apache-2.0
//
// Data of modules, on every way in: files that are mapped or read, buffers,
// descriptors and maps of the app.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/data_loader/file_descriptor_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/module/module.h"
#include "extension/tensor/tensor_ptr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::EValue;
using runtime::Result;
using ::testing::HasSubstr;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

enum class Way { Mapped, File, Buffer, Descriptor, Map };

// The bytes of a data file, given in one way; they live as long as this.
class Given {
 public:
  Given(Way way, std::string bytes) : way_(way), bytes_(std::move(bytes)) {
    static int number = 0;
    path_ = testing::TempDir() + "given_" + std::to_string(++number) + ".ptd";
    std::ofstream(path_, std::ios::binary) << bytes_;
  }

  void add_to(DataSources* sources) {
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
        loader_ = std::make_unique<BufferDataLoader>(bytes_.data(), bytes_.size());
        map_ = std::make_unique<FlatDataMap>(std::move(FlatDataMap::load(loader_.get()).get()));
        sources->named_data_map = map_.get();
    }
  }

 private:
  Way way_;
  std::string bytes_;
  std::string path_;
  std::unique_ptr<BufferDataLoader> loader_;
  std::unique_ptr<FlatDataMap> map_;
};

class ModuleDataTest : public testing::TestWithParam<Way> {
 protected:
  ModuleDataTest() {
    runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                             *static_cast<std::string*>(context) += std::string(text) + "\n";
                           },
                           &messages_});
  }
  ~ModuleDataTest() override { runtime::set_log_hook(runtime::LogHook{}); }

  std::string messages_;
};

TEST_P(ModuleDataTest, MustBeTheBytesThatTheProgramIsBoundTo) {
  for (const std::string name : {"bound", "kernels_bound"}) {
    const std::string stem = "extension/module/" + name;
    std::string bytes = read_file(stem + ".ptd");
    Given same(GetParam(), bytes);
    Module::Options options;
    same.add_to(&options);
    const auto right = Module::load(stem + ".pte", options);
    ASSERT_TRUE(right.ok()) << messages_;
    EXPECT_EQ((*right)->load_method("forward"), Error::Ok) << messages_;

    bytes.back() ^= 1;
    Given other(GetParam(), bytes);
    options = Module::Options();
    other.add_to(&options);
    const auto wrong = Module::load(stem + ".pte", options);
    ASSERT_TRUE(wrong.ok()) << messages_;
    EXPECT_NE((*wrong)->load_method("forward"), Error::Ok) << name;
    EXPECT_THAT(messages_, HasSubstr("has other bytes than those the program is bound to"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModuleDataTest,
                         testing::Values(Way::Mapped, Way::File, Way::Buffer, Way::Descriptor,
                                         Way::Map),
                         [](const auto& info) {
                           return std::string(
                               std::vector<const char*>{"Mapped", "File", "Buffer", "Descriptor",
                                                        "Map"}[static_cast<size_t>(info.param)]);
                         });

}  // namespace
}  // namespace petrel::extension
