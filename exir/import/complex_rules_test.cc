// SPDX-License-Identifier: Apache-2.0
#include "exir/import/complex_rules.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "exir/ir/verifier.h"
#include "exir/ops/any_arguments.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"

namespace petrel::exir {
namespace {

// //test/complex compares what they compute with eager PyTorch.
TEST(ComplexRules, AreThereForEveryRowThatInfersNothing) {
  int found = 0;
  for (const OpInfo* row : all_ops()) {
    if (row->infer != nullptr || row->name.rfind("aten::", 0) != 0) continue;
    EXPECT_TRUE(has_complex_rule(*row)) << row->full_name();
    ++found;
  }
  EXPECT_GT(found, 25);
  EXPECT_FALSE(has_complex_rule(op(aten::relu)));
}

TEST(Fourier, MakesEqualMatricesOnceAndBoundsAllOfThem) {
  Graph graph("forward");
  Builder b(graph, nullptr);
  Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {2, 2048}), "x");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(transform(b, {x, nullptr}, {1, 2048, true, 1}).ok());
  EXPECT_EQ(graph.constants().size(), 2u);
  int64_t size = 2047;
  while (size > 1900 && transform(b, {x, nullptr}, {1, size, true, 1}).ok()) --size;
  EXPECT_GT(size, 2040);  // 33,554,432 elements are four of these sizes
  EXPECT_FALSE(transform(b, {x, nullptr}, {1, 2049, true, 1}).ok());
}

TEST(Fourier, MakesEqualMatricesOfEachTypeOnce) {
  Graph graph("forward");
  Builder b(graph, nullptr);
  Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {2, 8}), "x");
  Value* y = graph.add_input(TensorType::contiguous(ScalarType::kDouble, {2, 8}), "y");
  for (int i = 0; i < 3; ++i) {
    for (Value* one : {x, y}) ASSERT_TRUE(transform(b, {one, nullptr}, {1, 8, true, 1}).ok());
  }
  EXPECT_EQ(graph.constants().size(), 4u);
}

// The same with other tensors: those of imaginary parts.
Argument with_other_tensors(const Argument& argument, Graph* graph) {
  Argument made = argument;
  for (Value* value : argument.values()) {
    if (value->type().is_tensor()) made.replace(value, graph->add_input(value->type(), "i"));
  }
  return made;
}

// An archive may say of any value that it is complex, or that it is not.
TEST(ComplexRules, SurviveAnyArguments) {
  AnyArguments any(20261126);
  std::mt19937 random(1);
  size_t made = 0, refused = 0;
  for (const OpInfo* row : all_ops()) {
    if (!has_complex_rule(*row)) continue;
    SCOPED_TRACE(row->full_name());
    for (int round = 0; round < 60; ++round) {
      Graph graph("m");
      ComplexCall call{*row, any.make(*row, &graph), {}, {}, random() % 2 == 0};
      for (const Argument& argument : call.real) {
        const bool is_complex = !argument.values().empty() && random() % 2 == 0;
        call.imaginary.push_back(is_complex ? with_other_tensors(argument, &graph) : argument);
        call.is_complex.push_back(is_complex);
      }
      Builder b(graph, nullptr);
      const auto pairs = expand_complex(b, call);
      EXPECT_EQ(pairs.ok(), pairs.status().message().empty());
      EXPECT_FALSE(absl::IsInternal(pairs.status())) << pairs.status();
      if (!pairs.ok()) {
        ++refused;
        continue;
      }
      ++made;
      std::vector<Value*> outputs;
      for (const ComplexPair& pair : *pairs) {
        ASSERT_NE(pair.real, nullptr);
        outputs.push_back(pair.real);
        if (pair.is_complex()) outputs.push_back(pair.imaginary);
      }
      graph.set_outputs(std::move(outputs));
      EXPECT_TRUE(verify_graph(graph).ok()) << verify_graph(graph);
    }
  }
  EXPECT_GT(made, 500u);
  EXPECT_GT(refused, 500u);
}

TEST(ComplexRules, RefuseRealNumbersWhereTheyTakeComplexOnes) {
  for (const OpHandle name : {aten::view_as_real, aten::imag, aten::exp, aten::log, aten::sqrt,
                              aten::abs, aten::reciprocal, aten::tanh, aten::sin}) {
    Graph graph("forward");
    Builder b(graph, nullptr);
    Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {2}), "x");
    const ComplexCall call{op(name), {Argument(x)}, {Argument(x)}, {false}, true};
    const auto made = expand_complex(b, call);
    EXPECT_EQ(made.status().message(), "takes complex numbers, its input is real")
        << op(name).full_name();
  }
}

// As sums may that are asked for in another type.
TEST(ComplexRules, GiveZerosBesideWhatIsMadeOfRealNumbers) {
  Graph graph("forward");
  Builder b(graph, nullptr);
  Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {2}), "x");
  const std::vector<Argument> arguments = {Argument(x), Argument(ScalarType::kFloat)};
  const auto made = expand_complex(b, {op(aten::sum), arguments, arguments, {false, false}, true});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE(made->at(0).is_complex());
  EXPECT_TRUE(made->at(0).imaginary->producer()->is(aten::zeros_like));
}

TEST(ComplexRules, RefuseComplexFactorsThatAreNoTensors) {
  Graph graph("forward");
  Builder b(graph, nullptr);
  Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {2}), "x");
  Value* y = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {2}), "y");
  const ComplexCall call{op(aten::div_Scalar),
                         {Argument(x), Argument(1.0)},
                         {Argument(y), Argument(2.0)},
                         {true, true},
                         true};
  EXPECT_EQ(expand_complex(b, call).status().message(),
            "argument 'other' is a complex number, which is not supported");
}

TEST(ComplexRules, RefuseWhatTheyDoNotKnow) {
  Graph graph("forward");
  Builder b(graph, nullptr);
  Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {2}), "x");
  const ComplexCall call{op(aten::relu), {Argument(x)}, {Argument(x)}, {true}, true};
  const auto made = expand_complex(b, call);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace petrel::exir
