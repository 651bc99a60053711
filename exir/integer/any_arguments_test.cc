// SPDX-License-Identifier: Apache-2.0
//
// Whatever arguments the rules of the table take, operators that are expanded for integers, or
// stand between levels, become what is valid, or stay, or are an error.
#include <utility>
#include <vector>

#include "exir/integer/integer_graph.h"
#include "exir/ir/program.h"
#include "exir/ir/verifier.h"
#include "exir/ops/any_arguments.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/builder.h"
#include "exir/pass/pipeline.h"
#include "exir/quantize/expand_for_integers.h"
#include "gtest/gtest.h"

namespace petrel::exir {
namespace {

constexpr int kRounds = 60;

bool is_floats(const Value& value) {
  return value.type().is_tensor() && value.tensor().dtype == ScalarType::kFloat;
}

// Constants stay constants, as weights are.
Value* levels_for(Graph& graph, const Value& number) {
  TensorType type = number.tensor();
  type.dtype = ScalarType::kChar;
  if (!number.is_constant()) return graph.add_input(std::move(type), "q");
  auto constant = std::make_shared<Constant>();
  constant->fqn = number.constant()->fqn + "@levels";
  constant->data = Blob::owned(std::vector<uint8_t>(static_cast<size_t>(type.nbytes()), 1));
  constant->type = std::move(type);
  return graph.add_constant(std::move(constant));
}

// What goes in is dequantised, what comes out is quantised.
absl::Status put_between_levels(Graph& graph) {
  const int64_t least = INT8_MIN, most = INT8_MAX;
  std::vector<Value*> numbers = graph.inputs();
  for (Value* constant : graph.constants()) numbers.push_back(constant);
  const std::vector<Node*> nodes = graph.node_pointers();
  Builder front(graph, nodes.empty() ? nullptr : nodes[0]);
  for (Value* number : numbers) {
    if (!is_floats(*number) || !number->is_used()) continue;
    const int64_t zero_point = number->is_constant() ? 0 : 3;
    const BuiltValue made = front.call(
        quantized_decomposed::dequantize_per_tensor,
        {levels_for(graph, *number), 0.5, zero_point, least, most, ScalarType::kChar, none()});
    if (!made.ok()) return made.status();
    graph.replace_all_uses(number, *made);
  }
  Builder back(graph, nullptr);
  std::vector<Value*> outputs = graph.outputs();
  for (Value*& output : outputs) {
    if (!is_floats(*output)) continue;
    const BuiltValue made = back.call(quantized_decomposed::quantize_per_tensor,
                                      {output, 0.25, int64_t{-1}, least, most, ScalarType::kChar});
    if (!made.ok()) return made.status();
    output = *made;
  }
  graph.set_outputs(std::move(outputs));
  return absl::OkStatus();
}

TEST(AnyArguments, IntegersSurviveThem) {
  AnyArguments any(20261128);
  size_t accepted = 0, finished = 0;
  for (const OpInfo* op : all_ops()) {
    if (op->infer == nullptr) continue;
    SCOPED_TRACE(op->full_name());
    for (int round = 0; round < kRounds; ++round) {
      Program program;
      auto& graph = program.methods["m"].graph;
      graph = std::make_unique<Graph>("m");
      if (!any.add_call(*op, graph.get())) continue;
      if (!run_passes(program, passes_before_partitioning(), {}, "", nullptr).ok()) continue;
      ++accepted;
      absl::Status status =
          round % 2 == 0 ? expand_for_integers(*graph) : put_between_levels(*graph);
      if (status.ok() && round % 2 == 1) status = integer_graph(*graph);
      EXPECT_FALSE(absl::IsInternal(status)) << status;
      if (!status.ok()) continue;
      EXPECT_TRUE(verify_graph(*graph).ok()) << verify_graph(*graph);
      ++finished;
    }
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(finished, accepted / 2);
}

}  // namespace
}  // namespace petrel::exir
