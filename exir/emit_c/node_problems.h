// SPDX-License-Identifier: Apache-2.0
//
// Why a method cannot be C yet: everything at once, each with its source line.
//
//   for (const std::string& problem : problems_of(method, sizes, pools)) ...
//   "node 'roll' (aten.roll.default) at model.py:7: aten::roll.out takes no sizes that vary
//    in C yet"
#ifndef PETREL_EXIR_EMIT_C_NODE_PROBLEMS_H_
#define PETREL_EXIR_EMIT_C_NODE_PROBLEMS_H_

#include <string>
#include <vector>

#include "exir/emit_c/memories.h"
#include "exir/emit_c/method_sizes.h"
#include "exir/ir/graph.h"
#include "exir/memory/planned_program.h"

namespace petrel::exir::emit_c {

// The name of the kernel that a .pte calls for the node.
std::string kernel_of(const Node& node, const Storage& storage);

// Whether a step of a .pte is nothing in C: it checks, computes a size, which is an expression
// where it is used, or only tells the sizes of a view.
bool is_nothing(const Node& node, const Storage& storage);

std::vector<std::string> problems_of(const PlannedMethod& method,
                                     const std::vector<MethodSize>& sizes, const CPools& pools);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_NODE_PROBLEMS_H_
