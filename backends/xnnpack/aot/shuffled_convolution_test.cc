// SPDX-License-Identifier: Apache-2.0
//
// Which transposed convolutions become convolutions and a shuffle.
#include <string>

#include "backends/xnnpack/aot/test_partition.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::backends::xnnpack::aot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string transposed(const std::string& input, const std::string& filter, const std::string& bias,
                       const std::string& stride, const std::string& padding,
                       const std::string& output_padding = "[0,0]",
                       const std::string& dilation = "[1,1]") {
  return lowered_text("method @forward(%x: f32[" + input + "]) {\n  %w = constant @w : f32[" +
                      filter + "]\n  %b = constant @b : f32[" + bias +
                      "]\n  %c = aten.convolution.default(%x, %w, %b, " + stride + ", " + padding +
                      ", " + dilation + ", true, " + output_padding + ", 1)\n  return %c\n}");
}

TEST(ShuffledConvolution, HasAllPhasesOfFewOutputs) {
  const std::string text = transposed("1,8,5,6", "8,1,9,9", "1", "[3,3]", "[3,3]");
  EXPECT_THAT(text, HasSubstr("constant[9,3,3,8] constant[9] -> "));
  EXPECT_THAT(text, HasSubstr("StaticTranspose"));
  EXPECT_THAT(text, HasSubstr("StaticSlice"));
  EXPECT_THAT(text, Not(HasSubstr("ConvTranspose2d")));
}

TEST(ShuffledConvolution, IsNotCutWhereNothingIsPadded) {
  const std::string text = transposed("2,8,5,6", "8,1,4,4", "1", "[2,2]", "[0,0]");
  EXPECT_THAT(text, HasSubstr("constant[4,2,2,8]"));
  EXPECT_THAT(text, Not(HasSubstr("StaticSlice")));
}

TEST(ShuffledConvolution, IsOneOfPhasesWhereColumnsAreFull) {
  for (const std::string& text :
       {transposed("1,8,5,6", "8,21,4,4", "21", "[2,2]", "[1,1]"),
        // Phases have different taps.
        transposed("1,8,5,6", "8,1,9,9", "1", "[2,2]", "[4,4]", "[1,1]"),
        transposed("1,8,5,6", "8,1,3,3", "1", "[1,1]", "[1,1]"),
        transposed("1,8,5,6", "8,1,2,2", "1", "[4,4]", "[0,0]"),
        transposed("1,8,5,6", "8,1,4,4", "1", "[2,2]", "[1,1]", "[0,0]", "[2,2]")}) {
    EXPECT_THAT(text, HasSubstr("ConvTranspose2d"));
  }
}

}  // namespace
}  // namespace petrel::backends::xnnpack::aot
