// SPDX-License-Identifier: Apache-2.0
#include "extension/module/heap_allocator.h"

#include <cstdint>
#include <cstring>

#include "gtest/gtest.h"

namespace petrel::extension {
namespace {

TEST(HeapAllocator, AlignsAndSeparatesWhatItGives) {
  HeapAllocator allocator;
  uint8_t* last = nullptr;
  for (const size_t size : {1u, 7u, 100u, 20000u, 3u, 100000u}) {
    for (const size_t alignment : {1u, 8u, 64u, 4096u}) {
      uint8_t* memory = static_cast<uint8_t*>(allocator.allocate(size, alignment));
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
      EXPECT_NE(memory, last);
      std::memset(memory, 0xA5, size);  // AddressSanitizer checks the room
      last = memory;
    }
  }
}

TEST(HeapAllocator, UsesItsMemoryAgainAfterReset) {
  HeapAllocator allocator;
  for (int i = 0; i < 10; ++i) allocator.allocate(9000);
  const size_t footprint = allocator.footprint();
  for (int round = 0; round < 5; ++round) {
    allocator.reset();
    for (int i = 0; i < 10; ++i) ASSERT_NE(allocator.allocate(9000), nullptr);
  }
  EXPECT_EQ(allocator.footprint(), footprint);
}

TEST(HeapAllocator, RefusesWhatCannotBe) {
  HeapAllocator allocator;
  EXPECT_EQ(allocator.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(allocator.allocate(SIZE_MAX - 100, 64), nullptr);
  EXPECT_EQ(allocator.allocate(8, 3), nullptr);
}

TEST(HeapAllocator, GivesAGenerationBackAlone) {
  HeapAllocator allocator;
  auto* const first = static_cast<uint8_t*>(allocator.allocate(100));
  std::memset(first, 1, 100);
  const size_t footprint = allocator.footprint();
  for (uint64_t generation = 1; generation < 100; ++generation) {
    allocator.set_generation(generation);
    auto* const memory = static_cast<uint8_t*>(allocator.allocate(100));
    std::memset(memory, 2, 100);
    EXPECT_EQ(first[99], 1);
    allocator.set_generation(0);
    allocator.free_generation(generation);
    EXPECT_EQ(allocator.footprint(), footprint);
  }
  auto* const second = static_cast<uint8_t*>(allocator.allocate(100));
  EXPECT_EQ(second, first + 104);  // in the block of the first
}

}  // namespace
}  // namespace petrel::extension
