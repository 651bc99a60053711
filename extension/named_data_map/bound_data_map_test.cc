// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/bound_data_map.h"

#include <openssl/sha.h>

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;
using runtime::ScalarType;
using runtime::TensorLayout;
using runtime::WeightView;
using ::testing::HasSubstr;

alignas(16) const float kWeight[6] = {1, 2, 3, 4, 5, 6};

// One key, "w".
class OneWeight final : public NamedDataMap {
 public:
  std::vector<int32_t> sizes = {2, 3};
  std::vector<uint8_t> dim_order = {0, 1};
  ScalarType type = ScalarType::Float;
  size_t bytes = sizeof(kWeight);
  bool has_layout = true;

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (key != "w") return Error::NotFound;
    return FreeableBuffer(kWeight, bytes, nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return 1; }
  Result<const char*> get_key(uint32_t) const override { return "w"; }
  Result<TensorLayout> get_tensor_layout(std::string_view key) const override {
    if (key != "w" || !has_layout) return Error::NotFound;
    return TensorLayout::create({sizes.data(), sizes.size()}, {dim_order.data(), dim_order.size()},
                                type);
  }
};

class BoundDataMapTest : public ::testing::Test {
 protected:
  BoundDataMapTest() {
    runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                             *static_cast<std::string*>(context) = text;
                           },
                           &message_});
  }
  ~BoundDataMapTest() override { runtime::set_log_hook(runtime::LogHook{}); }

  // A program that remembers "w" as a float32 [2, 3].
  std::vector<WeightView> remember(const std::optional<std::vector<uint8_t>>& digest = {}) {
    static constexpr int32_t kSizes[] = {2, 3};
    static constexpr uint8_t kOrder[] = {0, 1};
    if (digest) digest_ = *digest;
    WeightView weight;
    weight.key = "w";
    weight.has_layout = true;
    weight.scalar_type = ScalarType::Float;
    weight.sizes = kSizes;
    weight.dim_order = kOrder;
    weight.bytes = sizeof(kWeight);
    if (digest) weight.digest = digest_;
    return {weight};
  }

  std::vector<uint8_t> digest_;
  std::string message_;
  OneWeight map_;
};

TEST_F(BoundDataMapTest, PassesWhatAgrees) {
  const Result<BoundDataMap> bound = BoundDataMap::create(map_, remember());
  ASSERT_TRUE(bound.ok()) << message_;
  EXPECT_EQ(bound->get_data("w")->data(), kWeight);
  EXPECT_EQ(bound->get_data("v").error(), Error::NotFound);
  float two[2];
  EXPECT_EQ(bound->load_data_into("w", two, sizeof(two)), Error::Ok);
  EXPECT_EQ(two[1], 2.0f);
  EXPECT_EQ(*bound->get_num_keys(), 1u);
  EXPECT_TRUE(bound->get_tensor_layout("w").ok());
}

TEST_F(BoundDataMapTest, RefusesAnotherLayoutByName) {
  map_.sizes = {3, 2};
  EXPECT_EQ(BoundDataMap::create(map_, remember()).error(), Error::InvalidExternalData);
  EXPECT_EQ(message_,
            "weight \"w\" is float32 [3, 2] order [0, 1] in the data, but the program needs "
            "float32 [2, 3] order [0, 1]");
  map_.sizes = {2, 3};
  map_.dim_order = {1, 0};
  EXPECT_EQ(BoundDataMap::create(map_, remember()).error(), Error::InvalidExternalData);
  map_.dim_order = {0, 1};
  map_.type = ScalarType::Int;
  EXPECT_EQ(BoundDataMap::create(map_, remember()).error(), Error::InvalidExternalData);
  EXPECT_THAT(message_, HasSubstr("int32"));
}

TEST_F(BoundDataMapTest, RefusesAnotherSizeWhereThereIsNoLayout) {
  map_.has_layout = false;
  map_.bytes = 20;
  const Result<BoundDataMap> bound = BoundDataMap::create(map_, remember());
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(bound->get_data("w").error(), Error::InvalidExternalData);
  EXPECT_EQ(message_, "weight \"w\" has 20 bytes in the data, but the program needs 24");
}

TEST_F(BoundDataMapTest, RefusesOtherBytesWhereTheProgramIsBound) {
  std::vector<uint8_t> digest(SHA256_DIGEST_LENGTH);
  SHA256(reinterpret_cast<const uint8_t*>(kWeight), sizeof(kWeight), digest.data());
  {
    const Result<BoundDataMap> bound = BoundDataMap::create(map_, remember(digest));
    ASSERT_TRUE(bound.ok());
    EXPECT_TRUE(bound->get_data("w").ok());
    EXPECT_TRUE(bound->get_data("w").ok());
  }
  digest[31] ^= 1;
  const Result<BoundDataMap> bound = BoundDataMap::create(map_, remember(digest));
  ASSERT_TRUE(bound.ok());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bound->get_data("w").error(), Error::InvalidExternalData);
    EXPECT_THAT(message_, HasSubstr("\"w\" has other bytes"));
  }
  char buffer[24];
  EXPECT_EQ(bound->load_data_into("w", buffer, 24), Error::InvalidExternalData);
}

}  // namespace
}  // namespace petrel::extension
