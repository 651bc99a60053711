// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/op_table.h"

#include <map>

namespace petrel::backends::xnnpack::aot {

const OpRow* find_row(const exir::OpInfo& op) {
  static const auto* const rows = [] {
    auto* map = new std::map<std::string, const OpRow*>;
    for (const auto family :
         {attention_ops(), elementwise_ops(), convolution_ops(), matrix_ops(), pooling_ops(),
          shape_ops()}) {
      for (const OpRow& row : family) (*map)[row.name] = &row;
    }
    return map;
  }();
  const auto found = rows->find(op.full_name());
  return found == rows->end() ? nullptr : found->second;
}

}  // namespace petrel::backends::xnnpack::aot
