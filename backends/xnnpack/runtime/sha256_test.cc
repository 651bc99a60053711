// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/sha256.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace petrel::backends::xnnpack {
namespace {

std::string hex(const Digest& digest) {
  static const char* const digits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

// FIPS 180-4 examples and NIST's one million times 'a'.
TEST(Sha256Test, GivesTheDigestsOfTheStandard) {
  for (const bool portable : {false, true}) {
    const auto digest = [&](const std::string& text) {
      Sha256 hash(portable);
      hash.update(text.data(), text.size());
      return hex(hash.finish());
    };
    EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(digest(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST(Sha256Test, DoesNotDependOnHowTheMessageIsCut) {
  std::vector<uint8_t> message(300);
  for (size_t i = 0; i < message.size(); ++i) message[i] = static_cast<uint8_t>(i * 7 + 1);
  const Digest whole = sha256(message.data(), message.size());
  for (size_t cut = 0; cut <= message.size(); ++cut) {
    Sha256 hash;
    hash.update(message.data(), cut);
    hash.update(message.data() + cut, message.size() - cut);
    EXPECT_EQ(hash.finish(), whole) << cut;
  }
}

TEST(Sha256Test, BothImplementationsAgreeOnAllLengths) {
  std::vector<uint8_t> message(200);
  for (size_t i = 0; i < message.size(); ++i) message[i] = static_cast<uint8_t>(i * 31 + 5);
  for (size_t size = 0; size <= message.size(); ++size) {
    Sha256 portable(true);
    portable.update(message.data(), size);
    EXPECT_EQ(portable.finish(), sha256(message.data(), size)) << size;
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack
