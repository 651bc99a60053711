// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/sha256.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <vector>

namespace petrel::runtime {
namespace {

static_assert(kSha256Bytes == SHA256_DIGEST_LENGTH);

TEST(Sha256Test, AgreesWithOpenSsl) {
  std::vector<uint8_t> data;
  // Every way in which the last block fills up, and many blocks.
  for (size_t size = 0; size < 1000; ++size) {
    std::vector<uint8_t> digest(kSha256Bytes), wanted(kSha256Bytes);
    sha256({data.data(), data.size()}, digest.data());
    SHA256(data.data(), data.size(), wanted.data());
    ASSERT_EQ(digest, wanted) << size;
    data.push_back(static_cast<uint8_t>(size * 37 ^ size >> 3));
  }
}

}  // namespace
}  // namespace petrel::runtime
