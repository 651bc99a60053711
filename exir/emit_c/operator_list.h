// SPDX-License-Identifier: Apache-2.0
//
// What exists in C, for pages and messages: kernels by the names that they have in a .pte, and
// types of elements.
//
//   for (const COperator& op : c_operators()) std::puts(op.kernel.c_str());   "aten::abs.out" ...
//   has_c_type(ScalarType::kHalf)
#ifndef PETREL_EXIR_EMIT_C_OPERATOR_LIST_H_
#define PETREL_EXIR_EMIT_C_OPERATOR_LIST_H_

#include <string>
#include <vector>

#include "exir/ir/scalar_type.h"

namespace petrel::exir::emit_c {

struct COperator {
  std::string kernel;
  bool takes_varying_sizes = false;
};

// Sorted by name.
std::vector<COperator> c_operators();

bool has_c_type(ScalarType type);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_OPERATOR_LIST_H_
