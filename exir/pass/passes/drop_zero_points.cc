// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/drop_zero_points.h"

#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_facts.h"

namespace petrel::exir {
namespace {

bool are_zero(const Argument& argument) {
  return argument.is_value() && argument.value()->is_constant() &&
         is_zero(argument.value()->constant());
}

}  // namespace

absl::StatusOr<bool> drop_zero_points(Graph& graph, const PassContext&) {
  bool changed = false;
  const ConstantFacts facts;
  for (Node* node : graph.node_pointers()) {
    if (!node->is(quantized_decomposed::dequantize_per_channel,
                  quantized_decomposed::dequantize_per_channel_group, torchao::dequantize_affine)) {
      continue;
    }
    int place = node->op().find_arg(arg::zero_point);
    if (place < 0) place = node->op().find_arg(arg::zero_points);
    if (!are_zero(node->arguments()[static_cast<size_t>(place)])) continue;
    node->set_argument(static_cast<size_t>(place), Argument());
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
