// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/blob_set.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

// Counts how often its bytes are made.
Blob counted(uint8_t value, size_t size, int* reads) {
  return Blob::produced(size, [value, reads](absl::Span<uint8_t> out) {
    ++*reads;
    for (uint8_t& byte : out) byte = value;
  });
}

TEST(BlobSet, EqualBytesHaveOneIndex) {
  BlobSet blobs;
  EXPECT_EQ(blobs.add(Blob::owned({1, 2})), 0u);
  EXPECT_EQ(blobs.add(Blob::owned({3, 4})), 1u);
  EXPECT_EQ(blobs.add(Blob::owned({1, 2})), 0u);
  EXPECT_EQ(blobs.add(Blob::owned({3, 4})), 1u);
  EXPECT_EQ(blobs.add(Blob::owned({3})), 2u);
  EXPECT_EQ(blobs.find(Blob::owned({3, 4})), 1);
  EXPECT_EQ(blobs.find(Blob::owned({4, 3})), -1);
  EXPECT_EQ(blobs.find(Blob::owned({4})), -1);
  EXPECT_EQ(blobs.find(Blob::owned({})), -1);
  EXPECT_EQ(blobs.blobs().size(), 3u);
}

// The first bytes of these are alike, and the last one is not.
TEST(BlobSet, TellsBlobsApartThatBeginAlike) {
  const auto ending = [](uint8_t last) {
    std::vector<uint8_t> bytes(Blob::kHeadBytes + 1, 5);
    bytes.back() = last;
    return Blob::owned(std::move(bytes));
  };
  BlobSet blobs;
  for (int turn = 0; turn < 2; ++turn) {
    for (uint8_t last : {1, 2, 3}) EXPECT_EQ(blobs.add(ending(last)), last - 1u);
  }
  EXPECT_EQ(blobs.find(ending(4)), -1);
  const Blob other = Blob::owned(std::vector<uint8_t>(Blob::kHeadBytes + 1, 6));
  EXPECT_EQ(blobs.find(other), -1);
  EXPECT_EQ(blobs.add(other), 3u);
  EXPECT_EQ(blobs.add(other), 3u);
}

TEST(BlobSet, EqualBytesAreOneWhetherTheyAreMadeOrLieInMemory) {
  int reads = 0;
  BlobSet blobs;
  const size_t size = 2 * Blob::kHeadBytes;
  EXPECT_EQ(blobs.add(Blob::owned(std::vector<uint8_t>(size, 1))), 0u);
  EXPECT_EQ(blobs.add(counted(2, size, &reads)), 1u);
  EXPECT_EQ(blobs.add(counted(1, size, &reads)), 0u);
  EXPECT_EQ(blobs.add(Blob::owned(std::vector<uint8_t>(size, 2))), 1u);
  EXPECT_EQ(reads, 2);
}

TEST(BlobSet, ReadsOnlyBlobsOfOneSizeAndEachOnce) {
  BlobSet blobs;
  int reads = 0;
  for (size_t size = 1; size <= 100; ++size) blobs.add(counted(7, size, &reads));
  EXPECT_EQ(reads, 0);
  std::vector<Blob> alike;
  for (int i = 0; i < 200; ++i) alike.push_back(counted(static_cast<uint8_t>(i), 1000, &reads));
  for (int turn = 0; turn < 2; ++turn) {
    for (size_t i = 0; i < alike.size(); ++i) EXPECT_EQ(blobs.add(alike[i]), 100 + i);
  }
  EXPECT_EQ(reads, 200);
}

}  // namespace
}  // namespace petrel::exir
