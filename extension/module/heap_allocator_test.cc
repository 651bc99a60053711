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

}  // namespace
}  // namespace petrel::extension
