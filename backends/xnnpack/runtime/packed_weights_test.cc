// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/packed_weights.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/packed_arena.h"
#include "runtime/platform/pages.h"

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
  for (size_t less = 0; less < 3 * 4096; ++less) {
    ASSERT_EQ(arena->allocate(SIZE_MAX - less), nullptr) << less;
  }
  void* const data = arena->allocate(16);
  ASSERT_NE(data, nullptr) << "and goes on working";
  std::memset(data, 1, 16);
  EXPECT_EQ(PackedRegion::allocate(arena, SIZE_MAX), nullptr);
}

// Pages of whole ones in memory.
size_t resident_pages(const void* data, size_t size) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + size) / kPage * kPage;
  std::vector<unsigned char> pages((end - begin) / kPage);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(begin), end - begin, pages.data()), 0);
  return static_cast<size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

TEST(PackedRegion, GivesItsMemoryBackWhileOthersKeepTheArena) {
  const std::shared_ptr<PackedArena> arena = PackedArena::make(1 << 20);
  constexpr size_t kSize = 100'000;
  auto first = PackedRegion::allocate(arena, kSize);
  auto second = PackedRegion::allocate(arena, kSize);
  const void* const data = first->data();
  std::memset(first->writable(), 1, kSize);
  std::memset(second->writable(), 2, kSize);
  EXPECT_GE(resident_pages(data, kSize), kSize / 4096 - 1);
  first.reset();
  EXPECT_EQ(resident_pages(data, kSize), 0u);
  const auto* kept = static_cast<const uint8_t*>(second->data());
  EXPECT_TRUE(std::all_of(kept, kept + kSize, [](uint8_t byte) { return byte == 2; }));
}

// Whether the system was asked for huge pages where `address` lies.
bool wants_huge_pages(const void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool is_there = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      is_there = place >= begin && place < end;
    } else if (is_there && line.rfind("VmFlags:", 0) == 0) {
      return (line + " ").find(" hg ") != std::string::npos;
    }
  }
  return false;
}

TEST(PackedArena, HasHugePagesWhereItIsLargeAndTheyAreWanted) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
    GTEST_SKIP() << "the system has no huge pages";
  }
  constexpr size_t kLarge = size_t{16} << 20, kSmall = size_t{1} << 20;
  const auto wants = [](size_t size, HugePages pages) {
    const std::shared_ptr<PackedArena> arena = PackedArena::make(size, pages);
    return wants_huge_pages(arena->allocate(size));
  };
  EXPECT_TRUE(wants(kLarge, HugePages::kAlways));
  EXPECT_FALSE(wants(kLarge, HugePages::kNever));
  EXPECT_EQ(wants(kLarge, HugePages::kWhereCheap), runtime::huge_pages_are_cheap());
  EXPECT_FALSE(wants(kSmall, HugePages::kAlways));
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
