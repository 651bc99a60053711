// SPDX-License-Identifier: Apache-2.0
#include "extension/named_data_map/checked_data_map.h"

#include <cstring>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/core/log.h"

namespace petrel::extension {
namespace {

using runtime::Error;
using runtime::FreeableBuffer;
using runtime::NamedDataMap;
using runtime::Result;
using runtime::TensorLayout;
using ::testing::HasSubstr;

alignas(16) const char kData[] = "0123456789abcdef0123456789abcdef";
alignas(16) const char kOther[] = "0123456789abcdef0123456789abcdeX";

// A map that answers as it is told, and counts what it gives and gets back.
class Scripted final : public NamedDataMap {
 public:
  std::function<std::pair<const char*, size_t>(int call)> answer;
  std::function<Result<const TensorLayout>()> layout;
  const char* key = "w";
  const char* loaded = kData;
  mutable int calls = 0;
  mutable int freed = 0;

  Result<FreeableBuffer> get_data(std::string_view) const override {
    const auto [data, size] = answer(calls++);
    return FreeableBuffer(
        data, size, [](void* count, void*, size_t) { ++*static_cast<int*>(count); }, &freed);
  }
  Result<uint32_t> get_num_keys() const override { return 1; }
  Result<const char*> get_key(uint32_t) const override { return key; }
  Result<const TensorLayout> get_tensor_layout(std::string_view) const override {
    if (layout) return layout();
    return Error::NotImplemented;
  }
  Error load_data_into(std::string_view, void* buffer, size_t size) const override {
    std::memcpy(buffer, loaded, size);
    return Error::Ok;
  }
};

class CheckedDataMapTest : public ::testing::Test {
 protected:
  CheckedDataMapTest() {
    runtime::set_log_hook({[](void* context, runtime::LogLevel, const char* text) {
                             *static_cast<std::string*>(context) = text;
                           },
                           &message_});
  }
  ~CheckedDataMapTest() override { runtime::set_log_hook(runtime::LogHook{}); }

  std::string message_;
  Scripted map_;
};

TEST_F(CheckedDataMapTest, PassesGoodDataOnAndFreesItOnce) {
  map_.answer = [](int) { return std::make_pair(kData, size_t{32}); };
  const CheckedDataMap checked(map_);
  for (int i = 0; i < 3; ++i) {
    const Result<FreeableBuffer> data = checked.get_data("w");
    ASSERT_TRUE(data.ok());
    EXPECT_EQ(data->data(), kData);
    EXPECT_EQ(map_.freed, i);
  }
  EXPECT_EQ(map_.calls, 3);
  EXPECT_EQ(map_.freed, 3);
  EXPECT_EQ(checked.get_tensor_layout("w").error(), Error::NotImplemented);
}

TEST_F(CheckedDataMapTest, RefusesOtherBytesTheSecondTime) {
  map_.answer = [](int call) { return std::make_pair(call == 0 ? kData : kOther, size_t{32}); };
  const CheckedDataMap checked(map_);
  EXPECT_TRUE(checked.get_data("w").ok());
  EXPECT_EQ(checked.get_data("w").error(), Error::InvalidExternalData);
  EXPECT_THAT(message_, HasSubstr("\"w\""));
  EXPECT_THAT(message_, HasSubstr("other bytes before"));
  EXPECT_EQ(map_.freed, 2);                 // the refused one as well
  EXPECT_TRUE(checked.get_data("v").ok());  // another key is another matter
}

TEST_F(CheckedDataMapTest, RefusesAnotherSizeTheSecondTime) {
  map_.answer = [](int call) { return std::make_pair(kData, call == 0 ? size_t{32} : size_t{31}); };
  const CheckedDataMap checked(map_);
  EXPECT_TRUE(checked.get_data("w").ok());
  EXPECT_EQ(checked.get_data("w").error(), Error::InvalidExternalData);
}

TEST_F(CheckedDataMapTest, SeesASingleChangedByteAnywhere) {
  alignas(16) static char changed[33];
  for (size_t i = 0; i < 32; ++i) {
    std::memcpy(changed, kData, sizeof(changed));
    changed[i] ^= 1;
    map_.answer = [](int call) {
      return std::make_pair(call % 2 == 0 ? kData : changed, size_t{32});
    };
    map_.calls = 0;
    const CheckedDataMap checked(map_);
    EXPECT_TRUE(checked.get_data("w").ok());
    EXPECT_EQ(checked.get_data("w").error(), Error::InvalidExternalData) << i;
  }
}

TEST_F(CheckedDataMapTest, RefusesDataThatIsNotThereOrNotAligned) {
  const CheckedDataMap checked(map_);
  map_.answer = [](int) { return std::make_pair(static_cast<const char*>(nullptr), size_t{4}); };
  EXPECT_EQ(checked.get_data("w").error(), Error::InvalidExternalData);
  EXPECT_THAT(message_, HasSubstr("gives no data"));
  map_.answer = [](int) { return std::make_pair(kData + 1, size_t{4}); };
  EXPECT_EQ(checked.get_data("w").error(), Error::InvalidExternalData);
  EXPECT_THAT(message_, HasSubstr("not aligned"));
}

TEST_F(CheckedDataMapTest, RefusesDataShorterThanItsLayout) {
  static const int32_t kSizes[] = {9};
  static const uint8_t kOrder[] = {0};
  map_.layout = [] { return TensorLayout::create(kSizes, kOrder, runtime::ScalarType::Float); };
  map_.answer = [](int) { return std::make_pair(kData, size_t{32}); };
  const CheckedDataMap checked(map_);
  EXPECT_EQ(checked.get_data("w").error(), Error::InvalidExternalData);
  EXPECT_THAT(message_, HasSubstr("32 bytes for key \"w\", but a layout of 36"));
}

TEST_F(CheckedDataMapTest, RefusesToLoadOtherBytesThanItGives) {
  map_.answer = [](int) { return std::make_pair(kData, size_t{32}); };
  const CheckedDataMap checked(map_);
  char buffer[33];
  EXPECT_EQ(checked.load_data_into("w", buffer, 32), Error::Ok);
  EXPECT_EQ(checked.load_data_into("w", buffer, 33), Error::InvalidExternalData);
  map_.loaded = kOther;
  EXPECT_EQ(checked.load_data_into("w", buffer, 32), Error::InvalidExternalData);
}

TEST_F(CheckedDataMapTest, RefusesKeysThatAreNoText) {
  const CheckedDataMap checked(map_);
  EXPECT_TRUE(checked.get_key(0).ok());
  for (const char* key : {static_cast<const char*>(nullptr), ""}) {
    map_.key = key;
    EXPECT_EQ(checked.get_key(0).error(), Error::InvalidExternalData);
  }
}

}  // namespace
}  // namespace petrel::extension
