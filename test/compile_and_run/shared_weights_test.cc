// SPDX-License-Identifier: Apache-2.0
//
// Other weights for two methods that share them, one delegated and one on kernels: as they
// are, transposed, folded, tied to each other; and data that fits a plan or a packed form
// only at first sight. On every way in.
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "extension/flat_data/flat_data_map.h"
#include "extension/module/given_data.h"
#include "extension/module/module.h"
#include "extension/tensor/tensor_ptr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::compile_and_run {
namespace {

using extension::altered;
using extension::BufferDataLoader;
using extension::DataSources;
using extension::FlatDataMap;
using extension::Given;
using extension::make_tensor_ptr;
using extension::Module;
using extension::read_file;
using extension::TensorPtr;
using extension::Way;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::ScalarType;
using ::testing::HasSubstr;

const std::string kDecoder = "test/compile_and_run/decoder.swap";

std::vector<float> floats(const EValue& value) {
  const float* data = value.toTensor().const_data_ptr<float>();
  return {data, data + value.toTensor().numel()};
}

std::vector<float> prefill(Module& module) {
  const TensorPtr prompt = make_tensor_ptr<int64_t>({1, 8}, {3, 1, 4, 1, 5, 9, 2, 6});
  const Result<std::vector<EValue>> out = module.execute("prefill", {EValue(*prompt)});
  return out.ok() ? floats((*out)[0]) : std::vector<float>();
}

std::vector<float> decode(Module& module) {
  const TensorPtr token = make_tensor_ptr<int64_t>({1, 1}, {7});
  const TensorPtr at = make_tensor_ptr<int64_t>({1}, {8});
  const Result<std::vector<EValue>> out = module.execute("decode", {EValue(*token), EValue(*at)});
  return out.ok() ? floats((*out)[0]) : std::vector<float>();
}

// Logits of a prompt and of the token after it.
std::vector<float> generate(Module& module) {
  std::vector<float> both = prefill(module);
  const std::vector<float> second = decode(module);
  EXPECT_FALSE(both.empty() || second.empty());
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

class SharedWeights : public testing::TestWithParam<Way> {
 protected:
  SharedWeights() {
    runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                             *static_cast<std::string*>(context) += std::string(text) + "\n";
                           },
                           &messages_});
  }
  ~SharedWeights() override { runtime::set_log_hook(runtime::LogHook{}); }

  std::unique_ptr<Module> load(const std::string& stem, Given* data) {
    Module::Options options;
    options.num_threads = 1;
    data->add_to(&options);
    auto module = Module::load(stem + ".pte", options);
    EXPECT_TRUE(module.ok()) << messages_;
    return module.ok() ? std::move(*module) : nullptr;
  }

  Result<Module::Replaced> replace(Module& module, Given* data, const std::string& keys) {
    DataSources sources;
    data->add_to(&sources);
    return module.replace_data(sources, keys);
  }

  std::string messages_;
};

struct Swap {
  const char* pattern;
  std::map<std::string, float> elements;
  size_t changed;
  size_t delegates, tensors;  // at least
};

const Swap kSwaps[] = {
    // One key for both; all norms are the same bytes in the file.
    {"*", {{"decoder.norm.weight", 0.5f}}, 5, 1, 5},
    // Transposed for kernels: the name of the weight stands for all its forms.
    {"decoder.blocks.0.up.weight",
     {{"decoder.blocks.0.up.weight", 0.01f}, {"decoder.blocks.0.up.weight@permute_1_0", 0.01f}},
     2,
     1,
     1},
    // Tied: a table of embeddings and a product.
    {"decoder.head.weight",
     {{"decoder.head.weight", 0.1f}, {"decoder.head.weight@permute_1_0", 0.1f}},
     2,
     1,
     3},
    // Folded for one of them.
    {"decoder.cos", {{"decoder.cos", 0.25f}}, 1, 0, 1},
    {"*",
     {{"decoder.blocks.1.down.weight", 0}, {"decoder.blocks.1.down.weight@permute_1_0", 0}},
     2,
     1,
     1},
};

TEST_P(SharedWeights, ReachBothMethodsInEveryForm) {
  for (const Swap& swap : kSwaps) {
    SCOPED_TRACE(swap.pattern);
    const std::string bytes = altered(kDecoder + ".ptd", swap.elements);
    Given base(GetParam(), read_file(kDecoder + ".ptd")), other(GetParam(), bytes);
    const auto wanted = load(kDecoder, &other);
    const auto module = load(kDecoder, &base);
    ASSERT_TRUE(module != nullptr && wanted != nullptr);
    const std::vector<float> before = generate(*module), after = generate(*wanted);
    ASSERT_NE(before, after);
    const auto replaced = replace(*module, &other, swap.pattern);
    ASSERT_TRUE(replaced.ok()) << messages_;
    EXPECT_EQ(replaced->changed, swap.changed);
    EXPECT_GE(replaced->delegates, swap.delegates);
    EXPECT_GE(replaced->tensors, swap.tensors);
    EXPECT_EQ(generate(*module), after);
    // One method goes and comes again, and then the first weights.
    module->unload_method("prefill");
    EXPECT_EQ(generate(*module), after);
    module->unload_method("decode");
    ASSERT_TRUE(replace(*module, &base, swap.pattern).ok()) << messages_;
    EXPECT_EQ(generate(*module), before);
  }
}

TEST_P(SharedWeights, ReachAMethodThatIsLoadedLater) {
  const Swap& swap = kSwaps[2];
  Given base(GetParam(), read_file(kDecoder + ".ptd"));
  Given other(GetParam(), altered(kDecoder + ".ptd", swap.elements));
  const auto wanted = load(kDecoder, &other), module = load(kDecoder, &base);
  ASSERT_TRUE(module != nullptr && wanted != nullptr);
  ASSERT_FALSE(prefill(*module).empty());
  ASSERT_TRUE(replace(*module, &other, swap.pattern).ok()) << messages_;
  EXPECT_EQ(generate(*module), generate(*wanted));
}

// Two modules have packed the same weights; one is swapped while the other runs.
TEST_P(SharedWeights, OfAnotherModuleStayWhileOneIsSwapped) {
  Given base(GetParam(), read_file(kDecoder + ".ptd"));
  Given other(GetParam(), altered(kDecoder + ".ptd", kSwaps[1].elements));
  const auto runs = load(kDecoder, &base), swapped = load(kDecoder, &base);
  ASSERT_TRUE(runs != nullptr && swapped != nullptr);
  const std::vector<float> before = generate(*runs);
  ASSERT_EQ(generate(*swapped), before);
  runtime::set_log_hook(runtime::LogHook{});  // it is not for two threads
  std::atomic<bool> done{false};
  std::thread swapping([&] {
    for (int i = 0; i < 40; ++i) {
      EXPECT_TRUE(replace(*swapped, i % 2 == 0 ? &other : &base, kSwaps[1].pattern).ok());
    }
    done = true;
  });
  int rounds = 0;
  do {
    runs->unload_method("decode");
    EXPECT_EQ(generate(*runs), before);
    ++rounds;
  } while (!done);
  swapping.join();
  EXPECT_GT(rounds, 0);
  EXPECT_EQ(generate(*swapped), before);
}

// A map that answers for some keys with what a test says.
class Odd final : public runtime::NamedDataMap {
 public:
  Odd(const FlatDataMap& map, std::string key, ScalarType type, std::vector<int32_t> sizes,
      size_t bytes, bool tells_layouts)
      : map_(map),
        key_(std::move(key)),
        type_(type),
        sizes_(std::move(sizes)),
        order_(sizes_.size()),
        bytes_(bytes),
        tells_layouts_(tells_layouts) {
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<uint8_t>(i);
  }
  Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    if (key != key_) return map_.get_data(key);
    return runtime::FreeableBuffer(bytes_.data(), bytes_.size(), nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return map_.get_num_keys(); }
  Result<const char*> get_key(uint32_t index) const override { return map_.get_key(index); }
  Result<const runtime::TensorLayout> get_tensor_layout(std::string_view key) const override {
    if (!tells_layouts_) return Error::NotImplemented;
    if (key != key_) return map_.get_tensor_layout(key);
    return runtime::TensorLayout::create({sizes_.data(), sizes_.size()},
                                         {order_.data(), order_.size()}, type_);
  }

 private:
  const FlatDataMap& map_;
  const std::string key_;
  const ScalarType type_;
  const std::vector<int32_t> sizes_;
  std::vector<uint8_t> order_;
  const std::vector<char> bytes_;
  const bool tells_layouts_;
};

TEST_P(SharedWeights, OfOtherTypesShapesAndSizesAreRefusedByName) {
  if (GetParam() != Way::Map) return;  // what a file can say is one of these
  const std::string bytes = read_file(kDecoder + ".ptd");
  const BufferDataLoader loader(bytes.data(), bytes.size());
  const Result<FlatDataMap> map = FlatDataMap::load(const_cast<BufferDataLoader*>(&loader));
  Given base(GetParam(), bytes);
  const auto module = load(kDecoder, &base);
  ASSERT_NE(module, nullptr);
  const std::vector<float> before = generate(*module);
  // Of the delegate, of kernels, of both.
  const std::map<std::string, std::vector<int32_t>> keys = {
      {"decoder.blocks.0.up.weight", {128, 32}},
      {"decoder.blocks.0.up.weight@permute_1_0", {32, 128}},
      {"decoder.norm.weight", {32}}};
  for (const auto& [key, sizes] : keys) {
    size_t count = sizeof(float);
    for (const int32_t size : sizes) count *= static_cast<size_t>(size);
    std::vector<int32_t> turned(sizes.rbegin(), sizes.rend()), longer = sizes;
    longer[0] *= 2;
    if (turned == sizes) turned = {1, sizes[0]};
    const Odd odd[] = {{*map, key, ScalarType::Int, sizes, count, true},
                       {*map, key, ScalarType::Float, turned, count, true},
                       {*map, key, ScalarType::Float, longer, 2 * count, true},
                       {*map, key, ScalarType::Float, sizes, count - 4, false},
                       {*map, key, ScalarType::Float, sizes, 2 * count, false},
                       {*map, key, ScalarType::Float, sizes, 0, false}};
    for (const Odd& other : odd) {
      messages_.clear();
      EXPECT_EQ(module->replace_data(other, key).error(), Error::InvalidExternalData) << key;
      EXPECT_THAT(messages_, HasSubstr("\"" + key + "\""));
      EXPECT_EQ(generate(*module), before);
    }
  }
}

// Scales that XNNPACK takes for granted when it packs.
TEST_P(SharedWeights, ScalesThatNoPackedFormHasAreRefusedByName) {
  const std::string stem = "test/compile_and_run/int8.swap";
  Given base(GetParam(), read_file(stem + ".ptd"));
  const auto module = load(stem, &base);
  ASSERT_NE(module, nullptr);
  const TensorPtr x = make_tensor_ptr({3, 64}, std::vector<float>(192, 0.5f));
  const auto run = [&] {
    const Result<std::vector<EValue>> out = module->forward({EValue(*x)});
    return out.ok() ? floats((*out)[0]) : std::vector<float>();
  };
  const std::vector<float> before = run();
  ASSERT_FALSE(before.empty());
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float scale : {0.0f, -1.0f, infinity, std::nanf(""), 1e-42f, 1e30f}) {
    messages_.clear();
    Given other(GetParam(), altered(stem + ".ptd", {{"_scale_0", scale}}));
    EXPECT_FALSE(replace(*module, &other, "*").ok()) << scale;
    EXPECT_THAT(messages_, HasSubstr("'_scale_0'")) << scale;
    EXPECT_EQ(run(), before);
  }
  Given other(GetParam(), altered(stem + ".ptd", {{"_scale_0", 0.004f}}));
  const auto replaced = replace(*module, &other, "*");
  ASSERT_TRUE(replaced.ok()) << messages_;
  EXPECT_EQ(replaced->delegates, 1u);
  const std::vector<float> after = run();
  EXPECT_NE(after, before);
  const auto wanted = load(stem, &other);
  ASSERT_NE(wanted, nullptr);
  const Result<std::vector<EValue>> out = wanted->forward({EValue(*x)});
  ASSERT_TRUE(out.ok()) << messages_;
  EXPECT_EQ(floats((*out)[0]), after);
}

// A map of one key.
class OneKey final : public runtime::NamedDataMap {
 public:
  OneKey(std::string key, std::vector<float> values)
      : key_(std::move(key)), values_(std::move(values)) {}
  Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    if (key != key_) return Error::NotFound;
    return runtime::FreeableBuffer(values_.data(), values_.size() * sizeof(float), nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return 1; }
  Result<const char*> get_key(uint32_t index) const override {
    if (index > 0) return Error::InvalidArgument;
    return key_.c_str();
  }

 private:
  const std::string key_;
  const std::vector<float> values_;
};

// What is not a key of the program but the name of what a key was made of, too.
TEST_P(SharedWeights, OfWhichOneFormIsGivenAreRefusedByName) {
  if (GetParam() != Way::Map) return;  // what a file can say is one of these
  const std::string bytes = read_file(kDecoder + ".ptd");
  Given base(GetParam(), bytes);
  const auto module = load(kDecoder, &base);
  ASSERT_NE(module, nullptr);
  const std::vector<float> before = generate(*module);
  const std::string weight = "decoder.blocks.0.up.weight";
  for (const std::string& form : {weight, weight + "@permute_1_0"}) {
    messages_.clear();
    const OneKey part(form, std::vector<float>(32 * 128, 0.25f));
    EXPECT_EQ(module->replace_data(part, "*").error(), Error::InvalidExternalData);
    EXPECT_THAT(messages_, HasSubstr("belongs to \"" + form + "\""));
  }
  EXPECT_EQ(generate(*module), before);
}

// A bias of integers is computed from the scales of its weight.
TEST_P(SharedWeights, OfWhichAPartIsGivenAreRefusedByName) {
  const std::string stem = "test/compile_and_run/int8.swap";
  const std::string bytes = read_file(stem + ".ptd");
  Given base(GetParam(), bytes);
  const auto module = load(stem, &base);
  ASSERT_NE(module, nullptr);
  Given other(GetParam(), altered(stem + ".ptd", {{"_scale_0", 0.004f}}));
  for (const char* part : {"_scale_0", "_scale*", "_*"}) {
    messages_.clear();
    EXPECT_EQ(replace(*module, &other, part).error(), Error::InvalidExternalData) << part;
    EXPECT_THAT(messages_, HasSubstr("belongs to \"_scale_0\", of which other data is given"));
  }
  EXPECT_TRUE(replace(*module, &other, "*").ok()) << messages_;

  // Where the first file counts, it must have all that belongs together, too.
  const BufferDataLoader loader(bytes.data(), bytes.size());
  const Result<FlatDataMap> whole = FlatDataMap::load(const_cast<BufferDataLoader*>(&loader));
  const OneKey part("_scale_0", std::vector<float>(64, 0.004f));
  for (const bool part_first : {true, false}) {
    messages_.clear();
    Module::Options options;
    options.data_order = extension::MergeOrder::FirstCounts;
    options.data_maps = {{std::shared_ptr<void>(), &part}, {std::shared_ptr<void>(), &*whole}};
    if (!part_first) std::swap(options.data_maps[0], options.data_maps[1]);
    EXPECT_EQ(Module::load(stem + ".pte", options).ok(), !part_first) << messages_;
    EXPECT_THAT(messages_, HasSubstr(part_first ? "belongs to \"_scale_0\"" : ""));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SharedWeights, testing::ValuesIn(extension::kWays),
                         extension::name_of_way);

}  // namespace
}  // namespace petrel::compile_and_run
