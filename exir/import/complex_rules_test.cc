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

class Calls {
 public:
  Value* tensor(const Sizes& sizes) {
    return graph_.add_input(TensorType::contiguous(ScalarType::kFloat, sizes), "x");
  }
  Argument number() {
    return Argument(graph_.add_input(Type::integer(SizeExpression("s0", {1, 9})), "n"));
  }

  // `is_complex` of the first arguments; what they are beside it are other tensors.
  std::string refusal(OpHandle name, const std::vector<Argument>& arguments,
                      std::vector<bool> is_complex, bool gives_complex = true) {
    is_complex.resize(arguments.size(), false);
    ComplexCall call{op(name), arguments, arguments, is_complex, gives_complex};
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (is_complex[i]) call.imaginary[i] = with_other_tensors(arguments[i], &graph_);
    }
    Builder b(graph_, nullptr);
    return std::string(expand_complex(b, call).status().message());
  }

 private:
  Graph graph_{"forward"};
};

TEST(ComplexRules, NameWhatTheyDoNotDo) {
  Calls calls;
  const Argument x(calls.tensor({4, 4})), row(calls.tensor({4})), n = calls.number();
  const Argument one(int64_t{1}), no;
  const Argument varies(Argument::List{n});
  EXPECT_EQ(calls.refusal(aten::cat, {Argument(Argument::List{x, no}), one}, {true}),
            "argument 'tensors' must be tensors");
  EXPECT_EQ(calls.refusal(aten::addmm, {x, x, x, one, one}, {false, true}),
            "adds complex numbers to real ones");
  EXPECT_EQ(calls.refusal(aten::addmm, {x, x, x, Argument(2.0), one}, {true, true}),
            "complex sums with factors are not supported");
  EXPECT_EQ(calls.refusal(aten::constant_pad_nd, {x, Argument(Ints{1, 1}), one}, {true}),
            "complex numbers are padded with zeros alone");
  EXPECT_EQ(calls.refusal(aten::mul_Scalar, {x, n}, {true, true}), "a complex factor varies");
  EXPECT_EQ(calls.refusal(aten::fft_fftn, {x, varies, no, no}, {}),
            "argument 's' is computed at run time");
  EXPECT_EQ(calls.refusal(aten::fft_fftn, {row, Argument(Ints{2, 2}), no, no}, {}),
            "s has 2 sizes, the input has rank 1");
  EXPECT_EQ(calls.refusal(aten::_fft_c2c, {x, varies, one, Argument(true)}, {true}),
            "argument 'dim' is computed at run time");
}

TEST(ComplexRules, NameWhatTransformsOfWindowsDoNotDo) {
  Calls calls;
  const Argument samples(calls.tensor({8})), window(calls.tensor({4, 1}));
  const Argument n(int64_t{4}), no, off(false), on(true);
  EXPECT_EQ(calls.refusal(aten::stft, {samples, n, no, no, no, off, no, no, no}, {true}),
            "of complex samples is not supported");
  EXPECT_EQ(calls.refusal(aten::stft, {samples, n, no, no, window, off, no, no, no}, {}),
            "window must be [4], win_length");
  const auto back = [&](const Argument& spectrum, const Argument& onesided, const Argument& length,
                        bool gives_complex = false) {
    return calls.refusal(aten::istft, {spectrum, n, no, no, no, on, off, onesided, length, off},
                         {true}, gives_complex);
  };
  const Argument spectrum(calls.tensor({3, 5}));
  EXPECT_EQ(back(spectrum, no, no), "");
  EXPECT_EQ(back(Argument(calls.tensor({3, 1})), no, no), "gives no samples");
  EXPECT_EQ(back(spectrum, no, calls.number()), "argument 'length' is computed at run time");
  EXPECT_EQ(back(Argument(calls.tensor({3})), no, no), "takes rank 2 or 3, not 1");
  const char* const kHalf = "is supported from half a spectrum to real samples only";
  EXPECT_EQ(back(spectrum, off, no), kHalf);
  EXPECT_EQ(back(spectrum, no, no, true), kHalf);
}

TEST(ComplexRules, ComputeBothParts) {
  Graph graph("forward");
  Builder b(graph, nullptr);
  const auto type = TensorType::contiguous(ScalarType::kFloat, {2});
  Value* x = graph.add_input(Type(type), "x");
  Value* y = graph.add_input(Type(type), "y");
  const auto made = expand_complex(b, {op(aten::neg), {Argument(x)}, {Argument(y)}, {true}, true});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->at(0).imaginary->producer()->is(aten::neg));
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
