// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/int8_form.h"

#include <utility>

#include "exir/annotate.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/quantize/annotate_graph.h"

namespace petrel::exir {

std::vector<Argument> level_arguments(Value* value, const Affine& numbers) {
  return {Argument(value),
          Argument(static_cast<double>(numbers.scale)),
          Argument(int64_t{numbers.zero_point}),
          Argument(kLeastLevel),
          Argument(kMostLevel),
          Argument(ScalarType::kChar)};
}

Value* shown_in_levels(Node* position, Value* value, const Affine& numbers) {
  Graph& graph = position->graph();
  TensorType integers = value->tensor();
  integers.dtype = ScalarType::kChar;
  Node* const quantize = graph.insert_before(
      position, op(quantized_decomposed::quantize_per_tensor), level_arguments(value, numbers),
      {Type(std::move(integers))}, value->name() + "_quantized");
  std::vector<Argument> arguments = level_arguments(quantize->result(), numbers);
  arguments.emplace_back();
  return graph
      .insert_before(position, op(quantized_decomposed::dequantize_per_tensor),
                     std::move(arguments), {value->type()}, value->name() + "_dequantized")
      ->result();
}

absl::StatusOr<Value*> weight_in_levels(Node& product, StoredWeights* weights) {
  Graph& graph = product.graph();
  Value* const weight = product_weight(product);
  const size_t axis = weight_axis(product);
  auto stored = weights->per_channel(weight->constant(), axis);
  if (!stored.ok()) return annotate(stored.status(), product.describe());
  return graph
      .insert_before(&product, op(quantized_decomposed::dequantize_per_channel),
                     {Argument(graph.add_constant(stored->levels)),
                      Argument(graph.add_constant(stored->scales)), Argument(),
                      Argument(static_cast<int64_t>(axis)), Argument(kLeastLevel + 1),
                      Argument(kMostLevel), Argument(ScalarType::kChar), Argument()},
                     {weight->type()}, product.result()->name() + "_weight")
      ->result();
}

}  // namespace petrel::exir
