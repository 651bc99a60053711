// SPDX-License-Identifier: Apache-2.0
//
// Modules over the quickstart's classifier: with weights inside, with weights
// in a data file, and with kernels only.
#include "extension/module/module.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/data_loader/file_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/named_data_map/safetensors_map.h"
#include "extension/tensor/filled.h"
#include "extension/tensor/tensor_ptr.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;

constexpr char kInline[] = "extension/module/inline.pte";
constexpr char kExternal[] = "extension/module/external.pte";
constexpr char kExternalData[] = "extension/module/external.ptd";
constexpr char kKernels[] = "extension/module/kernels.pte";
constexpr char kKernelsExternal[] = "extension/module/kernels_external.pte";
constexpr char kKernelsExternalData[] = "extension/module/kernels_external.ptd";

std::string read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Held-out image `i` as the network takes it, and its label.
TensorPtr image(size_t i, int* out_label) {
  static const std::string bytes = read_file("examples/quickstart/digits.bin");
  std::vector<float> pixels;
  for (size_t p = 0; p < 64; ++p) pixels.push_back(bytes[i * 65 + p] / 16.0f);
  *out_label = bytes[i * 65 + 64];
  return make_tensor_ptr({1, 1, 8, 8}, pixels);
}

// How many of the first 50 images are classified rightly; -1 on an error.
int count_right(Module& module) {
  int right = 0;
  for (size_t i = 0; i < 50; ++i) {
    int label = 0;
    const TensorPtr input = image(i, &label);
    const Result<std::vector<EValue>> outputs = module.forward({*input});
    if (!outputs.ok() || outputs->size() != 1) return -1;
    const runtime::Tensor scores = (*outputs)[0].toTensor();
    const float* score = scores.const_data_ptr<float>();
    right += std::max_element(score, score + scores.numel()) - score == label;
  }
  return right;
}

int count_right(const char* path, const Module::Options& options) {
  auto module = Module::load(path, options);
  return module.ok() ? count_right(**module) : -1;
}

class Silence : public testing::Test {
 protected:
  void SetUp() override { runtime::set_log_hook(runtime::LogHook{}); }
};
using ModuleTest = Silence;

TEST_F(ModuleTest, ClassifiesInEveryArrangement) {
  for (const auto mode : {Module::LoadMode::File, Module::LoadMode::Mmap}) {
    for (const int threads : {0, 1, 2}) {
      Module::Options options;
      options.load_mode = mode;
      options.num_threads = threads;
      EXPECT_GE(count_right(kInline, options), 47);
      EXPECT_GE(count_right(kKernels, options), 47);
      options.data_files = {kExternalData};
      EXPECT_GE(count_right(kExternal, options), 47);
      options.data_files = {kKernelsExternalData};
      EXPECT_GE(count_right(kKernelsExternal, options), 47);
    }
  }
}

TEST_F(ModuleTest, TellsItsMethods) {
  auto module = Module::load(kInline);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->method_names(), std::vector<std::string>{"forward"});
  const auto meta = (*module)->method_meta("forward");
  ASSERT_TRUE(meta.ok());
  EXPECT_EQ(meta->num_inputs(), 1u);
  EXPECT_TRUE(meta->uses_backend("XnnpackBackend"));
  EXPECT_EQ((*module)->method_meta("backward").error(), Error::NotFound);
}

TEST_F(ModuleTest, NeedsTheExternalWeights) {
  for (const char* path : {kExternal, kKernelsExternal}) {
    auto module = Module::load(path);
    ASSERT_TRUE(module.ok());
    EXPECT_NE((*module)->load_method("forward"), Error::Ok) << path;
  }
}

TEST_F(ModuleTest, RefusesWeightsOfAnotherProgram) {
  Module::Options options;
  options.data_files = {kKernelsExternalData};  // keyed by names, not by content
  auto module = Module::load(kExternal, options);
  ASSERT_TRUE(module.ok());
  EXPECT_NE((*module)->load_method("forward"), Error::Ok);
}

TEST_F(ModuleTest, RefusesWrongInputs) {
  auto module = Module::load(kInline);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->forward({}).error(), Error::InvalidArgument);
  const TensorPtr small = zeros({1, 1, 4, 4});
  EXPECT_FALSE((*module)->forward({*small}).ok());
  const TensorPtr whole = zeros({1, 1, 8, 8}, runtime::ScalarType::Int);
  EXPECT_FALSE((*module)->forward({*whole}).ok());
  EXPECT_FALSE((*module)->forward({EValue(int64_t{3})}).ok());
  EXPECT_EQ((*module)->execute("backward", {}).error(), Error::NotFound);
  EXPECT_GE(count_right(**module), 47);  // still usable
}

TEST_F(ModuleTest, LoadsFromMemoryAndReloadsMethods) {
  const std::string bytes = read_file(kInline);
  auto module = Module::load(bytes.data(), bytes.size(), Module::Options());
  ASSERT_TRUE(module.ok());
  EXPECT_GE(count_right(**module), 47);
  (*module)->unload_method("forward");
  (*module)->unload_method("forward");
  EXPECT_GE(count_right(**module), 47);
}

TEST_F(ModuleTest, ReportsFilesThatAreNotThere) {
  EXPECT_EQ(Module::load("/nonexistent.pte").error(), Error::NotFound);
  Module::Options options;
  options.data_files = {"/nonexistent.ptd"};
  EXPECT_EQ(Module::load(kExternal, options).error(), Error::NotFound);
  options.data_files = {kInline};  // no data file
  EXPECT_EQ(Module::load(kExternal, options).error(), Error::InvalidExternalData);
}

// A map of the application's own, over memory that it counts and checks.
class CountingMap final : public NamedDataMap {
 public:
  explicit CountingMap(const FlatDataMap& from) {
    for (uint32_t i = 0; i < *from.get_num_keys(); ++i) {
      const char* key = *from.get_key(i);
      const Result<FreeableBuffer> data = from.get_data(key);
      const char* bytes = static_cast<const char*>(data->data());
      data_[key].assign(bytes, bytes + data->size());
    }
  }

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    const auto it = data_.find(std::string(key));
    if (it == data_.end()) return Error::NotFound;
    ++handed_out;
    return FreeableBuffer(
        it->second.data(), it->second.size(),
        [](void* context, void*, size_t) { ++static_cast<const CountingMap*>(context)->freed; },
        const_cast<CountingMap*>(this));
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(data_.size()); }
  Result<const char*> get_key(uint32_t index) const override {
    if (index >= data_.size()) return Error::InvalidArgument;
    return std::next(data_.begin(), index)->first.c_str();
  }

  mutable int handed_out = 0;
  mutable int freed = 0;

 private:
  std::map<std::string, std::vector<char>> data_;
};

TEST_F(ModuleTest, TakesADataMapOfTheApplication) {
  Result<FileDataLoader> loader = FileDataLoader::from(kExternalData);
  ASSERT_TRUE(loader.ok());
  Result<FlatDataMap> flat = FlatDataMap::load(&*loader);
  ASSERT_TRUE(flat.ok());
  const CountingMap map(*flat);
  {
    Module::Options options;
    options.named_data_map = &map;
    EXPECT_GE(count_right(kExternal, options), 47);
    EXPECT_GT(map.handed_out, 0);
  }
  EXPECT_EQ(map.freed, map.handed_out);
}

// A .safetensors file of the tensors of another.
std::string safetensors_of(const FlatDataMap& from) {
  std::string index;
  std::string content;
  for (uint32_t i = 0; i < *from.get_num_keys(); ++i) {
    const char* key = *from.get_key(i);
    const Result<FreeableBuffer> data = from.get_data(key);
    std::string shape;
    for (const int32_t size : from.get_tensor_layout(key)->sizes()) {
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    }
    index += std::string(i == 0 ? "{" : ",") + "\"" + key + R"(":{"dtype":"F32","shape":[)" +
             shape + R"(],"data_offsets":[)" + std::to_string(content.size()) + ",";
    content.append(static_cast<const char*>(data->data()), data->size());
    index += std::to_string(content.size()) + "]}";
  }
  index += "}";
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(index.size() >> 8 * i);
  return length + index + content;
}

TEST_F(ModuleTest, ReadsOtherDataWithTheReaderThatItIsGivenOnly) {
  Result<FileDataLoader> loader = FileDataLoader::from(kKernelsExternalData);
  ASSERT_TRUE(loader.ok());
  Result<FlatDataMap> flat = FlatDataMap::load(&*loader);
  ASSERT_TRUE(flat.ok());
  const std::string file = safetensors_of(*flat);
  const std::string path = testing::TempDir() + "weights.safetensors";
  std::ofstream(path, std::ios::binary) << file;

  Module::Options options;
  options.data_files = {path};
  std::vector<std::string> messages;
  runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                           static_cast<std::vector<std::string>*>(context)->push_back(text);
                         },
                         &messages});
  EXPECT_EQ(Module::load(kKernelsExternal, options).error(), Error::InvalidExternalData);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0],
            "data file has no FT01 at byte 4, so it is no .ptd; Module::Options::other_data can "
            "name a reader of other files, such as read_safetensors");
  EXPECT_EQ(messages[1], path + " cannot be used as external data");
  runtime::set_log_hook(runtime::LogHook{});

  options.other_data = read_safetensors;
  EXPECT_GE(count_right(kKernelsExternal, options), 47);
  options.data_files.clear();
  options.data_loaders = {std::make_shared<BufferDataLoader>(file.data(), file.size())};
  EXPECT_GE(count_right(kKernelsExternal, options), 47);
  // A reader of others does not get .ptd files, nor what is too short for any.
  options.data_loaders.clear();
  options.data_files = {kKernelsExternalData};
  options.other_data = [](runtime::DataLoader*) -> Result<std::unique_ptr<NamedDataMap>> {
    return Error::Internal;
  };
  EXPECT_GE(count_right(kKernelsExternal, options), 47);
  options.data_files.clear();
  options.data_loaders = {std::make_shared<BufferDataLoader>(file.data(), 7)};
  EXPECT_EQ(Module::load(kKernelsExternal, options).error(), Error::InvalidExternalData);
  options.data_loaders = {std::make_shared<BufferDataLoader>(file.data(), 8)};
  EXPECT_EQ(Module::load(kKernelsExternal, options).error(), Error::Internal);
}

TEST_F(ModuleTest, MergesSeveralDataFiles) {
  Module::Options options;
  options.data_files = {kExternalData, kKernelsExternalData, kExternalData};
  EXPECT_GE(count_right(kExternal, options), 47);
}

TEST_F(ModuleTest, ModulesAreIndependent) {
  Module::Options options;
  options.data_files = {kExternalData};
  auto a = Module::load(kExternal, options);
  auto b = Module::load(kInline);
  ASSERT_TRUE(a.ok() && b.ok());
  int label = 0;
  const TensorPtr one = image(1, &label);
  const TensorPtr two = image(2, &label);
  const auto first = (*a)->forward({*one});
  ASSERT_TRUE(first.ok());
  const runtime::Tensor scores = (*first)[0].toTensor();
  const std::vector<float> before(scores.const_data_ptr<float>(),
                                  scores.const_data_ptr<float>() + 10);
  ASSERT_TRUE((*b)->forward({*two}).ok());
  (*b).reset();
  const auto again = (*a)->forward({*one});
  ASSERT_TRUE(again.ok());
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ((*again)[0].toTensor().const_data_ptr<float>()[i], before[i]);
  }
}

}  // namespace
}  // namespace petrel::extension
