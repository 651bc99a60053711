// SPDX-License-Identifier: Apache-2.0
//
// Joins of more values than a node of XNNPACK takes.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/xnnpack/aot/test_partition.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

// In turn, each of 100 would be copied up to 25 times.
TEST(Joins, CopyEachOfManyAFewTimes) {
  const std::string many = absl::StrJoin(std::vector<std::string>(100, "%x"), ", ");
  const std::string text =
      lowered_text(absl::StrCat("method @forward(%x: f32[1,2]) {\n", "  %y = aten.cat.default([",
                                many, "], 0)\n  return %y\n}"));
  int five = 0, twenty_five = 0, all = 0, others = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::StrContains(line, "Concatenate5") && absl::EndsWith(line, "[5,2]")) {
      ++five;
    } else if (absl::StrContains(line, "Concatenate5") && absl::EndsWith(line, "[25,2]")) {
      ++twenty_five;
    } else if (absl::StrContains(line, "Concatenate4") && absl::EndsWith(line, "[100,2]")) {
      ++all;
    } else {
      ++others;
    }
  }
  EXPECT_EQ(five, 20) << text;
  EXPECT_EQ(twenty_five, 4) << text;
  EXPECT_EQ(all, 1) << text;
  EXPECT_EQ(others, 0) << text;
}

TEST(Joins, OfSixAreTwo) {
  EXPECT_EQ(lowered_text(R"(method @forward(%x: f32[1,2], %z: f32[3,2]) {
  %y = aten.cat.default([%x, %z, %x, %x, %x, %z], 0)
  return %y
})"),
            "Concatenate5 #0 #1 #0 #0 #0 -> #2[7,2]\n"
            "Concatenate2 #2 #1 -> #3[10,2]\n");
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
