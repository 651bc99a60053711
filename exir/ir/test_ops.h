// SPDX-License-Identifier: Apache-2.0
//
// A dozen operators and constants for tests of the IR, which knows no operator
// table: one operator for every shape that a schema can have.
//
//   auto graph = parse_graph(text, find_test_op, test_constant);
#ifndef PETREL_EXIR_IR_TEST_OPS_H_
#define PETREL_EXIR_IR_TEST_OPS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "exir/ir/constant.h"
#include "exir/ir/op.h"

namespace petrel::exir {

// aten.add.Tensor, aten.relu.default, aten.cat.default, aten.max.dim,
// aten.mean.dim, aten.index.Tensor, aten.split.Tensor, aten.clone.default,
// aten.view.default, aten.pad.default, aten._assert.default,
// petrel.delegate_call.default; null for any other name.
const OpInfo* find_test_op(absl::string_view full_name);

// A constant of zeros, made on first use and kept by name and type; mutable
// when the name starts with "state".
ConstantPtr test_constant(const std::string& fqn, const TensorType& type);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_TEST_OPS_H_
