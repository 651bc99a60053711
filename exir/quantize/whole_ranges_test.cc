// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/whole_ranges.h"

#include <gtest/gtest.h>

#include <string>

#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

std::string quantise(const char* to, const char* from, const char* range) {
  return std::string("%") + to + " = quantized_decomposed.quantize_per_tensor.default(%" + from +
         ", 0.5, 3, " + range + ", i8)\n";
}

std::string dequantise(const char* to, const char* from, const char* range) {
  return std::string("%") + to + " = quantized_decomposed.dequantize_per_tensor.default(%" + from +
         ", 0.5, 3, " + range + ", i8, none)\n";
}

std::string method(const std::string& nodes) {
  return "method @m(%x: f32[2,4]) {\n" + nodes + "return %y }";
}

void becomes(const std::string& before, const std::string& after) {
  const auto graph = graph_of(method(before));
  ASSERT_NE(graph, nullptr);
  const auto changed = take_whole_ranges(*graph);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(*changed, before != after);
  EXPECT_EQ(plain_text(*graph), expected(method(after)));
}

TEST(WholeRanges, ClampNumbersInThePlaceOfLevels) {
  becomes(quantise("q", "x", "-64, 63") + dequantise("y", "q", "-64, 63"),
          "%c = aten.clamp.default(%x, -33.5, 30.0)\n" + quantise("q", "c", "-128, 127") +
              dequantise("y", "q", "-128, 127"));
}

TEST(WholeRanges, TakeTheClampThatIsThere) {
  becomes("%r = aten.relu.default(%x)\n" + quantise("q", "r", "-64, 63") +
              dequantise("y", "q", "-64, 63"),
          "%c = aten.clamp.default(%x, 0.0, 30.0)\n" + quantise("q", "c", "-128, 127") +
              dequantise("y", "q", "-128, 127"));
  // All that is clamped lies beside the range: at its end.
  becomes("%r = aten.hardtanh.default(%x, 40.0, 50.0)\n" + quantise("q", "r", "-64, 63") +
              dequantise("y", "q", "-64, 63"),
          "%c = aten.clamp.default(%x, 30.0, 30.0)\n" + quantise("q", "c", "-128, 127") +
              dequantise("y", "q", "-128, 127"));
}

TEST(WholeRanges, ClampNothingThatLiesWithin) {
  const auto moved = [](const char* range) {
    return dequantise("d", "q", range) + "%v = aten.view.default(%d, [4, 2])\n" +
           quantise("w", "v", range) + dequantise("e", "w", range) +
           "%y = aten.view.default(%e, [2, 4])\n";
  };
  becomes(quantise("q", "x", "-64, 63") + moved("-64, 63"),
          "%c = aten.clamp.default(%x, -33.5, 30.0)\n" + quantise("q", "c", "-128, 127") +
              moved("-128, 127"));
}

TEST(WholeRanges, LeaveOthers) {
  for (const char* range : {"-128, 127", "-127, 127", "5, 127"}) {
    const std::string text = quantise("q", "x", range) + dequantise("y", "q", range);
    becomes(text, text);
  }
}

}  // namespace
}  // namespace petrel::exir
