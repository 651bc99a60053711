// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/range_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;
using Kind = RangeChoice::Kind;

TEST(RangeChoice, ReadsTheWordsOfUsers) {
  EXPECT_EQ(parse_range_choice("min-max")->kind, Kind::kMinMax);
  EXPECT_FALSE(parse_range_choice("min-max")->needs_histogram());
  EXPECT_EQ(parse_range_choice("least-error")->kind, Kind::kLeastError);
  EXPECT_EQ(parse_range_choice("by-outputs")->kind, Kind::kByOutputs);
  EXPECT_TRUE(parse_range_choice("by-outputs")->needs_histogram());
  EXPECT_EQ(parse_range_choice("percentile")->kind, Kind::kPercentile);
  EXPECT_EQ(parse_range_choice("percentile")->percent, 99.99);
  EXPECT_EQ(parse_range_choice("percentile=99.5")->percent, 99.5);
  EXPECT_EQ(parse_range_choice("percentile=100")->percent, 100);
  EXPECT_TRUE(parse_range_choice("percentile=50")->needs_histogram());
}

TEST(RangeChoice, RefusesOtherWordsByName) {
  for (const char* word : {"", "widest", "min-max=3", "percentile99", "least-error "}) {
    EXPECT_THAT(
        std::string(parse_range_choice(word).status().message()),
        HasSubstr("', must be by-outputs, min-max, least-error, percentile or percentile=PERCENT"))
        << word;
  }
  for (const char* word : {"percentile=", "percentile=nan", "percentile=inf", "percentile=101",
                           "percentile=49.9", "percentile=-99", "percentile=99%", "percentile=0x60",
                           "percentile=+99", "percentile=9.9e1", "percentile= 99"}) {
    EXPECT_EQ(
        parse_range_choice(word).status().message(),
        "ranges is '" + std::string(word) + "', its percentage must be a number from 50 to 100");
  }
}

}  // namespace
}  // namespace petrel::exir
