// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/method_data_map.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace petrel::runtime {
namespace {

// One key, its bytes and a layout of as many bytes.
class OneKeyMap final : public NamedDataMap {
 public:
  OneKeyMap(std::string key, std::string data) : key_(std::move(key)), data_(std::move(data)) {
    size_ = static_cast<int32_t>(data_.size());
  }

  Result<FreeableBuffer> get_data(std::string_view key) const override {
    ++lookups_;
    if (key != key_) return Error::NotFound;
    return FreeableBuffer(data_.data(), data_.size(), nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return 1u; }
  Result<const char*> get_key(uint32_t index) const override {
    if (index > 0) return Error::InvalidArgument;
    return key_.c_str();
  }
  Result<const TensorLayout> get_tensor_layout(std::string_view key) const override {
    if (key != key_) return Error::NotFound;
    return TensorLayout::create({&size_, 1}, {&dim_, 1}, ScalarType::Byte);
  }

  Result<BytePlace> find_place(std::string_view key, size_t size) const override {
    if (key != key_) return Error::NotFound;
    if (size != data_.size()) return Error::NotSupported;
    return BytePlace{1, size};
  }

  Result<bool> is_in_place(std::string_view key) const override {
    if (key != key_) return Error::NotFound;
    return data_.size() == 4;
  }

  int lookups() const { return lookups_; }

 private:
  std::string key_;
  std::string data_;
  int32_t size_ = 0;
  uint8_t dim_ = 0;
  mutable int lookups_ = 0;
};

std::string text(const Result<FreeableBuffer>& buffer) {
  if (!buffer.ok()) return "";
  return std::string(static_cast<const char*>(buffer->data()), buffer->size());
}

TEST(MethodDataMapTest, BytesAndLayoutComeFromTheSameMap) {
  const OneKeyMap external("w", "abcd"), program("w", "efghij");
  const MethodDataMap caller(external, program, DataPrecedence::ExternalFirst);
  EXPECT_EQ(text(caller.get_data("w")), "abcd");
  EXPECT_EQ(caller.get_tensor_layout("w")->sizes()[0], 4);
  const MethodDataMap own(external, program, DataPrecedence::ProgramFirst);
  EXPECT_EQ(text(own.get_data("w")), "efghij");
  EXPECT_EQ(own.get_tensor_layout("w")->sizes()[0], 6);
}

TEST(MethodDataMapTest, TellsThePlaceOfTheBytesThatCount) {
  const OneKeyMap external("w", "abcd"), program("w", "efghij"), other("v", "kl");
  const MethodDataMap caller(external, program, DataPrecedence::ExternalFirst);
  EXPECT_TRUE(caller.find_place("w", 4).ok());
  EXPECT_FALSE(caller.find_place("w", 6).ok());
  const MethodDataMap own(external, program, DataPrecedence::ProgramFirst);
  EXPECT_TRUE(own.find_place("w", 6).ok());
  EXPECT_FALSE(own.find_place("w", 4).ok());
  // What both have is compared, so it must be loaded.
  const MethodDataMap compared(external, external, DataPrecedence::RefuseDifferent);
  EXPECT_FALSE(compared.find_place("w", 4).ok());
  EXPECT_NE(compared.find_place("w", 4).error(), Error::NotFound);
  const MethodDataMap apart(external, other, DataPrecedence::RefuseDifferent);
  EXPECT_TRUE(apart.find_place("w", 4).ok());
  EXPECT_TRUE(apart.find_place("v", 2).ok());
  EXPECT_EQ(apart.find_place("u", 2).error(), Error::NotFound);
}

TEST(MethodDataMapTest, TellsWhetherTheBytesThatCountStayInPlace) {
  const OneKeyMap external("w", "abcd"), program("w", "efghij"), other("v", "kl");
  EXPECT_TRUE(*MethodDataMap(external, program, DataPrecedence::ExternalFirst).is_in_place("w"));
  EXPECT_FALSE(*MethodDataMap(external, program, DataPrecedence::ProgramFirst).is_in_place("w"));
  const MethodDataMap apart(external, other, DataPrecedence::RefuseDifferent);
  EXPECT_TRUE(*apart.is_in_place("w"));
  EXPECT_FALSE(*apart.is_in_place("v"));
  EXPECT_EQ(apart.is_in_place("u").error(), Error::NotFound);
}

TEST(MethodDataMapTest, LooksUpAKeyOnceWhereAnOrderIsGiven) {
  const OneKeyMap external("w", "abcd"), program("w", "efghij");
  const MethodDataMap caller(external, program, DataPrecedence::ExternalFirst);
  EXPECT_EQ(text(caller.get_data("w")), "abcd");
  EXPECT_EQ(external.lookups(), 1);
  EXPECT_EQ(program.lookups(), 0);
}

// Says any number of keys.
class ManyKeysMap final : public NamedDataMap {
 public:
  explicit ManyKeysMap(uint32_t count) : count_(count) {}
  Result<FreeableBuffer> get_data(std::string_view) const override { return Error::NotFound; }
  Result<uint32_t> get_num_keys() const override { return count_; }
  Result<const char*> get_key(uint32_t) const override { return "k"; }

 private:
  const uint32_t count_;
};

TEST(MethodDataMapTest, CountsTheKeysOfBoth) {
  const ManyKeysMap most(UINT32_MAX - 1), one(1), two(2);
  const auto refuse = DataPrecedence::RefuseDifferent;
  EXPECT_EQ(MethodDataMap(most, one, refuse).get_num_keys().get(), UINT32_MAX);
  EXPECT_EQ(MethodDataMap(most, two, refuse).get_num_keys().error(), Error::NotSupported);
}

TEST(MethodDataMapTest, RefusesTwoMeanings) {
  const OneKeyMap external("w", "abcd"), same("w", "abcd"), other("w", "abce"), elsewhere("v", "x");
  const auto refuse = DataPrecedence::RefuseDifferent;
  EXPECT_EQ(text(MethodDataMap(external, same, refuse).get_data("w")), "abcd");
  EXPECT_EQ(MethodDataMap(external, other, refuse).get_data("w").error(),
            Error::InvalidExternalData);
  for (const char* const shorter_or_longer : {"", "abc", "abcdefgh"}) {
    const OneKeyMap map("w", shorter_or_longer);
    EXPECT_EQ(MethodDataMap(external, map, refuse).get_data("w").error(),
              Error::InvalidExternalData);
    EXPECT_EQ(MethodDataMap(map, external, refuse).get_data("w").error(),
              Error::InvalidExternalData);
  }
  EXPECT_EQ(text(MethodDataMap(external, elsewhere, refuse).get_data("v")), "x");
  EXPECT_EQ(MethodDataMap(external, elsewhere, refuse).get_data("u").error(), Error::NotFound);
}

}  // namespace
}  // namespace petrel::runtime
