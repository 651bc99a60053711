// SPDX-License-Identifier: Apache-2.0
#include "exir/ir/verifier.h"

#include <memory>
#include <string>
#include <vector>

#include "exir/ir/test_ops.h"
#include "exir/ir/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Graph> parse(const std::string& text) {
  auto graph = parse_graph(text, find_test_op, test_constant);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : nullptr;
}

std::string verify(const Graph& graph) { return std::string(verify_graph(graph).message()); }

Type f32(Sizes sizes) { return TensorType::contiguous(ScalarType::kFloat, std::move(sizes)); }

TEST(Verifier, AcceptsAGoodGraph) {
  auto graph = parse(R"(method @m(%x: f32[2], %n: int, %i: i64[1]) {
    %c = state @state.c : f32[2]
    %y = aten.add.Tensor(%x, %c, %n)
    %z = aten.relu.default(%y)
    %g = aten.index.Tensor(%z, [none, %i]) : f32[1]
    %v = aten.view.default(%z, [%n, 1]) : f32[2,1]
    %a, %b = aten.split.Tensor(%y, 1) : f32[1], f32[1]
    %d = petrel.delegate_call.default([%a, %b]) : f32[7]
    aten._assert.default(%i, "positive")
    write %y to %c
    return %z, %v
  })");
  EXPECT_TRUE(verify_graph(*graph).ok()) << verify_graph(*graph);
}

struct BadGraph {
  const char* name;
  const char* text;
  const char* error;
};

class BadGraphs : public ::testing::TestWithParam<BadGraph> {};

TEST_P(BadGraphs, AreRefusedByName) {
  auto graph = parse(GetParam().text);
  ASSERT_NE(graph, nullptr);
  EXPECT_THAT(verify(*graph), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadGraphs,
    ::testing::Values(BadGraph{"StringForANumber",
                               "method @m(%x: f32[2]) {"
                               "%y = aten.add.Tensor(%x, %x, \"1\") : f32[2] return %y }",
                               "method 'm': arguments fit the schema: node 'y' "
                               "(aten.add.Tensor): argument 'alpha' is not a number"},
                      BadGraph{"NumberForATensor",
                               "method @m(%x: f32[2]) {"
                               "%y = aten.add.Tensor(%x, 2, 1) : f32[2] return %y }",
                               "argument 'other' is not a tensor"},
                      BadGraph{"NoneForATensor",
                               "method @m(%x: f32[2]) {"
                               "%y = aten.add.Tensor(%x, none, 1) : f32[2] return %y }",
                               "argument 'other' is not a tensor"},
                      BadGraph{"TensorForAnInt",
                               "method @m(%x: f32[2]) {"
                               "%y = aten.cat.default([%x], %x) : f32[2] return %y }",
                               "argument 'dim' is not a int"},
                      BadGraph{"NoneInATensorList",
                               "method @m(%x: f32[2]) {"
                               "%y = aten.cat.default([%x, none], 0) : f32[2] return %y }",
                               "argument 'tensors' is not a list of tensor"},
                      BadGraph{"FloatsForInts",
                               "method @m(%x: f32[2]) {"
                               "%y = aten.view.default(%x, [2.0]) : f32[2] return %y }",
                               "argument 'size' is not a list of int"},
                      BadGraph{"ATensorForAList",
                               "method @m(%x: f32[2]) {"
                               "%y = aten.cat.default(%x, 0) : f32[2] return %y }",
                               "argument 'tensors' is not a list of tensor"},
                      BadGraph{"OtherTypeThanInferred",
                               "method @m(%x: f32[2]) {"
                               "%y = aten.relu.default(%x) : f64[2] return %y }",
                               "types are as inferred: node 'y' (aten.relu.default): is "
                               "f64[2], its operator gives f32[2]"},
                      BadGraph{"ReorderedTensorInside",
                               "method @m(%x: f32[1,2]) {"
                               "%y = aten.cat.default([%x]) : f32[2,1]{1,0} "
                               "%z = aten.relu.default(%y) : f32[2,1] return %z }",
                               "value 'y' is f32[2,1]{1,0}, inside a method only contiguous "
                               "tensors may occur"},
                      BadGraph{"WriteToAParameter",
                               "method @m(%x: f32[2]) { %w = constant @w : f32[2] "
                               "write %x to %w return %x }",
                               "writes go to mutable buffers: 'w' is written and no mutable "
                               "buffer"},
                      BadGraph{"WriteOfAnotherType",
                               "method @m(%x: f32[3]) { %w = state @state.w : f32[2] "
                               "write %x to %w return %x }",
                               "mutable buffer 'w' is f32[2], what is written f32[3]"},
                      BadGraph{"TwoWritesToOneBuffer",
                               "method @m(%x: f32[2]) { %w = state @state.w : f32[2] "
                               "write %x to %w write %w to %w return %x }",
                               "mutable buffer 'w' is written twice"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Verifier, RejectsAUseBeforeTheDefinition) {
  auto graph = parse(R"(method @m(%x: f32[2]) {
    %y = aten.relu.default(%x)
    %z = aten.relu.default(%y)
    return %z
  })");
  graph->move_before(graph->nodes().back().get(), graph->nodes().front().get());
  EXPECT_THAT(verify(*graph), HasSubstr("node 'z' (aten.relu.default): an "
                                        "operand is defined later"));
}

TEST(Verifier, RejectsAValueOfAnotherGraph) {
  auto other = parse("method @o(%x: f32[2]) { return %x }");
  auto graph = parse("method @m(%x: f32[2]) { return %x }");
  graph->append(*find_test_op("aten.relu.default"), {Argument(other->inputs()[0])}, {f32({2})},
                "y");
  EXPECT_THAT(verify(*graph), HasSubstr("not in this graph"));
  graph->erase(graph->nodes().back().get());
  graph->set_outputs({other->inputs()[0]});
  EXPECT_THAT(verify(*graph), HasSubstr("output 0 is not defined in this"));
  graph->set_outputs({});
}

TEST(Verifier, RejectsTooFewArgumentsAndResults) {
  auto graph = parse("method @m(%x: f32[2]) { return %x }");
  Value* x = graph->inputs()[0];
  graph->append(*find_test_op("aten.add.Tensor"), {Argument(x), Argument(x)}, {f32({2})}, "y");
  EXPECT_THAT(verify(*graph), HasSubstr("has 2 arguments, its schema 3"));
  graph->erase(graph->nodes().back().get());
  graph->append(*find_test_op("aten.max.dim"), {Argument(x), Argument(int64_t{0}), Argument(true)},
                {f32({1})}, "y");
  EXPECT_THAT(verify(*graph), HasSubstr("has 1 results, its schema 2"));
}

TEST(Verifier, RejectsAnInvalidType) {
  auto graph = parse("method @m(%x: f32[2]) { return %x }");
  graph->inputs()[0]->set_type(f32({2, -1}));
  EXPECT_THAT(verify(*graph), HasSubstr("value 'x': dim 1 is -1, must be in [0, 2^31)"));
}

TEST(Verifier, RejectsAConstantOfTheWrongSize) {
  Graph graph("m");
  auto constant = std::make_shared<Constant>();
  constant->fqn = "w";
  constant->type = TensorType::contiguous(ScalarType::kFloat, {2});
  constant->data = Blob::owned(std::vector<uint8_t>(7));
  graph.set_outputs({graph.add_constant(constant)});
  EXPECT_THAT(verify(graph), HasSubstr("constant 'w' has 7 bytes, its type 8"));
}

TEST(Verifier, RejectsTwoConstantsOfOneName) {
  Graph graph("m");
  for (int i = 0; i < 2; ++i) {
    auto constant = std::make_shared<Constant>();
    constant->fqn = "w";
    constant->type = TensorType::contiguous(ScalarType::kFloat, {0});
    graph.add_constant(constant);
  }
  EXPECT_THAT(verify(graph), HasSubstr("two constants have the FQN 'w'"));
}

TEST(Verifier, RejectsAPayloadOnAnOrdinaryNode) {
  auto graph = parse(R"(method @m(%x: f32[2]) {
    %y = aten.relu.default(%x)
    return %y
  })");
  // Only whether there is one is looked at.
  graph->nodes().front()->set_delegate(std::shared_ptr<LoweredPartition>(
      reinterpret_cast<LoweredPartition*>(graph.get()), [](LoweredPartition*) {}));
  EXPECT_THAT(verify(*graph), HasSubstr("carries a lowered partition"));
}

TEST(Verifier, ErrorsNameThePlaceInTheModel) {
  auto graph = parse("method @m(%x: f32[2]) { return %x }");
  Source source;
  source.stack_trace = "  File \"model.py\", line 12, in forward\n    x + 1";
  graph->append(*find_test_op("aten.relu.default"), {Argument(graph->inputs()[0])}, {f32({3})}, "y",
                source);
  EXPECT_THAT(verify(*graph), HasSubstr("node 'y' (aten.relu.default) at "
                                        "model.py:12, in forward: is f32[3]"));
}

}  // namespace
}  // namespace petrel::exir
