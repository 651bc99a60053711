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
