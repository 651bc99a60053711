// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/segments.h"

#include <cstdint>
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
