// SPDX-License-Identifier: Apache-2.0
//
// The operators of levels say what they cannot do. What they can is tested where they are made
// (exir/integer).
#include <gtest/gtest.h>

#include <string>

#include "exir/ir/text.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

struct Refused {
  const char* inputs;
  const char* call;
  const char* message;
};

std::string message_of(const Refused& one) {
  const std::string text =
      std::string("method @m(") + one.inputs + ") { %y = petrel." + one.call + "\n return %y }";
  const auto graph = parse_graph(
      text, [](absl::string_view name) { return find_op(name); },
      [](const std::string&, const TensorType&) -> ConstantPtr { return nullptr; });
  return std::string(graph.status().message());
}

TEST(Int8Ops, SayWhatDoesNotFit) {
  const Refused all[] = {
      {"%x: f32[4], %t: i8[256]", "int8_table.default(%x, %t)",
       "argument 'input' has type f32, must have i8 or u8"},
      {"%x: i8[4], %t: i8[255]", "int8_table.default(%x, %t)",
       "argument 'table' must have 256 entries"},
      {"%x: i8[4], %y: i8[4]", "int8_mul.default(%x, %y, 0, 0, 1, 63, 0, -128, 127, i8)",
       "argument 'shift' is 63, must be in [1, 62]"},
      {"%x: i8[4], %y: i8[4]", "int8_mul.default(%x, %y, 0, 0, 1, 1, 0, -128, 127, u8)",
       "arguments 'least' and 'most' are -128 and 127, must be a range within u8"},
      {"%x: i8[4], %w: i8[3,4], %m: i32[2], %s: i8[3]",
       "int8_linear.default(%x, %w, none, %m, %s, 0, 0, -128, 127, i8)",
       "argument 'multiplier' must be i32 with one element for each of 3 channels"},
      {"%x: i8[1,4,5,5], %w: i8[3,4,3,3], %m: i32[3], %s: i8[3]",
       "int8_convolution.default(%x, %w, none, %m, %s, [1], [0], [1], 2, 0, 0, -128, 127, i8)",
       "arguments 'input' and 'weight' do not convolve in 2 groups"},
      {"%x: i8[4,4]", "int8_average.default(%x, [0, 4], [0, 4, 4], 0, 1, 1, 0, -128, 127, i8)",
       "argument 'rows' has 2 numbers, must have three a window"},
      {"%x: i8[2,4], %y: i8[3,4]", "int8_matmul.default(%x, %y, 0, 0, 1, 1, 0, -128, 127, i8)",
       "arguments 'self' and 'other' do not multiply"},
      {"%x: i8[2,4], %t: i32[16]", "int8_softmax.default(%x, 1, %t, 1, 1, 0, -128, 127, i8)",
       "argument 'table' must have 256 entries of i32"},
      {"%x: i8[2,4], %m: bool[2,3], %t: i32[256]",
       "int8_masked_softmax.default(%x, %m, 1, %t, 1, 1, 0, -128, 127, i8)",
       "argument 'mask' must have the last dims of 'input'"},
      {"%x: i8[2,4], %w: i32[4], %b: i32[3]",
       "int8_norm.default(%x, 4, 1, %w, %b, 1, 1, 1, 0, -128, 127, i8)",
       "argument 'bias' must be i32, as many as weights"},
      {"%x: i8[2,4], %w: i32[4]", "int8_norm.default(%x, 0, 1, %w, %w, 1, 1, 1, 0, -128, 127, i8)",
       "arguments 'size' and 'repeat' are 0 and 1, must be in [1, 1048576]"},
  };
  for (const Refused& one : all) {
    EXPECT_NE(message_of(one).find(one.message), std::string::npos)
        << one.call << ": " << message_of(one);
  }
}

}  // namespace
}  // namespace petrel::exir
