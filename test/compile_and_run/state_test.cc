// SPDX-License-Identifier: Apache-2.0
//
// Programs of several methods that share state, through the Module facade,
// against what eager torch computed: a decoder with a key-value cache, and a
// counter whose state does not start as zeros.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "extension/module/module.h"
#include "extension/tensor/tensor_ptr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::compile_and_run {
namespace {

using extension::make_tensor_ptr;
using extension::Module;
using extension::TensorPtr;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using ::testing::ElementsAre;

constexpr int64_t kPrompt = 8;
constexpr int64_t kContext = 64;

// The elements of a `.npy` file of T.
template <typename T>
std::vector<T> read_npy(const std::string& name) {
  std::ifstream file("test/models/state/" + name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_GT(bytes.size(), 128u) << name;
  std::vector<T> elements((bytes.size() - 128) / sizeof(T));
  std::memcpy(elements.data(), bytes.data() + 128, elements.size() * sizeof(T));
  return elements;
}

template <typename T>
std::vector<T> elements(const EValue& value) {
  const T* data = value.toTensor().const_data_ptr<T>();
  return {data, data + value.toTensor().numel()};
}

std::unique_ptr<Module> load(const std::string& name, const Module::Options& options = {}) {
  auto module = Module::load("test/compile_and_run/" + name + ".pte", options);
  EXPECT_TRUE(module.ok());
  return module.ok() ? std::move(*module) : nullptr;
}

Result<std::vector<EValue>> prefill(Module& module) {
  const TensorPtr prompt =
      make_tensor_ptr<int64_t>({1, kPrompt}, read_npy<int64_t>("decoder.prompt.npy"));
  return module.execute("prefill", {EValue(*prompt)});
}

Result<std::vector<EValue>> decode(Module& module, const EValue& token, int64_t position) {
  const TensorPtr at = make_tensor_ptr<int64_t>({1}, {position});
  return module.execute("decode", {token, EValue(*at)});
}

void expect_near(const std::vector<float>& actual, const float* expected) {
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], 1e-4f) << "element " << i;
  }
}

class DecoderTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { runtime::set_log_hook(runtime::LogHook{}); }
};

// Each call's token is the next call's input, straight from the Module's memory.
void expect_generation(Module& module) {
  const std::vector<int64_t> tokens = read_npy<int64_t>("decoder.tokens.npy");
  const std::vector<float> logits = read_npy<float>("decoder.logits.npy");
  ASSERT_EQ(tokens.size(), 32u);
  ASSERT_GT(std::set<int64_t>(tokens.begin(), tokens.end()).size(), 10u);
  const size_t vocabulary = logits.size() / tokens.size();
  std::vector<EValue> last;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Result<std::vector<EValue>> out =
        i == 0 ? prefill(module) : decode(module, last[1], kPrompt + static_cast<int64_t>(i) - 1);
    ASSERT_TRUE(out.ok()) << i;
    last = *out;
    ASSERT_EQ(elements<int64_t>(last[1])[0], tokens[i]) << "token " << i;
    expect_near(elements<float>(last[0]), &logits[i * vocabulary]);
  }
}

TEST_P(DecoderTest, GeneratesTheTokensOfEagerTorch) {
  for (const bool share : {false, true}) {
    Module::Options options;
    options.share_memory_arenas = share;
    const auto module = load(GetParam(), options);
    ASSERT_NE(module, nullptr);
    expect_generation(*module);
    expect_generation(*module);  // prefill starts anew
  }
}

TEST_P(DecoderTest, DecodeWithoutPrefillSeesAnEmptyContext) {
  const auto fresh = load(GetParam());
  const auto used = load(GetParam());
  ASSERT_TRUE(prefill(*used).ok());
  const TensorPtr token = make_tensor_ptr<int64_t>({1, 1}, {5});
  const auto first = decode(*fresh, EValue(*token), kPrompt);
  const auto second = decode(*used, EValue(*token), kPrompt);
  ASSERT_TRUE(first.ok() && second.ok());
  const std::vector<float> a = elements<float>((*first)[0]);
  const std::vector<float> b = elements<float>((*second)[0]);
  EXPECT_TRUE(std::isfinite(a[0]));
  EXPECT_NE(a, b);
  // Position 0 has no context at all.
  const auto c = decode(*fresh, EValue(*token), 0);
  ASSERT_TRUE(c.ok());
  const std::vector<float> alone = elements<float>((*c)[0]);
  const auto d = decode(*used, EValue(*token), 0);
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(alone, elements<float>((*d)[0]));
}

TEST_P(DecoderTest, RefusesPositionsBeyondTheContextAndTokensBeyondTheTable) {
  const auto module = load(GetParam());
  ASSERT_TRUE(prefill(*module).ok());
  const TensorPtr token = make_tensor_ptr<int64_t>({1, 1}, {5});
  EXPECT_TRUE(decode(*module, EValue(*token), kContext - 1).ok());
  EXPECT_EQ(decode(*module, EValue(*token), kContext).error(), Error::InvalidArgument);
  EXPECT_EQ(decode(*module, EValue(*token), int64_t{1} << 40).error(), Error::InvalidArgument);
  for (const int64_t bad : {int64_t{64}, int64_t{-1}, INT64_MIN}) {
    const TensorPtr wrong = make_tensor_ptr<int64_t>({1, 1}, {bad});
    EXPECT_EQ(decode(*module, EValue(*wrong), kPrompt).error(), Error::InvalidArgument) << bad;
  }
  expect_generation(*module);  // still usable
}

TEST_P(DecoderTest, StateLivesAsLongAsAMethodThatHasIt) {
  const auto module = load(GetParam());
  const TensorPtr token = make_tensor_ptr<int64_t>({1, 1}, {5});
  const auto run = [&] { return elements<float>((*decode(*module, EValue(*token), kPrompt))[0]); };
  ASSERT_TRUE(prefill(*module).ok());
  const std::vector<float> with_context = run();
  module->unload_method("prefill");
  EXPECT_EQ(run(), with_context);
  ASSERT_EQ(module->load_method("prefill"), Error::Ok);
  module->unload_method("decode");
  EXPECT_EQ(run(), with_context);
  module->unload_method("prefill");
  module->unload_method("decode");
  EXPECT_NE(run(), with_context);
}

INSTANTIATE_TEST_SUITE_P(Backends, DecoderTest, testing::Values("decoder.none", "decoder.xnnpack"),
                         [](const auto& info) { return std::string(info.param + 8); });

std::vector<float> read(Module& counter) {
  const Result<std::vector<EValue>> out = counter.execute("read", {});
  return out.ok() ? elements<float>((*out)[0]) : std::vector<float>();
}

TEST(CounterTest, ReadsWhatTheOtherMethodAdded) {
  const auto module = load("counter");
  ASSERT_NE(module, nullptr);
  const TensorPtr x = make_tensor_ptr<float>({4}, {1, 1, 1, 0.5f});
  const auto added = module->execute("add", {EValue(*x)});
  ASSERT_TRUE(added.ok());
  EXPECT_THAT(elements<float>((*added)[0]), ElementsAre(2, 3, 4, 4.5f));
  // Loading `read` only now must not start the total anew.
  const auto total = module->execute("read", {});
  ASSERT_TRUE(total.ok());
  EXPECT_THAT(elements<float>((*total)[0]), ElementsAre(20, 30, 40, 45));
  ASSERT_TRUE(module->execute("add", {(*total)[0]}).ok());
  EXPECT_THAT(read(*module), ElementsAre(22 * 10, 33 * 10, 44 * 10, 49.5f * 10));
  module->unload_method("add");
  module->unload_method("read");
  EXPECT_THAT(read(*module), ElementsAre(10, 20, 30, 40));
}

TEST(CounterTest, ModulesHaveTheirOwnState) {
  const auto one = load("counter");
  const auto two = load("counter");
  const TensorPtr x = make_tensor_ptr<float>({4}, {1, 1, 1, 1});
  ASSERT_TRUE(one->execute("add", {EValue(*x)}).ok());
  EXPECT_THAT(read(*two), ElementsAre(10, 20, 30, 40));
}

// State whose first value lies in a data file.
TEST(CounterTest, StartsFromADataFileAndGoesOnWhenOtherDataTakesItsPlace) {
  constexpr char kFile[] = "test/compile_and_run/total.ptd";
  std::ifstream file(kFile, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (const auto mode : {Module::LoadMode::Mmap, Module::LoadMode::File}) {
    Module::Options options;
    options.load_mode = mode;
    options.data_files = {kFile};
    const auto module = load("counter_outside", options);
    ASSERT_NE(module, nullptr);
    EXPECT_THAT(read(*module), ElementsAre(10, 20, 30, 40));
    const TensorPtr x = make_tensor_ptr<float>({4}, {1, 1, 1, 1});
    ASSERT_TRUE(module->execute("add", {EValue(*x)}).ok());
    EXPECT_THAT(read(*module), ElementsAre(20, 30, 40, 50));
    const auto total = module->get_attribute("read", "counter.total");
    ASSERT_TRUE(total.ok());
    EXPECT_EQ(total->const_data_ptr<float>()[3], 5);

    // Equal data does not start it anew, other data does, in both methods.
    ASSERT_TRUE(module->replace_data(options).ok());
    EXPECT_THAT(read(*module), ElementsAre(20, 30, 40, 50));
    std::string other = bytes;
    const float first[] = {1, 2, 3, 4}, changed[] = {5, 6, 7, 8};
    const size_t place = other.find(std::string(reinterpret_cast<const char*>(first), 16));
    ASSERT_NE(place, std::string::npos);
    std::memcpy(other.data() + place, changed, sizeof(changed));
    const std::string path = testing::TempDir() + "other_total.ptd";
    std::ofstream(path, std::ios::binary) << other;
    extension::DataSources data;
    data.load_mode = mode;
    data.data_files = {path};
    const auto replaced = module->replace_data(data);
    ASSERT_TRUE(replaced.ok());
    EXPECT_EQ(replaced->tensors, 2u);
    EXPECT_THAT(read(*module), ElementsAre(50, 60, 70, 80));
    ASSERT_TRUE(module->execute("add", {EValue(*x)}).ok());
    EXPECT_THAT(read(*module), ElementsAre(60, 70, 80, 90));
  }
  const auto without = load("counter_outside");
  EXPECT_EQ(without->load_method("read"), Error::InvalidExternalData);
}

}  // namespace
}  // namespace petrel::compile_and_run
