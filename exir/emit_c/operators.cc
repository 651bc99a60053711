// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/operators.h"

#include "exir/emit_c/names.h"

namespace petrel::exir::emit_c {

std::string OperatorRow::name() const {
  absl::string_view name = kernel;
  name.remove_prefix(name.find("::") + 2);
  return sanitized(name.substr(0, name.find('.')));
}

const OperatorRow* find_operator(absl::string_view kernel) {
  for (const auto rows :
       {elementwise_operators(), binary_operators(), matrix_operators(), window_operators(),
        normalize_operators(), reduction_operators(), move_operators(), index_operators(),
        fill_operators(), quantized_operators()}) {
    for (const OperatorRow& row : rows) {
      if (row.kernel == kernel) return &row;
    }
  }
  return nullptr;
}

}  // namespace petrel::exir::emit_c
