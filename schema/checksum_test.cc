// SPDX-License-Identifier: Apache-2.0
#include "schema/checksum.h"

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace petrel::schema {
namespace {

uint64_t of(const std::string& text, uint64_t seed = 0) {
  return checksum(text.data(), text.size(), seed);
}

TEST(Checksum, TellsEverySizeAndEveryBitApart) {
  std::set<uint64_t> seen;
  size_t count = 0;
  for (size_t size = 0; size <= 100; ++size) {
    std::string text(size, '\0');
    seen.insert(of(text));
    ++count;
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      text[bit / 8] ^= static_cast<char>(1 << bit % 8);
      seen.insert(of(text));
      ++count;
      text[bit / 8] ^= static_cast<char>(1 << bit % 8);
    }
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(Checksum, DependsOnTheOrderOfWordsAndOnTheSeed) {
  const std::string a(32, 'a');
  const std::string b(32, 'b');
  EXPECT_NE(of(a + b), of(b + a));
  EXPECT_NE(of(a, 0), of(a, 1));
  EXPECT_NE(of(b, of(a)), of(a, of(b)));
}

TEST(Checksum, DoesNotDependOnTheAddress) {
  const std::string text = "not a multiple of thirty-two bytes long, and then some";
  std::vector<char> memory(text.size() + 8);
  for (size_t shift = 0; shift < 8; ++shift) {
    text.copy(memory.data() + shift, text.size());
    EXPECT_EQ(checksum(memory.data() + shift, text.size()), of(text)) << shift;
  }
}

// Packed-weights files keep it, so it stays the same between builds and machines.
TEST(Checksum, StaysTheSame) {
  EXPECT_EQ(of(""), 0xB9B7DE19A608FF49u);
  EXPECT_EQ(of("petrel"), 0xE5847352AAD60F9Du);
  EXPECT_EQ(of("thirty-two bytes and a few more of them"), 0xEA577AA08425755Fu);
}

}  // namespace
}  // namespace petrel::schema
