// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/keyed_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace petrel::backends::xnnpack {
namespace {

TEST(KeyedHash, DependsOnEveryByteTheLengthAndTheKey) {
  KeyedHash::Secret secret;
  ASSERT_TRUE(KeyedHash::random_secret(&secret));
  const KeyedHash hash(secret);
  ++secret.words[5];
  const KeyedHash other(secret);
  std::set<KeyedHash::Digest> digests;
  size_t made = 0;
  for (const size_t size : {0u, 1u, 15u, 16u, 1023u, 1024u, 1025u, 5000u}) {
    std::vector<uint8_t> bytes(size, 0);
    digests.insert(hash.of(bytes.data(), size));
    ++made;
    for (size_t i = 0; i < size; i += 7) {
      bytes[i] = 1;
      digests.insert(hash.of(bytes.data(), size));
      ++made;
      bytes[i] = 0;
    }
  }
  EXPECT_EQ(digests.size(), made);
  const std::vector<uint8_t> bytes(3000, 9);
  EXPECT_EQ(hash.of(bytes.data(), 3000), hash.of(std::vector<uint8_t>(bytes).data(), 3000));
  EXPECT_NE(hash.of(bytes.data(), 3000), other.of(bytes.data(), 3000));
}

}  // namespace
}  // namespace petrel::backends::xnnpack
