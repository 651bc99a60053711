// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/linked_data_map.h"

#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::Result;

// As a build step would link them.
extern "C" {
alignas(16) const float linked_bias[4] = {1, 2, 3, 4};
alignas(16) const uint8_t linked_weight[3] = {7, 8, 9};
}

constexpr LinkedData kRows[] = {
    {"bias", linked_bias, sizeof(linked_bias)},
    {"empty", nullptr, 0},
    {"weight", linked_weight, sizeof(linked_weight)},
};

TEST(LinkedDataMap, GivesTheSymbolsThemselves) {
  const Result<LinkedDataMap> map = LinkedDataMap::create(kRows);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(*map->get_num_keys(), 3u);
  EXPECT_STREQ(*map->get_key(2), "weight");
  EXPECT_EQ(map->get_key(3).error(), Error::InvalidArgument);
  const auto bias = map->get_data("bias");
  ASSERT_TRUE(bias.ok());
  EXPECT_EQ(bias->data(), linked_bias);
  EXPECT_EQ(bias->size(), 16u);
  EXPECT_EQ(map->get_data("weight")->data(), linked_weight);
  EXPECT_EQ(map->get_data("empty")->size(), 0u);
  for (const char* key : {"", "a", "biaz", "weights"}) {
    EXPECT_EQ(map->get_data(key).error(), Error::NotFound) << key;
  }
  float two[2];
  EXPECT_EQ(map->load_data_into("bias", two, sizeof(two)), Error::Ok);
  EXPECT_EQ(two[1], 2.0f);
  EXPECT_EQ(map->load_data_into("weight", two, sizeof(two)), Error::InvalidArgument);
}

TEST(LinkedDataMap, RefusesTablesThatCannotBeSearched) {
  runtime::set_log_hook(runtime::LogHook{});
  const LinkedData kBad[][2] = {
      {{"b", linked_bias, 4}, {"a", linked_bias, 4}},
      {{"a", linked_bias, 4}, {"a", linked_bias, 4}},
      {{"", linked_bias, 4}, {"a", linked_bias, 4}},
      {{nullptr, linked_bias, 4}, {"a", linked_bias, 4}},
      {{"a", nullptr, 4}, {"b", linked_bias, 4}},
      {{"a", linked_weight + 1, 1}, {"b", linked_bias, 4}},
  };
  for (const auto& rows : kBad) {
    EXPECT_EQ(LinkedDataMap::create(rows).error(), Error::InvalidArgument);
  }
  EXPECT_EQ(*LinkedDataMap::create({})->get_num_keys(), 0u);
  const uint64_t beyond_numbers_of_keys = uint64_t{1} << 32;
  const LinkedData none[] = {{nullptr, nullptr, 0}};  // the only row that is read, if any
  EXPECT_EQ(LinkedDataMap::create({none, static_cast<size_t>(beyond_numbers_of_keys)}).error(),
            Error::NotSupported);
}

}  // namespace
}  // namespace petrel::extension
