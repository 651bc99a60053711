// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/quantize_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "exir/ir/verifier.h"
#include "exir/ops/handles.h"
#include "exir/pass/framework/pass_case.h"

namespace petrel::exir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTwoLayers[] = R"(method @m(%x: f32[1,4]) {
    %w = constant @w : f32[8,4]
    %b = constant @b : f32[8]
    %v = constant @v : f32[4,8]
    %one = aten.linear.default(%x, %w, %b)
    %relu = aten.relu.default(%one)
    %view = aten.view.default(%relu, [1,8])
    %soft = aten._softmax.default(%view, -1, false)
    %two = aten.linear.default(%soft, %v, none)
    return %two })";

std::vector<std::vector<std::string>> names(const QuantAnnotation& annotation) {
  std::vector<std::vector<std::string>> groups;
  for (const auto& group : annotation.groups) {
    groups.emplace_back();
    for (const Value* value : group) groups.back().push_back(value->name());
  }
  return groups;
}

// Every value in [0, 1] but `x`.
std::map<std::string, Range> ranges_of(const Graph& graph) {
  std::map<std::string, Range> ranges;
  for (const Value* value : observed_values(graph, {}).values) ranges[value->name()] = {0, 1};
  if (ranges.count("x") != 0) ranges["x"] = {-1, 3};
  return ranges;
}

TEST(AnnotateGraph, GroupsWhatSharesAScale) {
  const auto graph = graph_of(kTwoLayers);
  ASSERT_NE(graph, nullptr);
  const QuantAnnotation annotation = annotate_graph(*graph, {});
  // What `one` makes goes to `relu` alone: it has no scale.
  EXPECT_THAT(names(annotation), ElementsAre(ElementsAre("x"), ElementsAre("relu", "view"),
                                             ElementsAre("soft"), ElementsAre("two")));
  ASSERT_EQ(annotation.left.size(), 1u);
  EXPECT_EQ(annotation.left[0].node, "soft");
  EXPECT_EQ(annotation.left[0].reason, "aten::_softmax is not computed with integers");
}

TEST(AnnotateGraph, PadsWithTheLevelOfZeroAlone) {
  const auto padded = [](const std::string& amounts, const std::string& number) {
    const auto graph = graph_of(
        "method @m(%x: f32[2,8]) {\n%w = constant @w : f32[3,10]\n%p = "
        "aten.constant_pad_nd.default(%x, " +
        amounts + ", " + number + ")\n%y = aten.linear.default(%p, %w, none)\nreturn %y }");
    return graph == nullptr ? std::vector<std::vector<std::string>>()
                            : names(annotate_graph(*graph, {}));
  };
  EXPECT_THAT(padded("[1, 1]", "0"), ElementsAre(ElementsAre("x", "p"), ElementsAre("y")));
  EXPECT_THAT(padded("[1, 1]", "0.0"), ElementsAre(ElementsAre("x", "p"), ElementsAre("y")));
  EXPECT_THAT(padded("[1, 1]", "1"), ElementsAre(ElementsAre("p"), ElementsAre("y")));
  EXPECT_THAT(padded("[3, -1]", "0"), ElementsAre(ElementsAre("p"), ElementsAre("y")));
}

TEST(AnnotateGraph, TakesPartOnlyWhereProductsAre) {
  const auto graph = graph_of(R"(method @m(%x: f32[2,4]) {
    %a = aten.add.Tensor(%x, %x, 1)
    %r = aten.relu.default(%a)
    return %r })");
  ASSERT_NE(graph, nullptr);
  const QuantAnnotation annotation = annotate_graph(*graph, {});
  EXPECT_TRUE(annotation.nodes.empty());
  ASSERT_EQ(annotation.left.size(), 2u);
  EXPECT_EQ(annotation.left[0].reason, "no product is connected to it");
}

TEST(AnnotateGraph, LeavesWhatIntegersCannotStandFor) {
  const auto graph = graph_of(R"(method @m(%x: f32[4,4]) {
    %w = constant @w : f32[4,4]
    %c = constant @c : f32[4]
    %y = aten.linear.default(%x, %w, none)
    %m = aten.maximum.default(%y, %c)
    %s = aten.sub.Tensor(%m, %y, 2)
    %d = aten.div.Scalar(%s, 0.0)
    %j = aten.cat.default([%d, %w], 0)
    return %j })");
  ASSERT_NE(graph, nullptr);
  const QuantAnnotation annotation = annotate_graph(*graph, {});
  EXPECT_THAT(names(annotation), ElementsAre(ElementsAre("x"), ElementsAre("y")));
  ASSERT_EQ(annotation.left.size(), 4u);
  EXPECT_EQ(annotation.left[1].reason, "aten::sub is not computed with integers");
  EXPECT_EQ(annotation.left[3].reason, "computes with a constant, or not with f32 alone");
}

TEST(AnnotateGraph, TakesActivationsAndConstants) {
  const auto graph = graph_of(R"(method @m(%x: f32[4,4]) {
    %w = constant @w : f32[4,4]
    %c = constant @c : f32[4]
    %y = aten.linear.default(%x, %w, none)
    %a = aten.gelu.default(%y, "tanh")
    %b = aten.silu.default(%a)
    %d = aten.hardsigmoid.default(%b)
    %e = aten.elu.default(%d, 0.5)
    %f = aten.add.Tensor(%e, %c, 1)
    %g = aten.mul.Tensor(%c, %f)
    %h = aten.div.Scalar(%g, 3.0)
    %n = aten.elu.default(%h, 1, 1.05)
    %z = aten.linear.default(%h, %w, none)
    return %n, %z })");
  ASSERT_NE(graph, nullptr);
  const QuantAnnotation annotation = annotate_graph(*graph, {});
  EXPECT_THAT(names(annotation),
              ElementsAre(ElementsAre("x"), ElementsAre("y"), ElementsAre("a"), ElementsAre("b"),
                          ElementsAre("d"), ElementsAre("e"), ElementsAre("c"), ElementsAre("f"),
                          ElementsAre("g"), ElementsAre("h"), ElementsAre("z")));
  ASSERT_EQ(annotation.left.size(), 1u);
  EXPECT_EQ(annotation.left[0].node, "n");
}

// They need no samples, and one that is a weight as well stays one.
// Of what a camera gives only the last has a scale, where integers alone compute; backends
// compute with floats up to there.
TEST(AnnotateGraph, GivesNoScalesToWhatIsComputedOfBytes) {
  const auto graph = graph_of(R"(method @m(%x: u8[2,4]) {
    %w = constant @w : f32[8,4]
    %m = constant @m : f32[4]
    %f = aten._to_copy.default(%x, dtype=f32)
    %d = aten.div.Scalar(%f, 255)
    %s = aten.sub.Tensor(%d, %m, 1)
    %y = aten.linear.default(%s, %w, none)
    %k = aten.add.Tensor(%y, %y, 1)
    return %k })");
  ASSERT_NE(graph, nullptr);
  const QuantAnnotation annotation = annotate_graph(*graph, {}, QuantTarget::kIntegers);
  EXPECT_THAT(names(annotation), ElementsAre(ElementsAre("s"), ElementsAre("y"), ElementsAre("k")));
  EXPECT_TRUE(annotation.left.empty());
}

TEST(QuantizeGraph, StoresConstantsWithTheNumbersOfTheirElements) {
  Program program;
  program.methods["m"].graph = graph_of(R"(method @m(%x: f32[1,4]) {
    %w = constant @w : f32[4,4]
    %y = aten.linear.default(%x, %w, none)
    %a = aten.mul.Tensor(%y, %w)
    %z = aten.mm.default(%a, %w)
    return %z })");
  Graph& graph = *program.methods["m"].graph;
  const Range range = *range_of(*graph.find_constant("w")->constant());
  const Affine numbers = affine_of(range);
  QuantizationRecord record;
  auto ranges = ranges_of(graph);
  EXPECT_EQ(ranges.count("w"), 0u);
  record.methods["m"] = *choose_numbers(graph, ranges, {}, {}, {});
  EXPECT_EQ(record.methods["m"].values.at("w").numbers.scale, numbers.scale);
  EXPECT_EQ(record.methods["m"].values.at("w").range.max, range.max);
  const auto left = quantize_program(program, record);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_TRUE(verify_graph(graph).ok());
  const Value* product = graph.outputs()[0];
  while (!product->producer()->is(aten::mul_Tensor)) {
    product = product->producer()->input(arg::input, arg::self);
  }
  const Node& stored = *product->producer()->input(arg::other)->producer();
  ASSERT_TRUE(stored.is(quantized_decomposed::dequantize_per_tensor));
  const Constant& levels = *stored.input(arg::input)->constant();
  EXPECT_EQ(levels.type.dtype, ScalarType::kChar);
  EXPECT_EQ(stored.argument(arg::scale).as_number(), static_cast<double>(numbers.scale));
  EXPECT_NE(graph.find_constant("w@int8"), nullptr);
}

TEST(QuantizeGraph, HasTheFormOfPt2e) {
  Program program;
  program.methods["m"].graph = graph_of(R"(method @m(%x: f32[1,4]) {
    %w = constant @w : f32[8,4]
    %b = constant @b : f32[8]
    %one = aten.linear.default(%x, %w, %b)
    %relu = aten.relu.default(%one)
    return %relu })");
  Graph& graph = *program.methods["m"].graph;
  QuantizationRecord record;
  record.methods["m"] = *choose_numbers(graph, ranges_of(graph), {}, {}, {});
  const auto left = quantize_program(program, record);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_TRUE(left->at("m").empty());
  EXPECT_TRUE(verify_graph(graph).ok());
  EXPECT_EQ(plain_text(graph), expected(R"(method @m(%x: f32[1,4]) {
    %b = constant @b : f32[8]
    %w = constant @w@int8 : i8[8,4]
    %s = constant @w@int8.scales : f32[8]
    %qx = quantized_decomposed.quantize_per_tensor.default(%x, 0.01568627543747425, -64,
        -128, 127, i8)
    %dx = quantized_decomposed.dequantize_per_tensor.default(%qx, 0.01568627543747425, -64,
        -128, 127, i8, none)
    %dw = quantized_decomposed.dequantize_per_channel.default(%w, %s, none, 0, -127, 127, i8, none)
    %one = aten.linear.default(%dx, %dw, %b)
    %relu = aten.relu.default(%one)
    %q = quantized_decomposed.quantize_per_tensor.default(%relu, 0.003921568859368563, -128,
        -128, 127, i8)
    %d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.003921568859368563, -128,
        -128, 127, i8, none)
    return %d })"));
}

// Levels of one scale would all be those of -1e9.
TEST(QuantizeGraph, ShowsWhatIsChosenBesideAMask) {
  const auto graph = graph_of(R"(method @m(%x: f32[1,4], %far: f32[1,4], %mask: bool[1,4]) {
    %w = constant @w : f32[4,4]
    %top = aten.maximum.default(%far, %x)
    %r = aten.where.self(%mask, %x, %top)
    %y = aten.linear.default(%r, %w, none)
    return %y })");
  Ranges ranges = ranges_of(*graph);
  ranges["x"] = ranges["r"] = {-1, 1};
  ranges["far"] = {-1e9f, -1e9f};
  ranges["top"] = {-1e9f, 1};
  const auto method = choose_numbers(*graph, ranges, {}, {}, {});
  ASSERT_TRUE(method.ok()) << method.status();
  for (const char* name : {"x", "r"}) {
    EXPECT_EQ(method->values.at(name).numbers.scale, affine_of({-1, 1}).scale) << name;
  }
  EXPECT_EQ(method->values.at("top").numbers.scale, affine_of({-1e9f, 1}).scale);
  ranges["far"] = ranges["top"] = {-200, 1};
  const auto shared = choose_numbers(*graph, ranges, {}, {}, {});
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_EQ(shared->values.at("r").numbers.scale, affine_of({-200, 1}).scale);
}

TEST(QuantizeGraph, KeepsFloatWhatIsNamed) {
  Program program;
  program.methods["m"].graph = graph_of(kTwoLayers);
  Graph& graph = *program.methods["m"].graph;
  const KeptFloat kept = {{"two", ""}};
  QuantizationRecord record;
  record.methods["m"] = *choose_numbers(graph, ranges_of(graph), {}, {}, kept);
  const auto left = quantize_program(program, record);
  ASSERT_TRUE(left.ok()) << left.status();
  ASSERT_EQ(left->at("m").size(), 2u);
  EXPECT_EQ(left->at("m")[1].node, "two");
  EXPECT_EQ(left->at("m")[1].reason, "is kept float");
  EXPECT_NE(graph.find_constant("v"), nullptr);
  EXPECT_EQ(graph.find_constant("w"), nullptr);
}

TEST(QuantizeGraph, StoresWeightsThatMethodsShareOnce) {
  Program program;
  program.methods["a"].graph = graph_of(kTwoLayers);
  program.methods["b"].graph = program.methods["a"].graph->clone();
  QuantizationRecord record;
  for (const char* name : {"a", "b"}) {
    const Graph& graph = *program.methods[name].graph;
    record.methods[name] = *choose_numbers(graph, ranges_of(graph), {}, {}, {});
  }
  ASSERT_TRUE(quantize_program(program, record).ok());
  EXPECT_EQ(program.methods["a"].graph->find_constant("w@int8")->constant(),
            program.methods["b"].graph->find_constant("w@int8")->constant());
}

// The outlier of one value is cut for all that share its numbers.
TEST(QuantizeGraph, CutsOutliersOfAGroup) {
  const auto graph = graph_of(kTwoLayers);
  ASSERT_NE(graph, nullptr);
  auto ranges = ranges_of(*graph);
  ranges["relu"] = {0, 100};
  const auto shared = shared_ranges(*graph, ranges, {});
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_EQ(shared->at("view").max, 100);
  Histogram relu(shared->at("relu"));
  for (int i = 0; i < 10000; ++i) {
    const float x = static_cast<float>(i) / 10000;
    relu.add(&x, 1);
  }
  const float outlier = 100;
  relu.add(&outlier, 1);
  const Histograms histograms = {{"relu", relu}};
  RangeChoice choice;
  choice.kind = RangeChoice::Kind::kLeastError;
  const auto cut = choose_numbers(*graph, ranges, histograms, choice, {});
  const auto whole = choose_numbers(*graph, ranges, {}, {}, {});
  ASSERT_TRUE(cut.ok() && whole.ok());
  EXPECT_LT(cut->values.at("view").numbers.scale, whole->values.at("view").numbers.scale);
  EXPECT_EQ(cut->values.at("view").numbers.scale, cut->values.at("relu").numbers.scale);
  EXPECT_EQ(cut->values.at("x").numbers.scale, whole->values.at("x").numbers.scale);
}

TEST(QuantizeGraph, NamesWhatTheRecordLacks) {
  Program program;
  program.methods["m"].graph = graph_of(kTwoLayers);
  Graph& graph = *program.methods["m"].graph;
  auto ranges = ranges_of(graph);
  QuantizationRecord record;
  record.methods["m"] = *choose_numbers(graph, ranges, {}, {}, {});
  record.methods["m"].values.erase("soft");
  EXPECT_THAT(std::string(quantize_program(program, record).status().message()),
              HasSubstr("method 'm': the record has no numbers for value 'soft'"));
  QuantizationRecord other;
  EXPECT_EQ(quantize_program(program, other).status().message(), "the record has no method 'm'");
  other.methods["m"];
  other.methods["m"].keep_float = {{"three", ""}};
  EXPECT_EQ(quantize_program(program, other).status().message(),
            "method 'm': the record keeps 'three' float, which is not a node");
  other.methods["m"].keep_float = {{"two", ""}, {"one", ""}};
  other.methods["m"].values["x"] = {};
  EXPECT_THAT(std::string(quantize_program(program, other).status().message()),
              HasSubstr("the record has numbers for 'x', an input that only floats read; it is of "
                        "another model, or was made for a backend that has other operators whole"));
  other.methods["m"].values = {{"two", {}}};
  EXPECT_THAT(std::string(quantize_program(program, other).status().message()),
              HasSubstr("the record has numbers for 'two', which aten.linear.default makes in "
                        "floats: it is kept float; it is of another model"));
  other.methods["m"].values = {{"three", {}}};
  EXPECT_THAT(std::string(quantize_program(program, other).status().message()),
              HasSubstr("the record has numbers for 'three', which is not a value of the graph"));
  other.methods["m"].values.clear();
  other.methods["n"];
  EXPECT_THAT(std::string(quantize_program(program, other).status().message()),
              HasSubstr("the record is of a method 'n'"));
  const auto fresh = graph_of(kTwoLayers);
  ranges.erase("two");
  EXPECT_EQ(choose_numbers(*fresh, ranges, {}, {}, {}).status().message(),
            "nothing was seen of value 'two'");
}

}  // namespace
}  // namespace petrel::exir
