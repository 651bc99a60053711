// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/blob_digests.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

constexpr size_t kBytes = size_t{1} << 20;

std::vector<uint8_t> bytes_of(int i) {
  return std::vector<uint8_t>(kBytes, static_cast<uint8_t>(i));
}

TEST(BlobDigests, AreThoseOfOneThread) {
  for (const size_t threads : {1, 2, 3, 16}) {
    std::vector<Blob> blobs;
    for (int i = 0; i < 8; ++i) blobs.push_back(Blob::owned(bytes_of(i)));
    blobs.push_back(blobs[2]);
    blobs.push_back(Blob());
    BlobDigests digests(blobs, threads);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(blobs[i].bytes().data()[kBytes - 1], i);  // meanwhile
    digests.finish();
    for (int i = 0; i < 8; ++i) EXPECT_EQ(blobs[i].sha256(), sha256_of(bytes_of(i)));
    EXPECT_EQ(blobs[8].sha256(), blobs[2].sha256());
    EXPECT_EQ(blobs[9].sha256(), sha256_of({}));
  }
}

// Producers may not be ready for threads, and what they make takes memory.
TEST(BlobDigests, WhatIsProducedIsMadeOnceAndByTheCaller) {
  int calls = 0;
  const std::thread::id self = std::this_thread::get_id();
  std::vector<Blob> blobs;
  for (int i = 0; i < 4; ++i) {
    blobs.push_back(Blob::produced(kBytes, [&](absl::Span<uint8_t>) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++calls;
    }));
    blobs.push_back(Blob::owned(bytes_of(i)));
  }
  BlobDigests digests(blobs, 4);
  EXPECT_EQ(calls, 4);
  digests.finish();
  for (const Blob& blob : blobs) EXPECT_EQ(blob.sha256(), sha256_of(blob.bytes().span()));
  EXPECT_EQ(calls, 4);  // what was hashed is kept once for bytes()
}

TEST(BlobDigests, NobodyHasToWaitForThem) {
  std::vector<Blob> blobs;
  for (int i = 0; i < 8; ++i) blobs.push_back(Blob::owned(bytes_of(i)));
  { const BlobDigests digests(blobs, 3); }
  for (int i = 0; i < 8; ++i) EXPECT_EQ(blobs[i].sha256(), sha256_of(bytes_of(i)));
}

}  // namespace
}  // namespace petrel::exir
