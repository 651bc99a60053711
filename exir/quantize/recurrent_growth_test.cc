// SPDX-License-Identifier: Apache-2.0
//
// Work grows as the number of weights does, also where an archive was made to have it grow
// faster. It is counted in bytes that are allocated, which every run repeats exactly.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/ir/allocated_bytes.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/quantize/recurrent_products.h"
#include "exir/quantize/signed_levels.h"

namespace petrel::exir {
namespace {

// Weights that two products each share, side by side, and as many nodes behind all of them: from
// every weight the whole of these is to be seen.
std::string side_by_side(int weights) {
  std::string text = "method @m(%x: f32[4,4], %z: f32[4,4]) {\n";
  std::string last = "x";
  for (int i = 0; i < weights; ++i) {
    absl::StrAppend(&text, "%w", i, " = constant @w", i, " : f32[4,4]\n");
    absl::StrAppend(&text, "%a", i, " = aten.linear.default(%x, %w", i, ", none)\n");
    absl::StrAppend(&text, "%b", i, " = aten.linear.default(%z, %w", i, ", none)\n");
    absl::StrAppend(&text, "%c", i, " = aten.add.Tensor(%a", i, ", %b", i, ", 1)\n");
    absl::StrAppend(&text, "%s", i, " = aten.add.Tensor(%", last, ", %c", i, ", 1)\n");
    last = absl::StrCat("s", i);
  }
  for (int i = 0; i < weights; ++i) {
    absl::StrAppend(&text, "%r", i, " = aten.relu.default(%", last, ")\n");
    last = absl::StrCat("r", i);
  }
  return absl::StrCat(text, "return %", last, " }");
}

// Cells in a row, each of which reads the one before.
std::string in_a_row(int weights) {
  std::string text = "method @m(%x: f32[4,4]) {\n";
  std::string last = "x";
  for (int i = 0; i < weights; ++i) {
    absl::StrAppend(&text, "%w", i, " = constant @w", i, " : f32[4,4]\n");
    absl::StrAppend(&text, "%a", i, " = aten.linear.default(%", last, ", %w", i, ", none)\n");
    absl::StrAppend(&text, "%b", i, " = aten.linear.default(%a", i, ", %w", i, ", none)\n");
    last = absl::StrCat("b", i);
  }
  return absl::StrCat(text, "return %", last, " }");
}

size_t bytes_to_find(const std::string& text, size_t found) {
  const auto graph = graph_of(text);
  if (graph == nullptr) return 0;
  const size_t before = allocated_bytes();
  EXPECT_EQ(recurrent_products(*graph).size(), found);
  return allocated_bytes() - before;
}

// Weights of bytes that share their zero points.
std::string with_zero_points(int weights, int channels) {
  std::string text =
      absl::StrCat("method @m() {\n%s = constant @s : f32[", channels, "]\n%z = constant @z : i64[",
                   channels, "]\n%w = constant @w : u8[", channels, ",1]\n");
  std::string returned;
  for (int i = 0; i < weights; ++i) {
    absl::StrAppend(&text, "%d", i,
                    " = quantized_decomposed.dequantize_per_channel.default(%w, %s, %z, 0, 0, 255, "
                    "u8, none)\n");
    absl::StrAppend(&returned, i > 0 ? ", " : "", "%d", i);
  }
  return absl::StrCat(text, "return ", returned, " }");
}

size_t bytes_to_sign(const std::string& text) {
  const auto graph = graph_of(text);
  if (graph == nullptr) return 0;
  SignedConstants made;
  const size_t before = allocated_bytes();
  EXPECT_TRUE(sign_levels(*graph, made));
  return allocated_bytes() - before;
}

TEST(SignedGrowth, ZeroPointsThatWeightsShareAreReadOnce) {
  const size_t few = bytes_to_sign(with_zero_points(50, 1000));
  EXPECT_GT(few, 0u);
  EXPECT_LT(bytes_to_sign(with_zero_points(200, 4000)), 5 * few);
}

TEST(RecurrentGrowth, TwiceTheWeightsTakeTwiceTheBytes) {
  // Lists and tables double where they are full, so that four times as many tell more.
  const size_t few = bytes_to_find(side_by_side(250), 0);
  const size_t many = bytes_to_find(side_by_side(1000), 0);
  EXPECT_GT(few, 0u);
  EXPECT_LT(many, 5 * few) << few;
  const size_t few_cells = bytes_to_find(in_a_row(250), 500);
  EXPECT_LT(bytes_to_find(in_a_row(1000), 2000), 5 * few_cells) << few_cells;
}

}  // namespace
}  // namespace petrel::exir
