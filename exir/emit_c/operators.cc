// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/operators.h"

#include <algorithm>
#include <array>

#include "exir/emit_c/names.h"
#include "exir/emit_c/operator_list.h"

namespace petrel::exir::emit_c {

namespace {

std::array<absl::Span<const OperatorRow>, 13> families() {
  return {elementwise_operators(), binary_operators(),          matrix_operators(),
          window_operators(),      normalize_operators(),       reduction_operators(),
          move_operators(),        index_operators(),           fill_operators(),
          quantized_operators(),   quantized_table_operators(), int8_operators(),
          int8_product_operators()};
}

}  // namespace

std::string OperatorRow::name() const {
  absl::string_view name = kernel;
  name.remove_prefix(name.find("::") + 2);
  return sanitized(name.substr(0, name.find('.')));
}

const OperatorRow* find_operator(absl::string_view kernel) {
  for (const auto rows : families()) {
    for (const OperatorRow& row : rows) {
      if (row.kernel == kernel) return &row;
    }
  }
  return nullptr;
}

std::vector<COperator> c_operators() {
  std::vector<COperator> all;
  for (const auto rows : families()) {
    for (const OperatorRow& row : rows) all.push_back({row.kernel, !row.make.is_fixed});
  }
  std::sort(all.begin(), all.end(),
            [](const COperator& a, const COperator& b) { return a.kernel < b.kernel; });
  return all;
}

}  // namespace petrel::exir::emit_c
