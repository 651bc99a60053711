// SPDX-License-Identifier: Apache-2.0
//
// Memory that came back is used again, up to a bound, and goes when loading has ended.
#include "extension/data_loader/spare_memory.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace petrel::extension {
namespace {

constexpr size_t kBlock = size_t{256} << 10;

class SpareMemoryTest : public ::testing::Test {
 protected:
  SpareMemoryTest() { SpareMemory::clear(); }
  ~SpareMemoryTest() override { SpareMemory::clear(); }

  // Fails with ENOMEM where a page is not the process's.
  static bool is_mapped(void* memory) {
    unsigned char resident = 0;
    return mincore(memory, 1, &resident) == 0;
  }
};

TEST_F(SpareMemoryTest, GivesBlocksOfTheSameSizeAgain) {
  void* const first = SpareMemory::take(kBlock);
  void* const other = SpareMemory::take(2 * kBlock);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(other, nullptr);
  SpareMemory::give_back(first, kBlock);
  SpareMemory::give_back(other, 2 * kBlock);
  EXPECT_EQ(SpareMemory::take(2 * kBlock), other);
  EXPECT_EQ(SpareMemory::take(kBlock), first);
  SpareMemory::give_back(first, kBlock);
  SpareMemory::give_back(other, 2 * kBlock);
}

TEST_F(SpareMemoryTest, KeepsAtMostItsBoundTheNewestFirst) {
  std::array<void*, SpareMemory::kMostBytes / kBlock + 2> blocks;
  for (void*& block : blocks) block = SpareMemory::take(kBlock);
  for (void* block : blocks) SpareMemory::give_back(block, kBlock);
  EXPECT_FALSE(is_mapped(blocks[0]));
  EXPECT_FALSE(is_mapped(blocks[1]));
  for (size_t i = 2; i < blocks.size(); ++i) EXPECT_TRUE(is_mapped(blocks[i])) << i;
}

TEST_F(SpareMemoryTest, DoesNotKeepWhatIsLargerThanItsBound) {
  constexpr size_t kLarge = 2 * SpareMemory::kMostBytes;
  void* const block = SpareMemory::take(kLarge);
  ASSERT_NE(block, nullptr);
  SpareMemory::give_back(block, kLarge);
  EXPECT_FALSE(is_mapped(block));
}

TEST_F(SpareMemoryTest, KeepsNothingOnceCleared) {
  void* const block = SpareMemory::take(kBlock);
  SpareMemory::give_back(block, kBlock);
  ASSERT_TRUE(is_mapped(block));
  SpareMemory::clear();
  EXPECT_FALSE(is_mapped(block));
}

TEST_F(SpareMemoryTest, GivesNoBlockTwice) {
  const auto use = [](uint8_t mark) {
    for (int i = 0; i < 2000; ++i) {
      auto* const bytes = static_cast<uint8_t*>(SpareMemory::take(kBlock));
      ASSERT_NE(bytes, nullptr);
      bytes[0] = mark;
      if (i % 100 == 0) SpareMemory::clear();
      ASSERT_EQ(bytes[0], mark);
      SpareMemory::give_back(bytes, kBlock);
    }
  };
  std::vector<std::thread> threads;
  for (uint8_t mark = 1; mark <= 3; ++mark) threads.emplace_back(use, mark);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace petrel::extension
