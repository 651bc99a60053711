// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/moved_levels.h"

#include <gtest/gtest.h>

#include <string>

#include "exir/ops/handles.h"
#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

constexpr char kNumbers[] = ", 0.5, 2, -128, 127, i8";

absl::StatusOr<bool> move_all(Graph& graph, const PassContext&) {
  return move_levels_as_they_are(graph, [](const Node&) { return false; });
}

std::string quantize(const std::string& numbers = kNumbers) {
  return "quantized_decomposed.quantize_per_tensor.default(" + std::string("%m") + numbers + ")\n";
}

// Levels of `x` dequantised as `numbers` say, moved by `moves` from %d to %m, and quantised.
std::string method(const std::string& numbers, const std::string& moves,
                   const std::string& behind = quantize()) {
  return "method @m(%x: i8[2,4], %i: i64[3]) {\n"
         "%d = quantized_decomposed.dequantize_per_tensor.default(%x" +
         numbers + ", none)\n" + moves + "\n%r = " + behind +
         "%y = quantized_decomposed.dequantize_per_tensor.default(%r" + std::string(kNumbers) +
         ", none)\nreturn %y }";
}

TEST(MovedLevels, AreNotConverted) {
  const std::string before = method(kNumbers, R"(
    %a = aten.roll.default(%d, [1], [1])
    %b = aten.index_select.default(%a, 1, %i)
    %m = aten.flip.default(%b, [0]))");
  EXPECT_EQ(after_pass(move_all, before), expected(R"(method @m(%x: i8[2,4], %i: i64[3]) {
    %d = quantized_decomposed.dequantize_per_tensor.default(%x, 0.5, 2, -128, 127, i8, none)
    %a = aten.roll.default(%x, [1], [1])
    %b = aten.index_select.default(%a, 1, %i)
    %m = aten.flip.default(%b, [0])
    %y = quantized_decomposed.dequantize_per_tensor.default(%m, 0.5, 2, -128, 127, i8, none)
    return %y })"));
}

// What data decides of a size stays what it was called.
TEST(MovedLevels, HaveTheSizesOfWhatWasMoved) {
  const std::string levels = ", 0.5, 2, -128, 127, i8, none)\n";
  const std::string head =
      "method @m<u0: 0..2>(%x: i8[2,4], %k: bool[2]) {\n"
      "%d = quantized_decomposed.dequantize_per_tensor.default(%x" +
      levels;
  EXPECT_EQ(after_pass(move_all, head + "%a = aten.index.Tensor(%d, [%k]) : f32[u0,4]\n" +
                                     "%m = aten.flip.default(%a, [1])\n%r = " + quantize() +
                                     "%y = quantized_decomposed.dequantize_per_tensor.default(%r" +
                                     levels + "return %y }"),
            expected(head + "%a = aten.index.Tensor(%x, [%k]) : i8[u0,4]\n" +
                     "%m = aten.flip.default(%a, [1])\n" +
                     "%y = quantized_decomposed.dequantize_per_tensor.default(%m" + levels +
                     "return %y }"));
}

void expect_kept(const std::string& text) {
  EXPECT_EQ(after_pass(move_all, text), expected(text)) << text;
}

TEST(MovedLevels, StayNumbersWhereLevelsWouldDiffer) {
  constexpr char kRoll[] = "%m = aten.roll.default(%d, [1], [1])";
  expect_kept(method(", 0.25, 2, -128, 127, i8", kRoll));
  expect_kept(method(", 0.5, 3, -128, 127, i8", kRoll));
  // -128 would become -127.
  const std::string narrow = ", 0.5, 2, -127, 127, i8";
  expect_kept(method(narrow, kRoll, quantize(narrow)));
  expect_kept(method(kNumbers, "%m = aten.neg.default(%d)"));
  expect_kept(method(kNumbers, "%m = aten.roll.default(%d, [1], [1]) %z = aten.neg.default(%m)"));
}

TEST(MovedLevels, LeaveWhatBackendsTake) {
  const std::string text = method(kNumbers, "%m = aten.roll.default(%d, [1], [1])");
  const auto graph = graph_of(text);
  const auto moved =
      move_levels_as_they_are(*graph, [](const Node& node) { return node.is(aten::roll); });
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_FALSE(*moved);
  EXPECT_EQ(plain_text(*graph), expected(text));
}

}  // namespace
}  // namespace petrel::exir
