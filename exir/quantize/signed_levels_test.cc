// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/signed_levels.h"

#include <gtest/gtest.h>

#include <string>

#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

std::string steps(const std::string& quantize, const std::string& dequantize,
                  const std::string& result = "%y") {
  return "method @m(%x: f32[2,4]) {\n"
         "%q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, " +
         quantize +
         ")\n"
         "%d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, " +
         dequantize + ", none)\n%y = aten.relu.default(%d)\nreturn " + result + " }";
}

TEST(SignedLevels, StandForTheSameNumbers) {
  const auto graph = graph_of(steps("130, 0, 255, u8", "130, 0, 255, u8"));
  EXPECT_TRUE(sign_levels(*graph));
  EXPECT_EQ(plain_text(*graph), expected(steps("2, -128, 127, i8", "2, -128, 127, i8")));
  EXPECT_FALSE(sign_levels(*graph));
}

TEST(SignedLevels, KeepARangeThatIsShort) {
  const auto graph = graph_of(steps("0, 0, 127, u8", "0, 0, 127, u8"));
  EXPECT_TRUE(sign_levels(*graph));
  EXPECT_EQ(plain_text(*graph), expected(steps("-128, -128, -1, i8", "-128, -128, -1, i8")));
}

TEST(SignedLevels, LeaveWhatOthersSee) {
  EXPECT_FALSE(sign_levels(*graph_of(steps("130, 0, 255, u8", "130, 0, 255, u8", "%q"))));
  EXPECT_FALSE(sign_levels(*graph_of(steps("3, -128, 127, i8", "3, -128, 127, i8"))));
  EXPECT_FALSE(
      sign_levels(*graph_of("method @m(%q: u8[4]) {\n"
                            "%d = quantized_decomposed.dequantize_per_tensor.default(%q, "
                            "0.5, 3, 0, 255, u8, none)\nreturn %d }")));
}

}  // namespace
}  // namespace petrel::exir
