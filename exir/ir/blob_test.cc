// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/blob.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

// Digests from FIPS 180-2's examples.
constexpr char kEmpty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Blob, DigestIsSha256) {
  EXPECT_EQ(to_hex(Blob().sha256()), kEmpty);
  EXPECT_EQ(to_hex(Blob::owned({'a', 'b', 'c'}).sha256()), kAbc);
}

TEST(Blob, AViewKeepsItsOwnerAlive) {
  auto owner = std::make_shared<std::vector<uint8_t>>(3, uint8_t{7});
  std::weak_ptr<std::vector<uint8_t>> watch = owner;
  {
    Blob blob = Blob::view(absl::MakeConstSpan(*owner), owner);
    const uint8_t* data = owner->data();
    owner.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(blob.bytes().data(), data);  // not copied
    Blob::Bytes pinned = blob.bytes();
    blob = Blob();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(pinned.data()[2], 7);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Blob, AProducedBlobIsMadeOnDemandAndHashedOnce) {
  int calls = 0;
  Blob blob = Blob::produced(3, [&](absl::Span<uint8_t> out) {
    ++calls;
    std::copy_n("abc", 3, out.begin());
  });
  EXPECT_EQ(blob.size(), 3u);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(to_hex(blob.sha256()), kAbc);
  EXPECT_EQ(to_hex(Blob(blob).sha256()), kAbc);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(blob.bytes().data()[0], 'a');
  EXPECT_EQ(calls, 1);  // what was hashed is written
  EXPECT_EQ(blob.bytes().data()[0], 'a');
  EXPECT_EQ(calls, 2);
}

TEST(Blob, KeepsNoMoreThanItsLimitBetweenHashingAndWriting) {
  constexpr size_t kHalf = Blob::kMostKept / 2;
  int calls = 0;
  const auto make = [&] { return Blob::produced(kHalf, [&](absl::Span<uint8_t>) { ++calls; }); };
  std::vector<Blob> blobs = {make(), make(), make()};
  for (const Blob& blob : blobs) blob.sha256();
  EXPECT_EQ(calls, 3);
  for (const Blob& blob : blobs) EXPECT_EQ(blob.bytes().size(), kHalf);
  EXPECT_EQ(calls, 4);  // the third was over the limit

  blobs = {make()};  // the room of the others is free again
  blobs[0].sha256();
  blobs[0].bytes();
  EXPECT_EQ(calls, 5);
}

TEST(Blob, ItsHeadIsTheDigestOfItsFirstBytes) {
  std::vector<uint8_t> bytes(Blob::kHeadBytes, 3);
  const Sha256 head = sha256_of(bytes);
  EXPECT_EQ(Blob::owned(bytes).head(), head);
  bytes.push_back(4);
  EXPECT_EQ(Blob::owned(bytes).head(), head);
  EXPECT_EQ(Blob::produced(bytes.size(),
                           [&](auto out) { std::copy(bytes.begin(), bytes.end(), out.begin()); })
                .head(),
            head);
  EXPECT_EQ(to_hex(Blob::owned({'a', 'b', 'c'}).head()), kAbc);
  EXPECT_EQ(to_hex(Blob().head()), kEmpty);
}

TEST(Blob, AProducedBlobIsMadeOnceForItsHeadAndItsDigest) {
  int calls = 0;
  const Blob blob = Blob::produced(3, [&](absl::Span<uint8_t>) { ++calls; });
  blob.head();
  blob.sha256();
  blob.head();
  EXPECT_EQ(calls, 1);
}

TEST(Blob, EqualMeansTheSameBytes) {
  const Blob abc = Blob::owned({'a', 'b', 'c'});
  EXPECT_TRUE(abc.equals(abc));
  EXPECT_TRUE(abc.equals(Blob::owned({'a', 'b', 'c'})));
  EXPECT_FALSE(abc.equals(Blob::owned({'a', 'b', 'd'})));
  EXPECT_FALSE(abc.equals(Blob::owned({'a', 'b'})));
}

TEST(Blob, ACopyDoesNotFollowItsSource) {
  std::vector<uint8_t> source = {1, 2};
  const Blob blob = Blob::copy_of(absl::MakeConstSpan(source));
  source[0] = 9;
  EXPECT_EQ(blob.bytes().data()[0], 1);
}

}  // namespace
}  // namespace petrel::exir
