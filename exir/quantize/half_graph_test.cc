// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/half_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/framework/pass_case.h"
#include "exir/quantize/quantize_graph.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const std::vector<LeftFloat>& left) {
  std::vector<std::string> names;
  for (const LeftFloat& node : left) names.push_back(node.node);
  return names;
}

TEST(HalfGraph, CastsWhereFloatsComeInAndGoOut) {
  Program program;
  program.methods["m"].graph = graph_of(R"(method @m(%x: f32[2,4], %z: f32[2,8]) {
    %w = constant @w : f32[8,4]
    %b = constant @b : f32[8]
    %y = aten.linear.default(%x, %w, %b)
    %r = aten.relu.default(%y)
    %s = aten.add.Tensor(%r, %z, 1)
    %e = aten.exp.default(%s)
    return %e, %s })");
  Graph& graph = *program.methods["m"].graph;
  QuantizationRecord record;
  record.methods["m"].scheme = QuantScheme::kHalf;
  const auto left = quantize_program(program, record);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_THAT(names(left->at("m")), ElementsAre("e"));
  EXPECT_EQ(left->at("m")[0].reason, "aten::exp is not computed in half");
  EXPECT_TRUE(verify_graph(graph).ok()) << verify_graph(graph);
  EXPECT_EQ(plain_text(graph), expected(R"(method @m(%x: f32[2,4], %z: f32[2,8]) {
    %w = constant @w@half : f16[8,4]
    %b = constant @b@half : f16[8]
    %hz = aten._to_copy.default(%z, f16)
    %hx = aten._to_copy.default(%x, f16)
    %y = aten.linear.default(%hx, %w, %b)
    %r = aten.relu.default(%y)
    %s = aten.add.Tensor(%r, %hz, 1)
    %f = aten._to_copy.default(%s, f32)
    %e = aten.exp.default(%f)
    return %e, %f })"));
}

TEST(HalfGraph, LeavesWhatIsKeptOrFarFromProducts) {
  const auto graph = graph_of(R"(method @m(%x: f32[2,4]) {
    %w = constant @w : f32[8,4]
    %a = aten.neg.default(%x)
    %e = aten.exp.default(%a)
    %y = aten.linear.default(%e, %w, none)
    %r = aten.relu.default(%y)
    return %r })");
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(names(annotate_half(*graph, {}).left), ElementsAre("a", "e"));
  const HalfAnnotation kept = annotate_half(*graph, {{"y", ""}});
  EXPECT_TRUE(kept.nodes.empty());
  EXPECT_THAT(names(kept.left), ElementsAre("a", "e", "y", "r"));
  EXPECT_EQ(kept.left[2].reason, "is kept float");
  EXPECT_EQ(kept.left[3].reason, "no product is connected to it");
}

TEST(HalfGraph, KeepsNumbersBeyondHalfInFloats) {
  const auto graph = graph_of(R"(method @m(%x: f32[2,4], %m: f32[2,8]) {
    %w = constant @w : f32[8,4]
    %y = aten.linear.default(%x, %w, none)
    %far = aten.mul.Scalar(%m, -1000000000.0)
    %near = aten.mul.Scalar(%y, -65504.0)
    %z = aten.add.Tensor(%near, %far)
    return %z })");
  ASSERT_NE(graph, nullptr);
  const HalfAnnotation annotation = annotate_half(*graph, {});
  EXPECT_THAT(names(annotation.left), ElementsAre("far", "z"));
  EXPECT_EQ(annotation.left[0].reason, "has a number beyond half, whose largest is 65504");
}

// A row of -1e9 alone has a softmax, which one of -inf lacks. Behind it, and behind products,
// numbers are near again.
TEST(HalfGraph, KeepsWhatReadsNumbersBeyondHalfInFloats) {
  const auto graph = graph_of(R"(method @m(%x: f32[2,4], %m: f32[2,8]) {
    %w = constant @w : f32[8,4]
    %v = constant @v : f32[8,8]
    %y = aten.linear.default(%x, %w, none)
    %far = aten.mul.Scalar(%m, -1000000000.0)
    %moved = aten.view.default(%far, [2, 8])
    %z = aten.add.Tensor(%y, %moved)
    %s = aten._softmax.default(%z, 1, false)
    %o = aten.linear.default(%s, %v, none)
    %r = aten.relu.default(%o)
    return %r })");
  ASSERT_NE(graph, nullptr);
  const HalfAnnotation annotation = annotate_half(*graph, {});
  EXPECT_THAT(names(annotation.left), ElementsAre("far", "moved", "z", "s"));
  EXPECT_EQ(annotation.left[3].reason, "reads numbers beyond half, whose largest is 65504");
  EXPECT_EQ(annotation.nodes.size(), 3u);
}

ConstantPtr floats(const std::vector<float>& values) {
  auto constant = std::make_shared<Constant>();
  constant->fqn = "c";
  constant->type =
      TensorType::contiguous(ScalarType::kFloat, {static_cast<int64_t>(values.size())});
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  constant->data = Blob::copy_of({bytes, values.size() * sizeof(float)});
  return constant;
}

TEST(HalfGraph, KeepsWeightsBeyondHalfInFloats) {
  auto graph = std::make_unique<Graph>("m");
  Value* const x = graph->add_input(Type(TensorType::contiguous(ScalarType::kFloat, {2, 1})), "x");
  Builder b(*graph, nullptr);
  std::vector<Value*> outputs;
  for (const float number : {65504.0f, 70000.0f}) {
    auto weight = std::make_shared<Constant>(*floats({number}));
    weight->fqn = number > 65504 ? "far" : "near";
    weight->type = TensorType::contiguous(ScalarType::kFloat, {1, 1});
    const auto y = b.call(aten::linear, {x, graph->add_constant(weight), none()});
    ASSERT_TRUE(y.ok()) << y.status();
    outputs.push_back(*y);
  }
  graph->set_outputs(outputs);
  const HalfAnnotation annotation = annotate_half(*graph, {});
  ASSERT_THAT(names(annotation.left), ElementsAre(outputs[1]->name()));
  EXPECT_THAT(annotation.left[0].reason, HasSubstr("reads numbers beyond half"));
}

// As torch.tensor([...]).half() has them, but for what is beyond its range.
TEST(HalfGraph, RoundsConstantsToNearest) {
  const StoredWeights::Roundings roundings;
  StoredWeights weights(roundings);
  const float infinity = std::numeric_limits<float>::infinity();
  const ConstantPtr numbers = floats({1.0f, 0.1f, -65520.0f, infinity, 1e-9f});
  const auto half = weights.in_half(numbers);
  ASSERT_TRUE(half.ok()) << half.status();
  const Blob::Bytes bytes = (*half)->data.bytes();
  const auto* bits = reinterpret_cast<const uint16_t*>(bytes.data());
  EXPECT_THAT(std::vector<uint16_t>(bits, bits + 5),
              ElementsAre(0x3C00, 0x2E66, 0xFBFF, 0x7C00, 0x0000));
  const ConstantPtr no_number = floats({std::nanf("")});
  EXPECT_THAT(std::string(weights.in_half(no_number).status().message()),
              HasSubstr("constant 'c' has an element that is no number"));
}

}  // namespace
}  // namespace petrel::exir
