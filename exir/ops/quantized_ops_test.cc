// SPDX-License-Identifier: Apache-2.0
//
// Calls of quantised operators that kernels refuse, or that no integer stands for: the
// rules name the argument.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "exir/ir/text.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

// %y of a call with %x: f32[2,8], %q: i8[2,8], %s: f32[8], %r: f32[2], %g: f32[2,2],
// %z: i64[8], %i: i64[2,2].
std::string error_of(const std::string& call) {
  const auto graph = parse_graph(
      "method @m(%x: f32[2,8], %q: i8[2,8], %s: f32[8], %r: f32[2], %g: f32[2,2], %z: i64[8], "
      "%i: i64[2,2], %one: f32[1], %none: i64[1]) {\n  %y = quantized_decomposed." +
          call + "\n  return %y\n}\n",
      find_op, nullptr);
  return std::string(graph.status().message());
}

TEST(QuantizedRules, TakeWhatKernelsTake) {
  for (const char* call : {
           "quantize_per_tensor.default(%x, 0.5, 0, -128, 127, i8)",
           "quantize_per_tensor.tensor(%x, %one, %none, 0, 65535, u16)",
           "dequantize_per_tensor.default(%q, 0.5, 0, -128, 127, i8)",
           "dequantize_per_channel.default(%q, %s, %z, 1, -7, 7, i8)",
           "dequantize_per_channel.default(%q, %r, none, 0, -128, 127, i8)",
           "quantize_per_token.default(%x, %r, %r, -128, 127, i8)",
           "dequantize_per_channel_group.default(%q, %g, %i, -8, 7, i8, 4, f32)",
           "dequantize_per_channel_group.default(%q, %r, none, -8, 7, i8, 8, f16)",
       }) {
    EXPECT_EQ(error_of(call), "") << call;
  }
}

TEST(QuantizedRules, NameWhatTheyRefuse) {
  const char* const kCases[][2] = {
      {"dequantize_per_channel_group.default(%q, %g, none, -8, 7, i8, 0, f32)",
       "'group_size' is 0, must divide rows of 8"},
      {"dequantize_per_channel_group.default(%q, %g, none, -8, 7, i8, -4, f32)",
       "'group_size' is -4"},
      {"dequantize_per_channel_group.default(%q, %g, none, -8, 7, i8, 3, f32)",
       "'group_size' is 3"},
      {"dequantize_per_channel_group.default(%q, %r, none, -8, 7, i8, 4, f32)",
       "'scales' has 2 elements, must have 4"},
      {"quantize_per_channel_group.default(%x, %g, %i, -8, 7, i8, 0)", "'group_size' is 0"},
      {"dequantize_per_channel_group.default(%q, %g, none, -8, 7, i8, 4, i8)",
       "'output_dtype' is i8"},
      {"dequantize_per_channel.default(%q, %s, %z, 0, -128, 127, i8)",
       "'scales' has 8 elements, must have 2"},
      {"dequantize_per_channel.default(%q, %s, %i, 1, -128, 127, i8)",
       "'zero_points' has 4 elements, must have 8"},
      {"dequantize_per_channel.default(%q, %z, none, 1, -128, 127, i8)", "'scales' has type i64"},
      {"quantize_per_tensor.tensor(%x, %s, %none, -128, 127, i8)", "'scale' has 8 elements"},
      {"quantize_per_token.default(%x, %s, %r, -128, 127, i8)", "'scales' has 8 elements"},
      {"quantize_per_tensor.default(%x, 0.0, 0, -128, 127, i8)",
       "'scale' is 0, must be a positive, normal number of f32"},
      {"quantize_per_tensor.default(%x, -0.5, 0, -128, 127, i8)", "'scale' is -0.5"},
      {"dequantize_per_tensor.default(%q, 1e999, 0, -128, 127, i8)", "'scale' is inf"},
      {"dequantize_per_tensor.default(%q, 1e-40, 0, -128, 127, i8)", "'scale' is 1e-40"},
      {"dequantize_per_tensor.default(%q, 1e39, 0, -128, 127, i8)", "'scale' is 1e+39"},
      {"quantize_per_tensor.default(%x, 0.5, 300, -128, 127, i8)",
       "'zero_point' is 300, must be one of i8"},
      {"quantize_per_tensor.default(%x, 0.5, -1, 0, 255, u8)", "'zero_point' is -1"},
      {"quantize_per_tensor.default(%q, 0.5, 0, -128, 127, i8)", "'input' has type i8"},
      {"quantize_per_tensor.default(%x, 0.5, 0, -128, 127, f32)", "'dtype' must be an integer"},
      {"quantize_per_tensor.default(%x, 0.5, 0, 5, 4, i8)", "are 5 and 4, must be a range"},
      {"quantize_per_tensor.default(%x, 0.5, 0, 0, 255, i8)", "within i8"},
      {"dequantize_per_tensor.default(%q, 0.5, 0, 0, 255, u8)",
       "'dtype' is u8, argument 'input' has type i8"},
      {"dequantize_per_tensor.default(%x, 0.5, 0, -128, 127, i8)", "'input' has type f32"},
  };
  for (const auto& [call, error] : kCases) {
    EXPECT_THAT(error_of(call), HasSubstr(error)) << call;
  }
}

TEST(QuantizedRules, OfChosenScalesNeedLevels) {
  const auto error = [](const std::string& levels) {
    const auto graph = parse_graph(
        "method @m(%x: f32[2,8]) {\n  %s, %z = quantized_decomposed.choose_qparams.tensor(%x, " +
            levels + ", 1e-05, i8)\n  return %s\n}\n",
        find_op, nullptr);
    return std::string(graph.status().message());
  };
  EXPECT_EQ(error("-128, 127"), "");
  EXPECT_THAT(error("127, 127"), HasSubstr("are 127 and 127"));
  EXPECT_THAT(error("-9223372036854775807, 0"), HasSubstr("within 32 bits"));
}

}  // namespace
}  // namespace petrel::exir
