// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/merged_data_map.h"

#include <map>
#include <string>

#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;

// What an application may write: a map over a std::map.
class StringMap final : public NamedDataMap {
 public:
  explicit StringMap(std::map<std::string, std::string> data) : data_(std::move(data)) {}

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    const auto it = data_.find(std::string(key));
    if (it == data_.end()) return Error::NotFound;
    return FreeableBuffer(it->second.data(), it->second.size(), nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(data_.size()); }
  Result<const char*> get_key(uint32_t index) const override {
    if (index >= data_.size()) return Error::InvalidArgument;
    return std::next(data_.begin(), index)->first.c_str();
  }

 private:
  std::map<std::string, std::string> data_;
};

std::string text(const NamedDataMap& map, const char* key) {
  const Result<FreeableBuffer> data = map.get_data(key);
  if (!data.ok()) return "?";
  return {static_cast<const char*>(data->data()), data->size()};
}

TEST(MergedDataMap, FindsTheKeysOfAllMaps) {
  const StringMap a({{"x", "1"}, {"shared", "s"}});
  const StringMap b({{"y", "22"}, {"shared", "s"}});
  const NamedDataMap* maps[] = {&a, &b};
  Result<MergedDataMap> merged = MergedDataMap::create(maps);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(*merged->get_num_keys(), 3u);
  EXPECT_STREQ(*merged->get_key(0), "shared");
  EXPECT_EQ(text(*merged, "x"), "1");
  EXPECT_EQ(text(*merged, "y"), "22");
  EXPECT_EQ(text(*merged, "shared"), "s");
  EXPECT_EQ(merged->get_data("z").error(), Error::NotFound);
  EXPECT_EQ(merged->get_key(3).error(), Error::InvalidArgument);
  char out[2];
  EXPECT_EQ(merged->load_data_into("y", out, 2), Error::Ok);
  EXPECT_EQ(merged->load_data_into("y", out, 3), Error::InvalidArgument);
}

TEST(MergedDataMap, RefusesAKeyWithTwoMeanings) {
  std::string message;
  runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                           *static_cast<std::string*>(context) = text;
                         },
                         &message});
  using Data = std::map<std::string, std::string>;
  const StringMap a(Data{{"w", "old"}}), b(Data{{"w", "new"}}), c(Data{{"w", "older"}});
  for (const StringMap* other : {&b, &c}) {
    const NamedDataMap* maps[] = {&a, other};
    EXPECT_EQ(MergedDataMap::create(maps).error(), Error::InvalidExternalData);
    EXPECT_NE(message.find("'w'"), std::string::npos) << message;
  }
  runtime::set_log_hook(runtime::LogHook{});
}

TEST(MergedDataMap, NamesBothSourcesOfAKeyWithTwoMeanings) {
  std::string message;
  runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                           *static_cast<std::string*>(context) = text;
                         },
                         &message});
  using Data = std::map<std::string, std::string>;
  const StringMap a(Data{{"w", "old"}}), b(Data{{"v", "x"}}), c(Data{{"w", "new"}});
  const NamedDataMap* maps[] = {&a, &b, &c};
  MergeOptions options;
  options.names = {"base.ptd", "more.ptd", "adapter.ptd"};
  EXPECT_EQ(MergedDataMap::create(maps, options).error(), Error::InvalidExternalData);
  EXPECT_EQ(message, "key 'w' has other bytes in adapter.ptd than in base.ptd");
  runtime::set_log_hook(runtime::LogHook{});
}

TEST(MergedDataMap, TheFirstCountsIfTheAppSaysSo) {
  using Data = std::map<std::string, std::string>;
  const StringMap adapter(Data{{"w", "new"}}), base(Data{{"v", "x"}, {"w", "old"}});
  const NamedDataMap* maps[] = {&adapter, &base};
  MergeOptions options;
  options.order = MergeOrder::FirstCounts;
  Result<MergedDataMap> merged = MergedDataMap::create(maps, options);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(*merged->get_num_keys(), 2u);
  EXPECT_EQ(text(*merged, "w"), "new");
  EXPECT_EQ(text(*merged, "v"), "x");
}

TEST(MergedDataMap, MayBeEmpty) {
  Result<MergedDataMap> merged = MergedDataMap::create({});
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(*merged->get_num_keys(), 0u);
}

}  // namespace
}  // namespace petrel::extension
