// SPDX-License-Identifier: Apache-2.0
//
// Constants that are shorter than their values or nowhere, and where they are said to lie.
#include "backends/xnnpack/runtime/constant_source.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/xnnpack/format/test_graphs.h"
#include "runtime/core/log.h"

namespace petrel::backends::xnnpack {
namespace {

using runtime::BytePlace;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;

// Any key has these bytes, and all have one place.
class AnyMap final : public runtime::NamedDataMap {
 public:
  const void* data = nullptr;
  size_t size = 0;

  Result<FreeableBuffer> get_data(std::string_view) const override {
    return FreeableBuffer(data, size, nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return 1u; }
  Result<const char*> get_key(uint32_t) const override { return "w"; }
  Result<BytePlace> find_place(std::string_view, size_t) const override { return BytePlace{7, 0}; }
};

class ConstantSourceTest : public ::testing::Test {
 protected:
  ConstantSourceTest() : before_(runtime::set_log_hook({&keep, &said_})) {}
  ~ConstantSourceTest() override { runtime::set_log_hook(before_); }

  // A value of eight floats in the payload, where `size` bytes are.
  uint32_t inline_value(const float* data, size_t size) {
    const uint32_t id = builder_.constant({2, 4}, "");
    ConstantData& constant = builder_.graph.constants[builder_.graph.values[id].constant];
    constant.data = reinterpret_cast<const uint8_t*>(data);
    constant.size = size;
    return id;
  }
  Error get(uint32_t id, const runtime::NamedDataMap* map = nullptr) {
    said_.clear();
    ConstantSource source(builder_.graph, map);
    return source.get_exact(id).error();
  }

  static void keep(void* said, runtime::LogLevel, const char* text) {
    *static_cast<std::string*>(said) = text;
  }

  GraphBuilder builder_;
  const std::vector<float> floats_ = std::vector<float>(8, 1);
  std::string said_;
  runtime::LogHook before_;
};

TEST_F(ConstantSourceTest, OfThePayloadHasTheBytesOfItsValue) {
  const uint32_t whole = inline_value(floats_.data(), 32);
  const uint32_t part = inline_value(floats_.data(), 31);
  const uint32_t nowhere = inline_value(nullptr, 32);
  EXPECT_EQ(get(whole), Error::Ok);
  EXPECT_EQ(get(part), Error::InvalidProgram);
  EXPECT_EQ(said_, "constant 2 has 31 bytes, value 1 needs 32");
  EXPECT_EQ(get(nowhere), Error::InvalidProgram);
  EXPECT_EQ(said_, "constant 3 has 32 bytes, value 2 needs 32");
}

TEST_F(ConstantSourceTest, OfAMapHasTheBytesOfItsValue) {
  const uint32_t named = builder_.constant({2, 4}, "w");
  AnyMap map;
  map.data = floats_.data();
  map.size = 32;
  EXPECT_EQ(get(named, &map), Error::Ok);
  map.size = 31;
  EXPECT_EQ(get(named, &map), Error::InvalidExternalData);
  EXPECT_EQ(said_, "weight 'w' has 31 bytes, value 0 of [2,4] needs 32");
  map.data = nullptr;
  map.size = 32;
  EXPECT_EQ(get(named, &map), Error::InvalidExternalData);
  EXPECT_EQ(said_, "weight 'w' has 32 bytes, value 0 of [2,4] needs 32");
}

TEST_F(ConstantSourceTest, OfThePayloadHasNoPlaceInAMap) {
  const uint32_t here = inline_value(floats_.data(), 32);
  const uint32_t named = builder_.constant({2, 4}, "w");
  const AnyMap map;
  ConstantSource source(builder_.graph, &map);
  EXPECT_TRUE(source.place_in_map(named).has_value());
  EXPECT_FALSE(source.place_in_map(here).has_value());
  ASSERT_TRUE(source.get(here).ok());
  EXPECT_FALSE(source.place_of(here).has_value());
}

TEST_F(ConstantSourceTest, ThatNoMachineHasRoomForIsNamed) {
  const uint32_t large = builder_.constant({1u << 30, 1u << 20}, "w");
  const AnyMap map;
  ConstantSource source(builder_.graph, &map);
  EXPECT_EQ(source.reserve(large).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(said_.rfind("no memory for a constant of 45035996273", 0), 0u) << said_;
}

}  // namespace
}  // namespace petrel::backends::xnnpack
