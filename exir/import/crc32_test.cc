// SPDX-License-Identifier: Apache-2.0
#include "exir/import/crc32.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace petrel::exir {
namespace {

// As it is defined, bit by bit.
uint32_t reference(absl::Span<const uint8_t> bytes) {
  uint32_t sum = 0xffffffff;
  for (uint8_t byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}

TEST(Crc32, IsThatOfZipArchives) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc32_of({reinterpret_cast<const uint8_t*>(digits.data()), 9}, 1), 0xcbf43926);
  EXPECT_EQ(crc32_of({}, 1), 0u);
  EXPECT_EQ(crc32_of({}, 2), 0u);
}

TEST(Crc32, IsTheSameForEveryNumberOfThreads) {
  std::vector<uint8_t> bytes(5 * kCrcPieceBytes + 1);
  uint32_t state = 1;
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  for (const size_t size : {4 * kCrcPieceBytes - 1, 4 * kCrcPieceBytes, 5 * kCrcPieceBytes + 1}) {
    const auto part = absl::MakeConstSpan(bytes).subspan(0, size);
    const uint32_t expected = reference(part);
    for (const size_t threads : {1, 2, 3, 8}) {
      EXPECT_EQ(crc32_of(part, threads), expected) << size << " bytes, " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace petrel::exir
