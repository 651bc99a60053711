// SPDX-License-Identifier: Apache-2.0
//
// A table takes the memory that is charged for it: of an element little more than its bytes.
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "exir/ir/allocated_bytes.h"
#include "exir/pass/decompose/decompose.h"
#include "exir/pass/framework/pass_case.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

size_t bytes_to_decompose(const std::string& text) {
  const auto graph = graph_of(text);
  if (graph == nullptr) return 0;
  const size_t before = allocated_bytes();
  EXPECT_TRUE(decompose(*graph, {}).ok());
  return allocated_bytes() - before;
}

// As many windows of one element.
size_t bytes_of_windows(int windows) {
  return bytes_to_decompose(
      absl::StrCat("method @m(%x: f32[1,1,1]) { %y, %i = aten.adaptive_max_pool1d.default(%x, [",
                   windows, "]) return %y, %i }"));
}

TEST(TablesGrowth, WindowsAreNoVectors) {
  constexpr size_t kMore = 100000;
  const size_t more = bytes_of_windows(2 * kMore) - bytes_of_windows(kMore);
  EXPECT_GT(more, kMore * sizeof(double));
  EXPECT_LT(more, kMore * 100);
}

// A filter that is so much wider than the image has as many taps as there are elements.
size_t bytes_of_filter(const std::string& factor) {
  return bytes_to_decompose(absl::StrCat(
      "method @m(%x: f32[1,1,4,4]) { %y = aten._upsample_bicubic2d_aa.default(%x, [1, 4], false, ",
      factor, ", none) return %y }"));
}

TEST(TablesGrowth, FiltersAreNotWiderThanTheImage) {
  EXPECT_LT(bytes_of_filter("0.000001"), bytes_of_filter("0.01") + 100000);
}

// Each of so many bytes has a share that rounds to none.
TEST(Tables, OfBytesOfARowOfMillionsKeepOneShare) {
  const std::string after = after_pass(decompose, R"(method @m(%x: u8[1,1,1,16777216]) {
    %y = aten._upsample_bilinear2d_aa.default(%x, [1, 1], false, none, none)
    return %y })");
  EXPECT_NE(after.find("aten.index_select"), std::string::npos) << after;
}

}  // namespace
}  // namespace petrel::exir
