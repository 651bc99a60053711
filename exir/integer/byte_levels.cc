// SPDX-License-Identifier: Apache-2.0
#include "exir/integer/byte_levels.h"

#include <utility>
#include <vector>

#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/pass/framework/builder.h"
#include "exir/quantize/of_bytes.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// More are no table, and each move would make them anew.
constexpr size_t kMostComputed = 64;

absl::StatusOr<Value*> as_numbers(Builder& b, Value* bytes) {
  const ScalarType dtype = bytes->tensor().dtype;
  const int64_t least = dtype == ScalarType::kByte ? 0 : -128;
  return b.call(quantized_decomposed::dequantize_per_tensor,
                {bytes, 1.0, int64_t{0}, least, least + 255, dtype, none()});
}

// Bytes that are computed with, without a cast: numbers in their place.
absl::Status cast_operands(Graph& graph, Node& node) {
  for (size_t i = 0; i < node.arguments().size(); ++i) {
    const Argument& argument = node.arguments()[i];
    if (!argument.is_value() || !is_of_bytes(*argument.value())) continue;
    Builder b(graph, &node);
    PETREL_ASSIGN_OR_RETURN(Value * numbers, as_numbers(b, argument.value()));
    node.set_argument(i, Argument(numbers));
  }
  return absl::OkStatus();
}

// A move in front of what is computed of each element before it, for as many nodes as those are.
absl::Status move_first(Graph& graph, Node* move) {
  std::vector<const Node*> computed;  // last first
  Value* from = move->arguments()[0].value();
  while (from->producer() != nullptr && computes_alike(*from->producer()) &&
         computed.size() <= kMostComputed) {
    const Node* const node = from->producer();
    computed.push_back(node);
    for (Value* operand : node->operands()) {
      if (!operand->is_constant()) from = operand;
    }
  }
  if (computed.empty() || computed.size() > kMostComputed) return absl::OkStatus();
  Builder b(graph, move);
  std::vector<Argument> arguments = move->arguments();
  arguments[0] = Argument(from);
  PETREL_ASSIGN_OR_RETURN(Node * made, b.node(move->op(), std::move(arguments)));
  for (auto node = computed.rbegin(); node != computed.rend(); ++node) {
    arguments = (*node)->arguments();
    for (Argument& argument : arguments) {
      if (argument.is_value() && !argument.value()->is_constant()) {
        argument = Argument(made->result());
      }
    }
    PETREL_ASSIGN_OR_RETURN(made, b.node((*node)->op(), std::move(arguments)));
  }
  return b.replace(*move, made->result());
}

}  // namespace

absl::Status take_bytes_as_levels(Graph& graph) {
  const BytesInGraph bytes(graph);
  for (Node* node : graph.node_pointers()) {
    if (node->num_results() != 1) continue;
    const OfBytes kind = bytes.kind_of(*node->result());
    if (takes_bytes_as_numbers(*node)) {
      Builder b(graph, node);
      PETREL_ASSIGN_OR_RETURN(Value * numbers, as_numbers(b, node->input(arg::self)));
      PETREL_RETURN_IF_ERROR(b.replace(*node, numbers));
    } else if (kind != OfBytes::kNone && only_moves(*node)) {
      PETREL_RETURN_IF_ERROR(move_first(graph, node));
    } else if (kind != OfBytes::kNone) {
      PETREL_RETURN_IF_ERROR(cast_operands(graph, *node));
    }
  }
  return absl::OkStatus();
}

}  // namespace petrel::exir
