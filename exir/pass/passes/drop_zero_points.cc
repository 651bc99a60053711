// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/drop_zero_points.h"

#include <algorithm>

#include "exir/ops/handles.h"
#include "exir/pass/framework/constant_data.h"

namespace petrel::exir {
namespace {

bool are_zero(const Argument& argument) {
  if (!argument.is_value() || !argument.value()->is_constant()) return false;
  const Constant& constant = *argument.value()->constant();
  if (constant.is_mutable()) return false;
  const auto numbers = decode_constant(constant);
  return numbers.ok() &&
         std::all_of(numbers->begin(), numbers->end(), [](double n) { return n == 0; });
}

}  // namespace

absl::StatusOr<bool> drop_zero_points(Graph& graph, const PassContext&) {
  bool changed = false;
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
