// SPDX-License-Identifier: Apache-2.0
//
// Data given to load_method is held to the weights that the program remembers.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/log.h"
#include "runtime/executor/data_swap.h"
#include "runtime/executor/held_data_map.h"
#include "runtime/platform/sha256.h"
#include "schema/additions_generated.h"
#include "test/faults/loaded.h"

namespace petrel::faults {
namespace {

namespace add = schema::additions;

// The constant of the recipe.
constexpr uint32_t kConstant = 1;

// A program that remembers one weight, a float32 [2, 3].
void remember(Recipe& recipe, const std::string& key, const std::vector<uint8_t>& digest) {
  const std::vector<int32_t> sizes = {2, 3};
  const std::vector<uint8_t> dim_order = {0, 1};
  flatbuffers::FlatBufferBuilder builder;
  const auto weight =
      add::CreateWeightDirect(builder, key.c_str(), static_cast<int8_t>(fb::ScalarType::FLOAT),
                              &sizes, &dim_order, 24, digest.empty() ? nullptr : &digest);
  add::FinishAdditionsBuffer(builder,
                             add::CreateAdditions(builder, 0, 0, builder.CreateVector(&weight, 1)));
  recipe.named_data.emplace_back("petrel.program", static_cast<uint32_t>(recipe.segments.size()));
  recipe.segments.emplace_back(builder.GetBufferPointer(),
                               builder.GetBufferPointer() + builder.GetSize());
}

// Data of an app: float32 [2, 3] under "w", unless told otherwise.
class OneWeight final : public NamedDataMap {
 public:
  std::vector<int32_t> sizes = {2, 3};
  ScalarType type = ScalarType::Float;
  bool has_layout = true;
  std::vector<float> values = {1, 2, 3, 4, 5, 6};

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (key != "w") return Error::NotFound;
    return FreeableBuffer(values.data(), values.size() * sizeof(float), nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return 1u; }
  Result<const char*> get_key(uint32_t) const override { return "w"; }
  Result<const runtime::TensorLayout> get_tensor_layout(std::string_view key) const override {
    static constexpr uint8_t kOrder[] = {0, 1};
    if (key != "w") return Error::NotFound;
    if (!has_layout) return Error::NotImplemented;
    return runtime::TensorLayout::create({sizes.data(), sizes.size()}, kOrder, type);
  }
};

std::vector<uint8_t> sha256_of(const OneWeight& map) {
  std::vector<uint8_t> digest(runtime::kSha256Bytes);
  runtime::sha256({reinterpret_cast<const uint8_t*>(map.values.data()), 24}, digest.data());
  return digest;
}

// How a method comes to the weight "w": its delegate asks for it, or a kernel
// reads it in the place of the map or, as state, in an arena.
enum class Use { Delegate, Kernel, State };

class HeldDataTest : public ::testing::TestWithParam<Use> {
 protected:
  HeldDataTest() {
    runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                             *static_cast<std::string*>(context) += std::string(text) + "\n";
                           },
                           &messages_});
  }
  ~HeldDataTest() override { runtime::set_log_hook(runtime::LogHook{}); }

  Error load(const OneWeight& map, const std::string& key, const std::vector<uint8_t>& digest) {
    Recipe recipe;
    if (GetParam() == Use::Delegate) {
      recipe.inline_payloads = {{1, 2, 3}};
      DelegateRecipe delegate;
      delegate.location = 0;
      recipe.plans[0].delegates = {delegate};
    } else {
      ValueRecipe& value = recipe.plans[0].values[kConstant];
      value.extra = ExtraRecipe{"w", fb::TensorDataLocation::EXTERNAL, fb::DeviceType::CPU};
      value.sizes = {2, 3};
      value.dim_order = {0, 1};
      value.constant = 0;
      if (GetParam() == Use::State) value.place = PlaceRecipe{1, 64};
      recipe.plans[0].arenas = {0, 128};
    }
    remember(recipe, key, digest);
    Loaded loaded(recipe);
    return loaded.method(&map).error();
  }

  std::string messages_;
  OneWeight map_;
};

TEST_P(HeldDataTest, OfTheBytesThatTheProgramIsBoundToPasses) {
  const std::vector<uint8_t> digest = sha256_of(map_);
  EXPECT_EQ(load(map_, "w", digest), Error::Ok) << messages_;
  EXPECT_EQ(load(map_, "another", std::vector<uint8_t>(32)), Error::Ok) << messages_;
}

TEST_P(HeldDataTest, OfOtherBytesIsRefusedByName) {
  const std::vector<uint8_t> digest = sha256_of(map_);
  map_.values[5] = 7;
  EXPECT_EQ(load(map_, "w", digest), Error::InvalidExternalData);
  EXPECT_NE(messages_.find("weight \"w\" has other bytes than those the program is bound to"),
            std::string::npos)
      << messages_;
}

TEST_P(HeldDataTest, OfAnotherLayoutOrSizeIsRefusedByName) {
  map_.sizes = {3, 2};
  EXPECT_EQ(load(map_, "w", {}), Error::InvalidExternalData);
  EXPECT_NE(messages_.find("\"w\" is float32 [3, 2] order [0, 1]"), std::string::npos) << messages_;
  map_ = OneWeight();
  map_.has_layout = false;
  map_.values.resize(5);
  EXPECT_EQ(load(map_, "w", {}), Error::InvalidExternalData);
  EXPECT_NE(messages_.find("weight \"w\" has 20 bytes in the data, but the program needs 24"),
            std::string::npos)
      << messages_;
}

class PlacedWeight final : public NamedDataMap {
 public:
  OneWeight weight;
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    return weight.get_data(key);
  }
  Result<uint32_t> get_num_keys() const override { return 1u; }
  Result<const char*> get_key(uint32_t) const override { return "w"; }
  Result<const runtime::TensorLayout> get_tensor_layout(std::string_view key) const override {
    return weight.get_tensor_layout(key);
  }
  Result<runtime::BytePlace> find_place(std::string_view, size_t) const override {
    return runtime::BytePlace{1, 2};
  }
  Result<bool> is_in_place(std::string_view) const override { return true; }
};

// A backend need not load what it knows by its place, so what nobody checked has none.
TEST(HeldDataMapTest, TellsNoPlaceOfAWeightThatWasNotChecked) {
  PlacedWeight map;
  Recipe recipe;
  remember(recipe, "w", sha256_of(map.weight));
  Loaded loaded(recipe);
  std::atomic<bool> checked[1];
  const runtime::HeldDataMap held(map, loaded.program().additions(), checked);
  EXPECT_FALSE(held.find_place("w", 24).ok());
  EXPECT_TRUE(held.find_place("of no weight", 24).ok());
  map.weight.values[0] = 9;
  EXPECT_FALSE(held.get_data("w").ok());
  EXPECT_FALSE(held.find_place("w", 24).ok());
  map.weight.values[0] = 1;
  EXPECT_TRUE(held.get_data("w").ok());
  EXPECT_TRUE(held.find_place("w", 24).ok());
}

// Who may write to a mapped file must not change what was checked.
TEST(HeldDataMapTest, HasNoWeightWithADigestInPlace) {
  PlacedWeight map;
  Recipe bound, loose;
  remember(bound, "w", sha256_of(map.weight));
  remember(loose, "w", {});
  std::atomic<bool> checked[1];
  Loaded strict(bound), free(loose);
  EXPECT_FALSE(*runtime::HeldDataMap(map, strict.program().additions(), checked).is_in_place("w"));
  EXPECT_TRUE(*runtime::HeldDataMap(map, free.program().additions(), checked).is_in_place("w"));
}

// Sizes and layouts are known without the bytes.
TEST(HeldDataMapTest, TellsThePlaceOfAWeightWithoutADigest) {
  PlacedWeight map;
  Recipe recipe;
  remember(recipe, "w", {});
  Loaded loaded(recipe);
  std::atomic<bool> checked[1];
  const runtime::HeldDataMap held(map, loaded.program().additions(), checked);
  EXPECT_TRUE(held.find_place("w", 24).ok());
  EXPECT_FALSE(held.find_place("w", 20).ok());
  map.weight.sizes = {3, 2};
  EXPECT_FALSE(held.find_place("w", 24).ok());
}

TEST(HeldDataMapTest, CopiesNoMoreThanThereIs) {
  PlacedWeight map;
  Recipe recipe;
  remember(recipe, "w", sha256_of(map.weight));
  Loaded loaded(recipe);
  std::atomic<bool> checked[1];
  const runtime::HeldDataMap held(map, loaded.program().additions(), checked);
  uint8_t bytes[25] = {};
  EXPECT_EQ(held.load_data_into("w", bytes, 25), Error::InvalidArgument);
  EXPECT_EQ(held.load_data_into("w", bytes, 24), Error::Ok);
  EXPECT_EQ(std::memcmp(bytes, map.weight.values.data(), 24), 0);
}

// What was checked once is not looked at again when it is replaced.
TEST(HeldDataMapTest, IsReplacedOnlyWhereAllOfItIsHeld) {
  OneWeight map;
  Recipe recipe;
  remember(recipe, "w", sha256_of(map));
  Loaded loaded(recipe);
  const QuietLog quiet;
  Result<Method> method = loaded.method(&map);
  ASSERT_TRUE(method.ok());
  runtime::DataSwap swap(&*method, nullptr);
  EXPECT_EQ(swap.prepare({}), Error::InvalidState);
  EXPECT_EQ(QuietLog::last(), "data can be replaced where ProgramOptions::data_is_held is set");
}

INSTANTIATE_TEST_SUITE_P(All, HeldDataTest,
                         ::testing::Values(Use::Delegate, Use::Kernel, Use::State));

}  // namespace
}  // namespace petrel::faults
