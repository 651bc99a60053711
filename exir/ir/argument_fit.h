// SPDX-License-Identifier: Apache-2.0
//
// Which arguments a schema lets a node have: literals and values by the kind of
// the argument, alone or in lists.
//
//   argument_fits(node.arguments()[i], node.op().args[i])
//
//   schema       takes
//   int[] x      [1, 2], [%n, 2] where n is an int, never [1.5]
//   Scalar x     2, 2.5, true, a value that is a number, never a tensor
#ifndef PETREL_EXIR_IR_ARGUMENT_FIT_H_
#define PETREL_EXIR_IR_ARGUMENT_FIT_H_

#include <string>

#include "exir/ir/graph.h"

namespace petrel::exir {

bool argument_fits(const Argument& argument, const ArgSpec& spec);

// What would fit, for messages: "list of int".
std::string wanted_by(const ArgSpec& spec);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_ARGUMENT_FIT_H_
