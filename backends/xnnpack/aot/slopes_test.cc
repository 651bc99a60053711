// SPDX-License-Identifier: Apache-2.0
//
// PReLU, by structure; test/xnnpack runs it.
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/xnnpack/aot/test_partition.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using ::testing::HasSubstr;

std::string alone(const std::string& x, const std::string& slopes,
                  const std::string& op = "aten.prelu.default") {
  return absl::StrCat("method @forward<n: 1..9>(%x: ", x, ") {\n%s = constant @s : ", slopes,
                      "\n%y = ", op, "(%x, %s)\nreturn %y\n}");
}

TEST(Slopes, LieAlongTheChannelsOfBothLayouts) {
  EXPECT_EQ(lowered_text(R"(method @forward(%x: f32[1,3,8,8]) {
  %w = constant @w : f32[3,3,3,3]
  %s = constant @s : f32[3]
  %c = aten.convolution.default(%x, %w, none, [1,1], [1,1], [1,1], false, [0,0], 1)
  %p = aten.prelu.default(%c, %s)
  %y = aten.prelu.default(%x, %s)
  return %p, %y
})"),
            "StaticTranspose #0 -> #1[1,8,8,3]\n"
            "Conv2d #1 constant[3,3,3,3] -> #3[1,8,8,3]\n"
            "PRelu #3 constant[3] -> #5[1,8,8,3]\n"
            "PRelu #0 constant[3,1,1] -> #7[1,3,8,8]\n"
            "StaticTranspose #5 -> #8[1,3,8,8]\n");
  // A convolution of sounds is one of images of one row.
  EXPECT_THAT(lowered_text(R"(method @forward(%x: f32[2,3,8]) {
  %w = constant @w : f32[4,3,3]
  %s = constant @s : f32[4]
  %c = aten.convolution.default(%x, %w, none, [1], [1], [1], false, [0], 1)
  %p = aten.prelu.default(%c, %s)
  return %p
})"),
              HasSubstr("constant[4] -> #6[2,1,8,4]\n"));
}

TEST(Slopes, AreTakenOfAnyRankAndOfHalf) {
  EXPECT_EQ(lowered_text(alone("f32[5]", "f32[1]")), "PRelu #0 constant[1] -> #2[5]\n");
  EXPECT_EQ(lowered_text(alone("f32[2,5]", "f32[5]")), "PRelu #0 constant[5] -> #2[2,5]\n");
  EXPECT_EQ(lowered_text(alone("f16[2,5,3]", "f16[5]")), "PRelu #0 constant[5,1] -> #2[2,5,3]\n");
  EXPECT_EQ(lowered_text(alone("f32[2,5,3]", "f32[]")), "PRelu #0 constant[1] -> #2[2,5,3]\n");
  EXPECT_EQ(lowered_text(alone("f32[2,5,3]", "f32[1,5,1]", "aten._prelu_kernel.default")),
            "PRelu #0 constant[1,5,1] -> #2[2,5,3]\n");
}

TEST(Slopes, AreTakenWhereOtherSizesVary) {
  const auto reason = [](const std::string& x, const std::string& slopes) {
    const auto partition = parse_partition(alone(x, slopes));
    if (partition == nullptr) return std::string("(does not parse)");
    return xnnpack_backend()->partitioner().supports(*partition->nodes().back()).reason;
  };
  EXPECT_EQ(reason("f32[n,3,n,7]", "f32[3]"), "");
  EXPECT_EQ(reason("f32[n,n]", "f32[1]"), "");
  EXPECT_THAT(reason("bf16[2,3,n]", "bf16[3]"), HasSubstr("must be f32"));
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
