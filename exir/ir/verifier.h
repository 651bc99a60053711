// SPDX-License-Identifier: Apache-2.0
//
// The rules of a valid graph, one row each in verifier.cc. Run after every
// pass; an error names the rule, the node and its place in the user's model.
// It shares no code with the builders.
#ifndef PETREL_EXIR_IR_VERIFIER_H_
#define PETREL_EXIR_IR_VERIFIER_H_

#include "absl/status/status.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Names unique; every operand defined before its use, in this graph; use lists
// exact; arguments fit the schema in count, kind and optionality; result types
// valid and equal to what the operator's rule infers; constants hold exactly
// their bytes; writes go to mutable buffers of the same type.
absl::Status verify_graph(const Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IR_VERIFIER_H_
