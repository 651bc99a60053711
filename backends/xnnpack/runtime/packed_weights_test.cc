// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/packed_weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace petrel::backends::xnnpack {
namespace {

bool is_zero(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

TEST(PackedArena, GivesAlignedZerosOfAnySizeWhateverWasExpected) {
  for (const size_t expected : {size_t{0}, size_t{100'000}, size_t{5} << 20, SIZE_MAX}) {
    const std::shared_ptr<PackedArena> arena = PackedArena::make(expected);
    for (const size_t size : {1u, 127u, 4096u, 70'000u, 3u << 20, 9u << 20, 5u}) {
      void* data = arena->allocate(size);
      ASSERT_NE(data, nullptr) << size;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % PackedArena::kAlignment, 0u);
      EXPECT_TRUE(is_zero(data, size + PackedArena::kSlack));
      std::memset(data, 0xAB, size);
    }
  }
}

TEST(PackedArena, GivesTheSameZerosAgain) {
  const std::shared_ptr<PackedArena> arena = PackedArena::make(8 << 20);
  arena->allocate(100);
  for (const size_t size : {10u, 4000u, 4096u, 5000u, 1u << 20, 5u << 20}) {
    void* data = arena->allocate(size);
    std::memset(data, 1, size);
    arena->give_back(data, size);
    EXPECT_EQ(arena->allocate(size), data);
    EXPECT_TRUE(is_zero(data, size)) << size;
    arena->give_back(data, size);
  }
}

TEST(PackedArena, HasNoMemoryForImpossibleSizes) {
  const std::shared_ptr<PackedArena> arena = PackedArena::make(0);
  EXPECT_EQ(arena->allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena->allocate(SIZE_MAX - PackedArena::kSlack), nullptr);
  EXPECT_EQ(arena->allocate(SIZE_MAX / 2), nullptr);
  EXPECT_NE(arena->allocate(16), nullptr) << "and goes on working";
}

// A region of `size` bytes, all of them `fill` but byte `odd`.
std::unique_ptr<PackedRegion> region(size_t size, uint8_t fill, size_t odd) {
  auto made = PackedRegion::allocate(PackedArena::make(size), size);
  std::memset(made->writable(), fill, size);
  static_cast<uint8_t*>(made->writable())[odd] = static_cast<uint8_t>(fill + 1);
  return made;
}

TEST(PackedWeights, ShareEqualBytesAndNoOthers) {
  PackedWeights& weights = PackedWeights::instance();
  const PackedWeights::Stats before = weights.stats();
  // Byte 1 is among those a region is looked up by, byte 700 is not.
  for (const size_t odd : {size_t{1}, size_t{700}, size_t{65535}}) {
    const PackedRegionPtr first = weights.share(region(65536, 7, odd));
    const PackedRegionPtr second = weights.share(region(65536, 7, odd));
    const PackedRegionPtr other = weights.share(region(65536, 7, odd - 1));
    const PackedRegionPtr longer = weights.share(region(65537, 7, odd));
    EXPECT_EQ(first, second);
    EXPECT_NE(first, other);
    EXPECT_NE(first, longer);
    EXPECT_EQ(weights.stats().regions, before.regions + 3);
    EXPECT_EQ(weights.stats().bytes, before.bytes + 2 * 65536 + 65537);
  }
  EXPECT_EQ(weights.stats().regions, before.regions);
  EXPECT_EQ(weights.stats().shared, before.shared + 3);
}

TEST(PackedWeights, ForgetARegionWithItsLastUser) {
  PackedWeights& weights = PackedWeights::instance();
  PackedRegionPtr first = weights.share(region(1000, 3, 0));
  PackedRegionPtr second = weights.share(region(1000, 3, 0));
  ASSERT_EQ(first, second);
  first.reset();
  const uint64_t packed = weights.stats().packed;
  second.reset();
  EXPECT_EQ(weights.stats().regions, 0u);
  const PackedRegionPtr third = weights.share(region(1000, 3, 0));
  EXPECT_EQ(weights.stats().packed, packed + 1);
}

}  // namespace
}  // namespace petrel::backends::xnnpack
