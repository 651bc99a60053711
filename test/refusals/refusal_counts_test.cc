// SPDX-License-Identifier: Apache-2.0
#include "test/refusals/refusal_counts.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <fstream>

namespace petrel::refusals {
namespace {

TEST(RefusalCounts, TakesNumbersAndQuotedWordsForOne) {
  EXPECT_EQ(words_of("offset 12 of 'w 1' is beyond 0x7f bytes"),
            "offset _ of '_' is beyond _ bytes");
  EXPECT_EQ(words_of("int8 is not float32: \"a\" isn't, -1.5"),
            "int8 is not float32: \"_\" isn't, -_");
  EXPECT_EQ(words_of("a 'quote that is not closed"), "a 'quote that is not closed");
  EXPECT_EQ(words_of(std::string("a|b\n\xff")), "a?b??");
  EXPECT_EQ(words_of(std::string(1000, 'x')).size(), 160u);
}

TEST(RefusalCounts, CountsBySeedAndWords) {
  RefusalCounts counts("none.txt");
  counts.add("b", "size 3");
  counts.add("b", "size 44");
  counts.add("a", "");
  EXPECT_EQ(counts.text(),
            "# damaged file | how many | what they are refused with\n"
            "a | 1 | taken\n"
            "b | 2 | size _\n");
}

TEST(RefusalCounts, FailsWhenOneRefusalMovesToAnotherCheck) {
  static std::string table = ::testing::TempDir() + "/table.txt";
  RefusalCounts before(table);
  before.add("a", "size 3");
  before.add("a", "size 4");
  std::ofstream(table) << before.text();
  before.expect_as_recorded();
  EXPECT_NONFATAL_FAILURE(
      {
        RefusalCounts after(table);
        after.add("a", "size 3");
        after.add("a", "no size");
        after.expect_as_recorded();
      },
      "  a | 1 | no size\n");
  EXPECT_FATAL_FAILURE(RefusalCounts("nowhere.txt").expect_as_recorded(), "is not there");
}

}  // namespace
}  // namespace petrel::refusals
