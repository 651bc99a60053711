// SPDX-License-Identifier: Apache-2.0
//
// Data of modules, on every way in: files that are mapped or read, buffers,
// descriptors and maps of the app.
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/flat_data/flat_data_map.h"
#include "extension/module/given_data.h"
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

// The scores of the classifier for an image that is gray everywhere.
std::vector<float> scores(Module& module) {
  const TensorPtr image = make_tensor_ptr({1, 1, 8, 8}, std::vector<float>(64, 0.5f));
  const Result<std::vector<EValue>> outputs = module.forward({*image});
  if (!outputs.ok()) return {};
  const float* const begin = (*outputs)[0].toTensor().const_data_ptr<float>();
  return {begin, begin + 10};
}

// A program whose weights are keyed by name: outside, where a delegate has them or
// kernels, and inside, where data counts before what the program has.
struct Swappable {
  const char* name;
  const char* weight;  // of the last layer
  bool is_inside;
};
constexpr Swappable kSwappable[] = {{"swap", "score.weight", false},
                                    {"kernels_swap", "score.weight@permute_1_0", false},
                                    {"inside_swap", "score.weight", true}};

// A map in which one weight is one row.
class Misshapen final : public runtime::NamedDataMap {
 public:
  Misshapen(const FlatDataMap& map, std::string key) : map_(map), key_(std::move(key)) {}
  Result<runtime::FreeableBuffer> get_data(std::string_view key) const override {
    return map_.get_data(key);
  }
  Result<uint32_t> get_num_keys() const override { return map_.get_num_keys(); }
  Result<const char*> get_key(uint32_t index) const override { return map_.get_key(index); }
  Result<const runtime::TensorLayout> get_tensor_layout(std::string_view key) const override {
    static constexpr int32_t kSizes[] = {1, 640};
    static constexpr uint8_t kOrder[] = {0, 1};
    if (key != key_) return map_.get_tensor_layout(key);
    return runtime::TensorLayout::create(kSizes, kOrder, runtime::ScalarType::Float);
  }

 private:
  const FlatDataMap& map_;
  const std::string key_;
};

class ReplaceDataTest : public ModuleDataTest {
 protected:
  // The files of `swap` fit `inside_swap`.
  static std::string file_of(const Swappable& program) {
    return std::string("extension/module/") + (program.is_inside ? "swap" : program.name) + ".ptd";
  }

  std::unique_ptr<Module> load(const Swappable& program, Given* base) {
    Module::Options options;
    if (program.is_inside) {
      options.data_precedence = runtime::DataPrecedence::ExternalFirst;
    } else {
      base->add_to(&options);
    }
    auto module = Module::load(std::string("extension/module/") + program.name + ".pte", options);
    EXPECT_TRUE(module.ok()) << messages_;
    return module.ok() ? std::move(*module) : nullptr;
  }
};

TEST_P(ReplaceDataTest, TakesOtherWeightsIntoALoadedModule) {
  for (const Swappable& program : kSwappable) {
    SCOPED_TRACE(program.name);
    const std::string path = file_of(program);
    Given base(GetParam(), read_file(path));
    const auto module = load(program, &base);
    ASSERT_NE(module, nullptr);
    const std::vector<float> before = scores(*module);
    ASSERT_EQ(before.size(), 10u);

    // Without the last weight, the scores are the last bias.
    Given given(GetParam(), altered(path, {{program.weight, 0}, {"score.bias", 2.5f}}));
    DataSources data;
    given.add_to(&data);
    const Result<Module::Replaced> all = module->replace_data(data);
    ASSERT_TRUE(all.ok()) << messages_;
    EXPECT_EQ(all->keys, 8u);
    EXPECT_EQ(all->changed, 2u);
    const bool is_delegated = std::string(program.name) != "kernels_swap";
    EXPECT_EQ(all->delegates, is_delegated ? 1u : 0u);
    EXPECT_EQ(all->tensors, is_delegated ? 0u : 2u);
    EXPECT_EQ(scores(*module), std::vector<float>(10, 2.5f));

    // And back, one key at a time.
    Given first(GetParam(), read_file(path));
    data = DataSources();
    first.add_to(&data);
    ASSERT_TRUE(module->replace_data(data, "score.weight*").ok()) << messages_;
    const std::vector<float> between = scores(*module);
    EXPECT_NE(between, before);
    ASSERT_TRUE(module->replace_data(data, "score.bias").ok()) << messages_;
    EXPECT_EQ(scores(*module), before);
  }
}

TEST_P(ReplaceDataTest, ReachesMethodsThatAreLoadedLater) {
  for (const Swappable& program : kSwappable) {
    SCOPED_TRACE(program.name);
    const std::string path = file_of(program);
    Given base(GetParam(), read_file(path));
    const auto module = load(program, &base);
    ASSERT_NE(module, nullptr);
    Given given(GetParam(), altered(path, {{program.weight, 0}, {"score.bias", -1}}));
    DataSources data;
    given.add_to(&data);
    const Result<Module::Replaced> replaced = module->replace_data(data);
    ASSERT_TRUE(replaced.ok()) << messages_;
    EXPECT_EQ(replaced->delegates + replaced->tensors, 0u);
    EXPECT_EQ(scores(*module), std::vector<float>(10, -1));
    module->unload_method("forward");
    Given other(GetParam(), altered(path, {{"score.bias", 7}}));
    data = DataSources();
    other.add_to(&data);
    ASSERT_TRUE(module->replace_data(data, "score.bias").ok()) << messages_;
    EXPECT_EQ(scores(*module), std::vector<float>(10, 7));
  }
}

TEST_P(ReplaceDataTest, SaysWhenNothingChanges) {
  const Swappable& program = kSwappable[0];
  Given base(GetParam(), read_file(file_of(program))),
      same(GetParam(), read_file(file_of(program)));
  const auto module = load(program, &base);
  ASSERT_NE(module, nullptr);
  const std::vector<float> before = scores(*module);
  DataSources data;
  same.add_to(&data);
  const Result<Module::Replaced> replaced = module->replace_data(data);
  ASSERT_TRUE(replaced.ok()) << messages_;
  EXPECT_EQ(replaced->keys, 8u);
  EXPECT_EQ(replaced->changed, 0u);
  EXPECT_THAT(messages_, HasSubstr("the data changes no weight: all 8 that \"*\" matches"));
  EXPECT_EQ(module->replace_data(data, "*lora*").error(), Error::NotFound);
  EXPECT_THAT(messages_, HasSubstr("no key of the data matches \"*lora*\""));
  EXPECT_EQ(module->replace_data(DataSources()).error(), Error::InvalidArgument);
  Given other(GetParam(), read_file("extension/module/kernels_swap.ptd"));
  data = DataSources();
  other.add_to(&data);
  EXPECT_EQ(module->replace_data(data, "*permute*").error(), Error::NotFound);
  EXPECT_THAT(messages_, HasSubstr("needs none of the 1 keys of the data that match, such as "
                                   "\"score.weight@permute_1_0\""));
  EXPECT_EQ(scores(*module), before);
}

// Keys of another program: the data may wait for a method, or nobody wants them.
TEST_P(ReplaceDataTest, SaysWhenNoMethodUsesWhatChanges) {
  if (GetParam() == Way::Map) return;  // there is one map of the app
  const char* const key = "score.weight@permute_1_0";
  const std::string others = "extension/module/kernels_swap.ptd";
  Given base(GetParam(), read_file(file_of(kSwappable[0]))), unused(GetParam(), read_file(others));
  Module::Options options;
  base.add_to(&options);
  const auto module = Module::load("extension/module/swap.pte", options);
  ASSERT_TRUE(module.ok()) << messages_;
  DataSources data;
  unused.add_to(&data);
  const auto waits = (*module)->replace_data(data, key);
  ASSERT_TRUE(waits.ok()) << messages_;
  EXPECT_THAT(waits->warning, HasSubstr("no loaded method is known to need"));
  EXPECT_THAT(messages_, HasSubstr(waits->warning));
  const std::vector<float> before = scores(**module);
  ASSERT_EQ(before.size(), 10u);

  Given other(GetParam(), altered(others, {{key, 0}}));
  data = DataSources();
  other.add_to(&data);
  const auto in_vain = (*module)->replace_data(data, key);
  ASSERT_TRUE(in_vain.ok()) << messages_;
  EXPECT_EQ(in_vain->changed, 1u);
  EXPECT_THAT(in_vain->warning, HasSubstr("no method uses what changes, such as \"score.weight@"));
  EXPECT_EQ(scores(**module), before);
  // Beside keys that are needed they do no harm.
  Given first(GetParam(), altered(file_of(kSwappable[0]), {{"score.bias", 3}}));
  data = DataSources();
  first.add_to(&data);
  other.add_to(&data);
  data.data_order = MergeOrder::FirstCounts;
  const auto replaced = (*module)->replace_data(data);
  ASSERT_TRUE(replaced.ok()) << messages_;
  EXPECT_EQ(replaced->warning, "");
  EXPECT_EQ(replaced->delegates, 1u);
}

TEST_P(ReplaceDataTest, LeavesTheModuleAsItWasWhenItFails) {
  for (const Swappable& program : kSwappable) {
    SCOPED_TRACE(program.name);
    const std::string path = file_of(program);
    Given base(GetParam(), read_file(path));
    const auto module = load(program, &base);
    ASSERT_NE(module, nullptr);
    const std::vector<float> before = scores(*module);
    // Right under one key, and of another layout under another one.
    const std::string right = altered(path, {{"score.bias", 1}});
    const BufferDataLoader loader(right.data(), right.size());
    const Result<FlatDataMap> map = FlatDataMap::load(const_cast<BufferDataLoader*>(&loader));
    const Misshapen misshapen(*map, program.weight);
    EXPECT_EQ(module->replace_data(misshapen).error(), Error::InvalidExternalData) << messages_;
    EXPECT_EQ(scores(*module), before);
    // Keys that the pattern leaves out may be anything.
    ASSERT_TRUE(module->replace_data(misshapen, "score.bias").ok()) << messages_;
    EXPECT_NE(scores(*module), before);
  }
}

TEST_P(ReplaceDataTest, KeepsWhatAProgramIsBoundToAndWhatLiesInIt) {
  const std::string path = "extension/module/bound.ptd";
  Given base(GetParam(), read_file(path));
  std::string bytes = read_file(path);
  bytes.back() ^= 1;
  Given other(GetParam(), bytes);
  Module::Options options;
  base.add_to(&options);
  const auto bound = Module::load("extension/module/bound.pte", options);
  ASSERT_TRUE(bound.ok());
  const std::vector<float> before = scores(**bound);
  DataSources data;
  other.add_to(&data);
  EXPECT_EQ((*bound)->replace_data(data).error(), Error::InvalidExternalData);
  EXPECT_THAT(messages_, HasSubstr("has other bytes than those the program is bound to"));
  EXPECT_EQ(scores(**bound), before);

  // Without the precedence of data, what lies in the program stays.
  const auto inside = Module::load("extension/module/inside_swap.pte");
  ASSERT_TRUE(inside.ok());
  Given third(GetParam(), altered("extension/module/swap.ptd", {{"score.bias", 1}}));
  data = DataSources();
  third.add_to(&data);
  EXPECT_EQ((*inside)->replace_data(data).error(), Error::InvalidExternalData);
  EXPECT_THAT(messages_, HasSubstr("\"score.bias\" lies in the program with other bytes"));
  EXPECT_EQ(scores(**inside), before);
}

TEST_P(ReplaceDataTest, ManyTimesTakesNoMoreMemoryThanTwice) {
  for (const Swappable& program : kSwappable) {
    SCOPED_TRACE(program.name);
    const std::string path = file_of(program);
    Given base(GetParam(), read_file(path));
    Given given[] = {Given(GetParam(), altered(path, {{program.weight, 0}, {"score.bias", 0}})),
                     Given(GetParam(), altered(path, {{program.weight, 0}, {"score.bias", 1}}))};
    const auto module = load(program, &base);
    ASSERT_NE(module, nullptr);
    ASSERT_FALSE(scores(*module).empty());
    size_t in_use = 0;
    constexpr int kSwaps = 100;
    for (int i = 0; i < kSwaps; ++i) {
      DataSources data;
      given[i % 2].add_to(&data);
      ASSERT_TRUE(module->replace_data(data, "score.*").ok()) << messages_;
      ASSERT_EQ(scores(*module), std::vector<float>(10, static_cast<float>(i % 2)));
      const size_t now = mallinfo2().uordblks;
      if (i < 4) in_use = std::max(in_use, now);
      // A copy of the last layer for each swap would be 260,000 bytes.
      if (i == kSwaps - 1) {
        EXPECT_LE(now, in_use + 65536);
      }
    }
  }
}

TEST_P(ReplaceDataTest, ShowsWeightsByName) {
  for (const Swappable& program : kSwappable) {
    SCOPED_TRACE(program.name);
    const std::string path = file_of(program);
    Given base(GetParam(), read_file(path));
    Given given(GetParam(), altered(path, {{"score.bias", 3}}));
    const auto module = load(program, &base);
    ASSERT_NE(module, nullptr);
    DataSources data;
    given.add_to(&data);
    ASSERT_TRUE(module->replace_data(data).ok()) << messages_;
    const auto bytes = module->get_data("score.bias");
    ASSERT_TRUE(bytes.ok()) << messages_;
    ASSERT_EQ(bytes->size(), 40u);
    EXPECT_EQ(static_cast<const float*>(bytes->data())[9], 3);
    const auto bias = module->get_attribute("forward", "score.bias");
    if (std::string(program.name) == "kernels_swap") {
      ASSERT_TRUE(bias.ok()) << messages_;
      EXPECT_EQ(bias->numel(), 10);
      EXPECT_EQ(bias->const_data_ptr<float>()[9], 3);
    } else {
      EXPECT_EQ(bias.error(), Error::NotFound);
    }
    EXPECT_EQ(module->get_attribute("forward", "nothing").error(), Error::NotFound);
    EXPECT_THAT(messages_, HasSubstr("\"forward\" has no weight or state \"nothing\""));
    EXPECT_EQ(module->get_data("nothing").error(), Error::NotFound);
    EXPECT_EQ(module->share_data("nothing").error(), Error::NotFound);
  }
}

TEST_P(ReplaceDataTest, SharesBytesThatOutliveTheModule) {
  for (const Swappable& program : kSwappable) {
    SCOPED_TRACE(program.name);
    const std::string path = file_of(program);
    Given base(GetParam(), altered(path, {{"score.bias", 3}}));
    Given given(GetParam(), altered(path, {{"score.bias", 4}}));
    auto module = load(program, &base);
    ASSERT_NE(module, nullptr);
    DataSources data;
    if (program.is_inside) {
      base.add_to(&data);
      ASSERT_TRUE(module->replace_data(data).ok()) << messages_;
    }
    const auto before = module->share_data("score.bias");
    ASSERT_TRUE(before.ok()) << messages_;
    data = DataSources();
    given.add_to(&data);
    ASSERT_TRUE(module->replace_data(data).ok()) << messages_;
    const auto after = module->share_data("score.bias");
    const char* const key = program.is_inside ? "stem.0.weight@stem.1" : "score.bias";
    const auto own = module->share_data(key);
    ASSERT_TRUE(after.ok() && own.ok()) << messages_;
    const auto wanted = module->get_data(key);
    ASSERT_TRUE(wanted.ok()) << messages_;
    const std::string bytes(static_cast<const char*>(wanted->data()), wanted->size());
    module.reset();
    EXPECT_EQ(static_cast<const float*>(before->data)[9], 3);
    EXPECT_EQ(static_cast<const float*>(after->data)[9], 4);
    EXPECT_EQ(own->size, program.is_inside ? 576u : 40u);
    EXPECT_EQ(std::string(static_cast<const char*>(own->data), own->size), bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModuleDataTest, testing::ValuesIn(kWays), name_of_way);
INSTANTIATE_TEST_SUITE_P(All, ReplaceDataTest, testing::ValuesIn(kWays), name_of_way);

}  // namespace
}  // namespace petrel::extension
