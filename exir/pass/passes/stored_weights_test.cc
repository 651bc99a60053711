// SPDX-License-Identifier: Apache-2.0
//
// Weights that are stored as integers, on their way to kernels.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exir/ir/text.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/pass/passes/dequantise_late.h"
#include "exir/pass/passes/drop_zero_points.h"
#include "exir/pass/passes/permute_stored_weights.h"
#include "exir/pass/passes/remove_dead_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<bool> permute_and_clean(Graph& graph, const PassContext& context) {
  auto changed = permute_stored_weights(graph, context);
  if (!changed.ok() || !*changed) return changed;
  return remove_dead_code(graph, context);
}

TEST(PermuteStoredWeights, MovesPermutationsToTheIntegers) {
  EXPECT_EQ(after_pass(permute_and_clean, R"(method @m(%x: f32[2,4]) {
    %q = constant @q : i8[3,4]
    %s = constant @s : f32[3]
    %d = quantized_decomposed.dequantize_per_channel.default(%q, %s, none, 0, -127, 127, i8, none)
    %t = aten.permute.default(%d, [1, 0])
    %y = aten.mm.default(%x, %t)
    return %y })"),
            expected(R"(method @m(%x: f32[2,4]) {
    %q = constant @q : i8[3,4]
    %s = constant @s : f32[3]
    %p = aten.permute.default(%q, [1, 0])
    %t = quantized_decomposed.dequantize_per_channel.default(%p, %s, none, 1, -127, 127, i8, none)
    %y = aten.mm.default(%x, %t)
    return %y })"));
}

TEST(PermuteStoredWeights, FindsTheAxisOfAnyPermutation) {
  const std::string text = after_pass(permute_and_clean, R"(method @m() {
    %q = constant @q : i8[2,3,4]
    %s = constant @s : f32[4]
    %d = quantized_decomposed.dequantize_per_channel.default(%q, %s, none, -1, -127, 127, i8, none)
    %t = aten.permute.default(%d, [1, -1, 0])
    return %t })");
  EXPECT_THAT(text, HasSubstr("none, 1, -127, 127, i8, none)"));
  EXPECT_THAT(text, HasSubstr("f32[3,4,2]"));
  EXPECT_THAT(after_pass(permute_and_clean, R"(method @m() {
    %q = constant @q : i8[2,3]
    %d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 3, -128, 127, i8, none)
    %t = aten.permute.default(%d, [1, 0])
    return %t })"),
              HasSubstr("0.5, 3, -128, 127, i8, none) : f32[3,2]"));
}

// Of a table that is read by rows and multiplied by, there is one copy.
TEST(PermuteStoredWeights, LeavesWhatOthersReadAsItIs) {
  for (const std::string reader : {"%q", "%d"}) {
    const std::string text =
        "method @m(%x: f32[2,4]) {\n%q = constant @q : i8[3,4]\n"
        "%d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 0, "
        "-128, 127, i8, none)\n%t = aten.permute.default(%d, [1, 0])\n"
        "%y = aten.mm.default(%x, %t)\n%z = aten.neg.default(" +
        reader + ")\nreturn %y, %z }";
    EXPECT_EQ(after_pass(permute_and_clean, text), expected(text));
  }
}

constexpr char kTwoLayers[] = R"(method @m(%x: f32[2,4]) {
    %q = constant @q : i8[4,4]
    %r = constant @r : i8[4,4]
    %a = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 0, -128, 127, i8, none)
    %b = quantized_decomposed.dequantize_per_tensor.default(%r, 0.5, 0, -128, 127, i8, none)
    %c = aten.permute.default(%b, [1, 0])
    %y = aten.mm.default(%x, %a)
    %z = aten.mm.default(%y, %c)
    return %z })";

TEST(DequantiseLate, PutsWeightsBeforeTheirUsers) {
  EXPECT_EQ(after_pass(dequantise_late, kTwoLayers), expected(R"(method @m(%x: f32[2,4]) {
    %q = constant @q : i8[4,4]
    %r = constant @r : i8[4,4]
    %a = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 0, -128, 127, i8, none)
    %y = aten.mm.default(%x, %a)
    %b = quantized_decomposed.dequantize_per_tensor.default(%r, 0.5, 0, -128, 127, i8, none)
    %c = aten.permute.default(%b, [1, 0])
    %z = aten.mm.default(%y, %c)
    return %z })"));
}

TEST(DequantiseLate, LeavesActivationsOutputsAndState) {
  for (const char* text : {// An activation.
                           R"(method @m(%x: i8[2,4], %w: f32[2,4]) {
    %a = quantized_decomposed.dequantize_per_tensor.default(%x, 0.5, 0, -128, 127, i8, none)
    %y = aten.neg.default(%w)
    %z = aten.add.Tensor(%y, %a)
    return %z })",
                           // An output.
                           R"(method @m(%w: f32[2,4]) {
    %q = constant @q : i8[2,4]
    %a = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 0, -128, 127, i8, none)
    %y = aten.neg.default(%w)
    %z = aten.add.Tensor(%y, %a)
    return %a, %z })",
                           // What is written meanwhile.
                           R"(method @m(%w: f32[2,4]) {
    %q = state @state : i8[2,4]
    %a = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 0, -128, 127, i8, none)
    %y = aten.neg.default(%w)
    %z = aten.add.Tensor(%y, %a)
    return %z })"}) {
    EXPECT_EQ(after_pass(dequantise_late, text), expected(text));
  }
}

// All elements are `level` in constants that are not called z.
std::string without_zero_points(const std::string& dequantize, uint8_t level) {
  auto graph = parse_graph(
      "method @m() {\n%q = constant @q : i8[2,4]\n%s = constant @s : f32[2]\n"
      "%z = constant @z : i64[2]\n%d = " +
          dequantize + "\nreturn %d }",
      [](absl::string_view name) { return find_op(name); },
      [&](const std::string& fqn, const TensorType& type) {
        auto constant = std::make_shared<Constant>();
        constant->fqn = fqn;
        constant->type = type;
        const uint8_t byte = fqn == "z" ? level : 1;
        constant->data =
            Blob::owned(std::vector<uint8_t>(static_cast<size_t>(type.nbytes()), byte));
        return constant;
      });
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return "";
  EXPECT_EQ(*drop_zero_points(**graph, PassContext()), level == 0);
  EXPECT_FALSE(*drop_zero_points(**graph, PassContext()));
  return print_graph(**graph);
}

TEST(DropZeroPoints, OfWeightsThatHaveNone) {
  for (const std::string dequantize :
       {"quantized_decomposed.dequantize_per_channel.default(%q, %s, %z, 0, -127, 127, i8, none)",
        "torchao.dequantize_affine.default(%q, [1, 4], %s, %z, i8, -127, 127, f32)"}) {
    EXPECT_THAT(without_zero_points(dequantize, 0), HasSubstr("%s, none, ")) << dequantize;
    EXPECT_THAT(without_zero_points(dequantize, 1), HasSubstr("%s, %z, ")) << dequantize;
  }
}

}  // namespace
}  // namespace petrel::exir
