// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/linked_model_map.h"

#include <cstdint>
#include <cstring>

#include "gtest/gtest.h"
#include "runtime/core/data_loader.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;

alignas(16) const uint8_t bytes[32] = {1, 2, 3, 4, 5};

petrel_param_info param(const char* name, const char* sha256, const void* data, size_t size) {
  petrel_param_info info = {};
  info.name = name;
  info.sha256 = sha256;
  info.data = data;
  info.bytes = size;
  return info;
}

petrel_model_metadata model_of(const petrel_param_info* params, uint32_t count) {
  petrel_model_metadata model = {};
  model.params = params;
  model.num_params = count;
  return model;
}

TEST(LinkedModelMap, FindsParametersByNameAndContentAndAlignsThem) {
  const petrel_param_info params[] = {param("w", "51", bytes, 4), param("b", "70", bytes + 1, 3),
                                      param("elsewhere", "80", nullptr, 4)};
  const LinkedModelMap map(model_of(params, 3));
  ASSERT_EQ(*map.get_num_keys(), 4u);
  EXPECT_STREQ(*map.get_key(3), "w");
  EXPECT_EQ(map.get_data("51")->data(), bytes);
  const auto copy = map.get_data("b");
  ASSERT_TRUE(copy.ok());
  ASSERT_EQ(copy->size(), 3u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(copy->data()) % runtime::kDataAlignment, 0u);
  EXPECT_EQ(std::memcmp(copy->data(), bytes + 1, 3), 0);
  for (const char* key : {"", "a", "bb", "elsewhere", "x"}) {
    EXPECT_EQ(map.get_data(key).error(), Error::NotFound) << key;
  }
}

TEST(LinkedModelMap, RefusesWhatIsNotThere) {
  runtime::set_log_hook(runtime::LogHook{});
  const petrel_param_info params[] = {param("w", "51", bytes + 1, SIZE_MAX)};
  const LinkedModelMap map(model_of(params, 1));
  EXPECT_EQ(map.get_key(2).error(), Error::InvalidArgument);
  EXPECT_EQ(map.get_data("w").error(), Error::InvalidArgument);
}

}  // namespace
}  // namespace petrel::extension
