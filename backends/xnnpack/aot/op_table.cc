// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/op_table.h"

#include <cstdint>
#include <map>

namespace petrel::backends::xnnpack::aot {

const OpRow* find_row(const exir::OpInfo& op) {
  static const auto* const rows = [] {
    auto* map = new std::map<uint16_t, const OpRow*>;
    for (const auto family : {attention_ops(), elementwise_ops(), convolution_ops(), matrix_ops(),
                              norm_ops(), pooling_ops(), quantized_ops(), shape_ops()}) {
      for (const OpRow& row : family) (*map)[row.op.row] = &row;
    }
    return map;
  }();
  const auto found = rows->find(op.handle.row);
  return found == rows->end() ? nullptr : found->second;
}

const exir::Node* activation_host(const exir::Node& node) {
  if (!activation_range(node)) return nullptr;
  const exir::Value* operand = node.operands()[0];
  const exir::Node* producer = operand->producer();
  if (producer == nullptr || !operand->has_single_user()) return nullptr;
  const OpRow* row = find_row(producer->op());
  return row != nullptr && row->takes_activation ? producer : nullptr;
}

}  // namespace petrel::backends::xnnpack::aot
