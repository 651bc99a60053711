// SPDX-License-Identifier: Apache-2.0
#include "exir/import/complex_rules.h"

#include <gtest/gtest.h>

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
  EXPECT_FALSE(has_complex_rule(op(aten::tanh)));
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

TEST(ComplexRules, RefuseWhatTheyDoNotKnow) {
  Graph graph("forward");
  Builder b(graph, nullptr);
  Value* x = graph.add_input(TensorType::contiguous(ScalarType::kFloat, {2}), "x");
  const ComplexCall call{op(aten::tanh), {Argument(x)}, {Argument(x)}, {true}, true};
  const auto made = expand_complex(b, call);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace petrel::exir
