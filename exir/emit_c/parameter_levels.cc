// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/parameter_levels.h"

#include <optional>

#include "exir/emit_c/node_calls.h"
#include "exir/ops/handles.h"

namespace petrel::exir::emit_c {

void note_levels(const PlannedMethod& method, const Symbols& symbols,
                 std::vector<CParameter>* parameters) {
  const auto index_of = [&](const Value* value) -> std::optional<size_t> {
    const Value* root = method.storage->root(value);
    if (!root->is_constant()) return std::nullopt;
    const auto symbol = symbols.find(root->constant().get());
    if (symbol == symbols.end()) return std::nullopt;
    for (size_t i = 0; i < parameters->size(); ++i) {
      if ((*parameters)[i].symbol == symbol->second) return i;
    }
    return std::nullopt;
  };
  for (const Node* node : method.storage->steps()) {
    const bool of_tensor = node->is(quantized_decomposed::dequantize_per_tensor);
    const bool of_channels = node->is(quantized_decomposed::dequantize_per_channel);
    if (!of_tensor && !of_channels) continue;
    const std::optional<size_t> found = index_of(node->input(arg::input));
    if (!found.has_value()) continue;
    CParameter& parameter = (*parameters)[*found];
    if (of_channels) {
      parameter.scales = index_of(node->input(arg::scales));
      parameter.axis = static_cast<int64_t>(
          dim_of(node->argument(arg::axis), node->input(arg::input)->tensor()));
    } else if (node->argument(arg::scale).is_number() && node->argument(arg::zero_point).is_int()) {
      parameter.levels =
          CLevels{node->argument(arg::scale).as_number(), node->argument(arg::zero_point).as_int()};
    }
  }
}

}  // namespace petrel::exir::emit_c
