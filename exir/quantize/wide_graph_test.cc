// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/wide_graph.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

bool has_row(const std::string&, const Node& node) {
  return node.is(aten::linear, aten::relu, aten::add_Tensor, aten::neg) ||
         node.op().full_name().find("torchao") == 0;
}

std::string widened(const std::string& text) {
  Program program;
  program.methods["m"].graph = graph_of(text);
  const absl::Status levels = widen_levels(program, ScalarType::kBFloat16, has_row);
  EXPECT_TRUE(levels.ok()) << levels;
  const absl::Status done = widen_floats(program, ScalarType::kBFloat16, has_row);
  EXPECT_TRUE(done.ok()) << done;
  const Graph& graph = *program.methods["m"].graph;
  EXPECT_TRUE(verify_graph(graph).ok()) << verify_graph(graph);
  return plain_text(graph);
}

TEST(WideGraph, CastsWhereBfloat16ComesInAndGoesOut) {
  EXPECT_EQ(widened(R"(method @m(%x: bf16[2,4], %z: bf16[2,8]) {
    %w = constant @w : bf16[8,4]
    %y = aten.linear.default(%x, %w, none)
    %r = aten.relu.default(%y)
    %s = aten.add.Tensor(%r, %z, 1)
    %e = aten.exp.default(%s)
    return %e, %s })"),
            expected(R"(method @m(%x: bf16[2,4], %z: bf16[2,8]) {
    %w = constant @w@f32 : f32[8,4]
    %fz = aten._to_copy.default(%z, f32)
    %fx = aten._to_copy.default(%x, f32)
    %y = aten.linear.default(%fx, %w, none)
    %r = aten.relu.default(%y)
    %s = aten.add.Tensor(%r, %fz, 1)
    %b = aten._to_copy.default(%s, bf16)
    %e = aten.exp.default(%b)
    return %e, %b })"));
}

TEST(WideGraph, DropsCastsOfTheProgramAtItsBorders) {
  EXPECT_EQ(widened(R"(method @m(%x: f32[2,4]) {
    %w = constant @w : bf16[4,4]
    %b = aten._to_copy.default(%x, bf16)
    %y = aten.linear.default(%b, %w, none)
    %f = aten._to_copy.default(%y, f32)
    %e = aten.exp.default(%f)
    return %e, %f })"),
            expected(R"(method @m(%x: f32[2,4]) {
    %w = constant @w@f32 : f32[4,4]
    %y = aten.linear.default(%x, %w, none)
    %e = aten.exp.default(%y)
    return %e, %y })"));
}

TEST(WideGraph, WidensLevelsAndTheProductsThatReadThem) {
  EXPECT_EQ(widened(R"(method @m(%x: bf16[2,32]) {
    %q = constant @q : i8[8,32]
    %s = constant @s : bf16[8,1]
    %z = constant @z : i8[8,1]
    %a, %b = torchao.choose_qparams_affine.default(%x, "ASYMMETRIC", [1, 32], i8, -128, 127,
                                                   none, none, i8, false)
    %l = torchao.quantize_affine.default(%x, [1, 32], %a, %b, i8, -128, 127)
    %d = torchao.dequantize_affine.default(%l, [1, 32], %a, %b, i8, -128, 127, bf16)
    %w = torchao.dequantize_affine.default(%q, [1, 32], %s, %z, i8, -8, 7, bf16)
    %y = aten.linear.default(%d, %w, none)
    %r = aten.relu.default(%y)
    return %r })"),
            expected(R"(method @m(%x: bf16[2,32]) {
    %q = constant @q : i8[8,32]
    %s = constant @s@f32 : f32[8,1]
    %z = constant @z : i8[8,1]
    %f = aten._to_copy.default(%x, f32)
    %a, %b = torchao.choose_qparams_affine.default(%f, "ASYMMETRIC", [1, 32], i8, -128, 127,
                                                   none, none, i8, false)
    %l = torchao.quantize_affine.default(%f, [1, 32], %a, %b, i8, -128, 127)
    %d = torchao.dequantize_affine.default(%l, [1, 32], %a, %b, i8, -128, 127, f32)
    %w = torchao.dequantize_affine.default(%q, [1, 32], %s, %z, i8, -8, 7, f32)
    %y = aten.linear.default(%d, %w, none)
    %n = aten.relu.default(%y)
    %r = aten._to_copy.default(%n, bf16)
    return %r })"));
}

TEST(WideGraph, WidensWhatIsMixedWithFloats) {
  EXPECT_EQ(widened(R"(method @m(%x: f32[2,4], %z: bf16[2,4]) {
    %w = constant @w : bf16[4]
    %y = aten.add.Tensor(%x, %w, 1)
    %s = aten.add.Tensor(%z, %y, 1)
    return %s })"),
            expected(R"(method @m(%x: f32[2,4], %z: bf16[2,4]) {
    %w = constant @w@f32 : f32[4]
    %f = aten._to_copy.default(%z, f32)
    %y = aten.add.Tensor(%x, %w, 1)
    %s = aten.add.Tensor(%f, %y, 1)
    return %s })"));
}

TEST(WideGraph, WidensWhatGoesOnWithFloats) {
  EXPECT_EQ(widened(R"(method @m(%x: f32[2,4]) {
    %w = constant @w : f32[4,4]
    %y = aten.linear.default(%x, %w, none)
    %b = aten._to_copy.default(%y, bf16)
    %n = aten.neg.default(%b)
    %r = aten.relu.default(%n)
    %f = aten._to_copy.default(%r, f32)
    %z = aten.linear.default(%f, %w, none)
    return %z })"),
            expected(R"(method @m(%x: f32[2,4]) {
    %w = constant @w : f32[4,4]
    %y = aten.linear.default(%x, %w, none)
    %n = aten.neg.default(%y)
    %r = aten.relu.default(%n)
    %z = aten.linear.default(%r, %w, none)
    return %z })"));
}

TEST(WideGraph, LeavesTablesThatNoProductReads) {
  const std::string text = R"(method @m(%i: i64[2]) {
    %q = constant @q : i8[8,32]
    %s = constant @s : bf16[8,1]
    %w = torchao.dequantize_affine.default(%q, [1, 32], %s, none, i8, -8, 7, bf16)
    %y = aten.embedding.default(%w, %i, -1, false, false)
    return %y })";
  EXPECT_EQ(widened(text), expected(text));
}

TEST(WideGraph, LeavesWhatNoProductIsConnectedToAndWhatMayNotBeWidened) {
  const std::string text = R"(method @m(%x: bf16[2,4]) {
    %w = constant @w : bf16[4,4]
    %n = aten.neg.default(%x)
    %e = aten.exp.default(%n)
    %t = aten.mm.default(%e, %w)
    return %t })";
  EXPECT_EQ(widened(text), expected(text));
}

TEST(WideGraph, WidensWeightsExactlyAndOnceForAllMethods) {
  auto weight = std::make_shared<Constant>();
  weight->fqn = "w";
  weight->type = TensorType::contiguous(ScalarType::kBFloat16, {1, 4});
  const std::vector<uint16_t> bits = {0x3f80, 0xc020, 0x0001, 0x7f80};  // 1, -2.5, 2^-133, inf
  weight->data = Blob::copy_of({reinterpret_cast<const uint8_t*>(bits.data()), 8});
  Program program;
  for (const char* name : {"a", "b"}) {
    auto graph = graph_of(R"(method @m(%x: bf16[2,4], %v: bf16[1,4]) {
      %y = aten.linear.default(%x, %v, none)
      return %y })");
    graph->replace_all_uses(graph->inputs()[1], graph->add_constant(weight));
    program.methods[name].graph = std::move(graph);
  }
  ASSERT_TRUE(widen_floats(program, ScalarType::kBFloat16, has_row).ok());
  std::vector<ConstantPtr> made;
  for (const auto& [name, method] : program.methods) {
    for (const auto& node : method.graph->nodes()) {
      if (node->is(aten::linear)) made.push_back(node->input(arg::weight)->constant());
    }
  }
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0], made[1]);
  EXPECT_EQ(made[0]->sources(), std::vector<std::string>{"w"});
  const Blob::Bytes bytes = made[0]->data.bytes();
  ASSERT_EQ(bytes.size(), 16u);
  for (size_t i = 0; i < bits.size(); ++i) {
    uint32_t wide = 0;
    std::memcpy(&wide, bytes.data() + 4 * i, 4);
    EXPECT_EQ(wide, uint32_t{bits[i]} << 16) << i;
  }
}

}  // namespace
}  // namespace petrel::exir
