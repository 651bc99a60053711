// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "runtime/core/freeable_buffer.h"
#include "runtime/core/log.h"
#include "runtime/core/memory_allocator.h"
#include "runtime/core/named_data_map.h"

namespace petrel::runtime {
namespace {

class MemoryTest : public ::testing::Test {
 protected:
  MemoryTest() { previous_ = set_log_hook({}); }
  ~MemoryTest() override { set_log_hook(previous_); }
  LogHook previous_;
};

TEST_F(MemoryTest, AllocatesFromTheBottomUp) {
  alignas(64) static uint8_t pool[64];
  MemoryAllocator allocator(sizeof(pool), pool);
  EXPECT_EQ(allocator.allocate(1, 1), pool);
  EXPECT_EQ(allocator.allocate(8, 32), pool + 32);
  EXPECT_EQ(allocator.allocate(25, 1), nullptr);
  EXPECT_EQ(allocator.allocate(24, 1), pool + 40);
  EXPECT_EQ(allocator.free_size(), 0u);
  EXPECT_EQ(allocator.allocate(1, 1), nullptr);
  allocator.reset();
  EXPECT_EQ(allocator.allocate(64, 64), pool);
}

TEST_F(MemoryTest, AllocatesObjectsOfAType) {
  alignas(64) static uint8_t pool[64];
  MemoryAllocator allocator(sizeof(pool), pool);
  EXPECT_EQ(allocator.allocateInstance<uint8_t>(), pool);
  EXPECT_EQ(allocator.allocateList<uint64_t>(3), reinterpret_cast<uint64_t*>(pool + 8));
  EXPECT_EQ(allocator.allocateInstance<uint8_t>(32), pool + 32);
  EXPECT_EQ(allocator.allocateList<uint64_t>(4), nullptr);
  EXPECT_EQ(allocator.allocateList<uint64_t>(SIZE_MAX / 4), nullptr);
}

TEST_F(MemoryTest, RefusesWhatCannotBe) {
  alignas(64) static uint8_t pool[64];
  MemoryAllocator allocator(sizeof(pool), pool);
  EXPECT_EQ(allocator.allocate(1, 3), nullptr);
  EXPECT_EQ(allocator.allocate(1, 0), nullptr);
  EXPECT_EQ(allocator.allocate(SIZE_MAX, 1), nullptr);
  EXPECT_EQ(allocator.allocate_list<uint64_t>(SIZE_MAX / 4).error(), Error::MemoryAllocationFailed);
}

// An application's allocator that does not do what it is asked.
class CarelessAllocator final : public MemoryAllocator {
 public:
  CarelessAllocator() : MemoryAllocator(0, nullptr) {}
  void* allocate(size_t, size_t) override { return memory_ + 1; }

 private:
  alignas(16) uint8_t memory_[64];
};

TEST_F(MemoryTest, NoticesMisalignedMemory) {
  CarelessAllocator allocator;
  EXPECT_EQ(allocator.allocate_list<uint64_t>(1).error(), Error::MemoryAllocationFailed);
}

TEST_F(MemoryTest, FindsPlacesInArenas) {
  uint8_t first[8];
  uint8_t second[16];
  Span<uint8_t> buffers[] = {first, second};
  HierarchicalAllocator arenas{buffers};
  EXPECT_EQ(arenas.get_offset_address(1, 4, 12).get(), second + 4);
  EXPECT_EQ(arenas.get_offset_address(0, 8, 0).get(), first + 8);
  EXPECT_EQ(arenas.get_offset_address(1, 5, 12).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(arenas.get_offset_address(1, SIZE_MAX, 2).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(arenas.get_offset_address(2, 0, 0).error(), Error::InvalidArgument);
}

int freed = 0;
void count_free(void*, void*, size_t) { ++freed; }

TEST_F(MemoryTest, FreesBuffersOnce) {
  freed = 0;
  int data = 0;
  {
    FreeableBuffer a(&data, sizeof(data), &count_free);
    FreeableBuffer b(std::move(a));
    EXPECT_EQ(a.data(), nullptr);
    b.free();
    EXPECT_EQ(freed, 1);
    b.free();
    b = FreeableBuffer(&data, sizeof(data), &count_free);
    b = FreeableBuffer(&data, sizeof(data), &count_free);
    EXPECT_EQ(freed, 2);
  }
  EXPECT_EQ(freed, 3);
}

TEST_F(MemoryTest, ChecksLayouts) {
  const int32_t sizes[] = {2, 3};
  const uint8_t order[] = {0, 1};
  const uint8_t wrong_order[] = {1, 1};
  EXPECT_EQ(TensorLayout::create(sizes, order, ScalarType::Float)->nbytes(), 24u);
  EXPECT_FALSE(TensorLayout::create(sizes, wrong_order, ScalarType::Float).ok());
  EXPECT_FALSE(TensorLayout::create(sizes, {order, 1}, ScalarType::Float).ok());
  EXPECT_FALSE(TensorLayout::create(sizes, order, static_cast<ScalarType>(8)).ok());
  const int32_t huge[] = {INT32_MAX, INT32_MAX};
  EXPECT_TRUE(TensorLayout::create(huge, order, ScalarType::Byte).ok());
  EXPECT_FALSE(TensorLayout::create(huge, order, ScalarType::Double).ok());
  const int32_t negative[] = {2, -3};
  EXPECT_FALSE(TensorLayout::create(negative, order, ScalarType::Float).ok());
}

// A data map of the three functions that must be there.
class SmallMap final : public NamedDataMap {
 public:
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (key != "key") return Error::NotFound;
    return FreeableBuffer("abc", 3, nullptr);
  }
  Result<uint32_t> get_num_keys() const override { return 1u; }
  Result<const char*> get_key(uint32_t) const override { return "key"; }
};

TEST_F(MemoryTest, DerivesWhatAMapDoesNotHave) {
  const SmallMap map;
  char text[4] = "";
  EXPECT_EQ(map.load_data_into("key", text, 3), Error::Ok);
  EXPECT_STREQ(text, "abc");
  EXPECT_EQ(map.load_data_into("key", text, 4), Error::InvalidArgument);
  EXPECT_EQ(map.load_data_into("none", text, 1), Error::NotFound);
  EXPECT_EQ(map.get_tensor_layout("key").error(), Error::NotImplemented);
}

void keep(void* text, LogLevel, const char* message) { *static_cast<std::string*>(text) = message; }

TEST_F(MemoryTest, LogsOneCleanLine) {
  std::string text;
  set_log_hook({&keep, &text});
  PETREL_LOG(Error, "name \"%s\" of %d", "a\x1b[31m\nb", 3);
  EXPECT_EQ(text, "name \"a?[31m?b\" of 3");
  PETREL_LOG(Error, "%s", std::string(10000, 'x').c_str());
  EXPECT_EQ(text.size(), kMaxLogMessage - 1);
}

}  // namespace
}  // namespace petrel::runtime
