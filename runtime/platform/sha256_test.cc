// SPDX-License-Identifier: Apache-2.0
#include "runtime/platform/sha256.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/platform/fast_sha256.h"

namespace petrel::runtime {
namespace {

static_assert(kSha256Bytes == SHA256_DIGEST_LENGTH);

std::string hex(const uint8_t* digest) {
  std::string text;
  for (size_t i = 0; i < kSha256Bytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", unsigned{digest[i]});
    text += digits;
  }
  return text;
}

// Plain, and with the processor's instructions.
class Sha256Test : public testing::TestWithParam<Sha256Mixer> {
 protected:
  std::string digest_of(const std::vector<uint8_t>& data, size_t part = SIZE_MAX) {
    Sha256 hash(GetParam());
    for (size_t done = 0; done < data.size(); done += std::min(part, data.size() - done)) {
      hash.update({data.data() + done, std::min(part, data.size() - done)});
    }
    uint8_t digest[kSha256Bytes];
    hash.finish(digest);
    return hex(digest);
  }
  std::string digest_of(const std::string& text) {
    return digest_of(std::vector<uint8_t>(text.begin(), text.end()));
  }
};

// The examples of FIPS 180-2 and of NIST's page on them.
TEST_P(Sha256Test, GivesTheDigestsOfNist) {
  EXPECT_EQ(digest_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnop"
                      "jklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(digest_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Every way in which the last block fills up, and many blocks, whole and in parts.
TEST_P(Sha256Test, AgreesWithOpenSsl) {
  std::vector<uint8_t> data;
  for (size_t size = 0; size < 1000; ++size) {
    uint8_t wanted[kSha256Bytes];
    SHA256(data.data(), data.size(), wanted);
    ASSERT_EQ(digest_of(data), hex(wanted)) << size;
    ASSERT_EQ(digest_of(data, size % 130 + 1), hex(wanted)) << size;
    data.push_back(static_cast<uint8_t>(size * 37 ^ size >> 3));
  }
}

INSTANTIATE_TEST_SUITE_P(, Sha256Test, testing::Values(&mix_sha256, fast_sha256_mixer()));

TEST(FastSha256, IsAFunctionForPrograms) {
  const uint8_t data[3] = {'a', 'b', 'c'};
  uint8_t plain[kSha256Bytes], fast[kSha256Bytes];
  sha256({data, 3}, plain);
  fast_sha256({data, 3}, fast);
  EXPECT_EQ(hex(plain), hex(fast));
  if (!has_sha256_instructions()) {
    GTEST_SKIP() << "this machine has no instructions for SHA-256: they were not tested";
  }
}

}  // namespace
}  // namespace petrel::runtime
