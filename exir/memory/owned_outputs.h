// SPDX-License-Identifier: Apache-2.0
//
// Gives every output of a method and every write-back memory that is safe to
// hand out: an output that is an input, a constant, state, or a view of one,
// becomes a copy, because a caller must not see it change or change it.
//
//   before  %b = aten.view.default(%x, [6])
//           return %b
//   after   %b = aten.view.default(%x, [6])
//           %c = petrel.owned_copy.default(%b, [6])    runs aten::view_copy.out
//           return %c
//
// A write-back whose value is other state is copied first, so that state can be
// exchanged between two buffers. Views of external constants become copies too,
// because an external file describes each constant by one layout.
#ifndef PETREL_EXIR_MEMORY_OWNED_OUTPUTS_H_
#define PETREL_EXIR_MEMORY_OWNED_OUTPUTS_H_

#include <functional>
#include <memory>

#include "exir/ir/graph.h"

namespace petrel::exir {

// True for constants that are written to an external file.
using ExternalFn = std::function<bool(const Constant&)>;

// A node that copies `value` and is never elided.
Node* insert_copy_before(Graph& graph, Node* position, Value* value);

// A changed clone of `graph`.
std::unique_ptr<Graph> with_owned_outputs(const Graph& graph, const ExternalFn& is_external);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_OWNED_OUTPUTS_H_
