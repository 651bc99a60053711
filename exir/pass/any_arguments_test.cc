// SPDX-License-Identifier: Apache-2.0
//
// Whatever arguments the rules of the table take, the passes end with an operator that
// has a kernel or with an error: what a rule lets through is what decompositions, folding
// and lowering must be ready for.
#include "absl/strings/str_cat.h"
#include "exir/ir/program.h"
#include "exir/ops/any_arguments.h"
#include "exir/ops/table.h"
#include "exir/pass/pipeline.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

constexpr int kRounds = 40;

TEST(AnyArguments, PassesSurviveThem) {
  AnyArguments any(20261126);
  size_t accepted = 0, finished = 0;
  for (const OpInfo* op : all_ops()) {
    if (op->infer == nullptr) continue;
    SCOPED_TRACE(op->full_name());
    for (int round = 0; round < kRounds; ++round) {
      Program program;
      auto& graph = program.methods["m"].graph;
      graph = std::make_unique<Graph>("m");
      if (!any.add_call(*op, graph.get())) continue;
      // And now and then one that reads it.
      const OpInfo& next = *all_ops()[static_cast<size_t>(round * 7919) % all_ops().size()];
      if (round % 4 == 0 && next.infer != nullptr) any.add_call(next, graph.get());
      ++accepted;
      absl::Status status = run_passes(program, passes_before_partitioning(), {}, "", nullptr);
      if (status.ok()) {
        status = run_passes(program, passes_after_partitioning(), {}, "", nullptr);
      }
      EXPECT_FALSE(absl::IsInternal(status)) << status;
      EXPECT_EQ(status.ok(), status.message().empty());
      finished += status.ok();
    }
  }
  // Else the arguments were too wild to reach the passes, or all of them refused.
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(finished, accepted / 4);
}

// What may be none by the schema, but not for the rule, no pass gets.
TEST(AnyArguments, PassesSurviveTheAbsenceOfEveryTensorThatMayBeAbsent) {
  AnyArguments any(20261127);
  size_t accepted = 0;
  for (const OpInfo* op : all_ops()) {
    for (size_t i = 0; op->infer != nullptr && i < op->args.size(); ++i) {
      if (op->args[i].kind != ArgKind::kTensor || !op->args[i].is_optional) continue;
      SCOPED_TRACE(absl::StrCat(op->full_name(), " without ", op->args[i].name));
      size_t here = 0;
      for (int round = 0; round < kRounds * 5 && here < 2; ++round) {
        Program program;
        auto& graph = program.methods["m"].graph;
        graph = std::make_unique<Graph>("m");
        if (!any.add_call(*op, graph.get(), i)) continue;
        ++here;
        const absl::Status status =
            run_passes(program, passes_before_partitioning(), {}, "", nullptr);
        EXPECT_FALSE(absl::IsInternal(status)) << status;
      }
      accepted += here;
    }
  }
  EXPECT_GT(accepted, 50u);
}

}  // namespace
}  // namespace petrel::exir
