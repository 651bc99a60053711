// SPDX-License-Identifier: Apache-2.0
//
// What exists in C, for pages and messages: kernels by the names that they have in a .pte.
//
//   for (const COperator& op : c_operators()) std::puts(op.kernel.c_str());   "aten::abs.out" ...
#ifndef PETREL_EXIR_EMIT_C_OPERATOR_LIST_H_
#define PETREL_EXIR_EMIT_C_OPERATOR_LIST_H_

#include <string>
#include <vector>

namespace petrel::exir::emit_c {

struct COperator {
  std::string kernel;
  bool takes_varying_sizes = false;
};

// Sorted by name.
std::vector<COperator> c_operators();

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_OPERATOR_LIST_H_
