// SPDX-License-Identifier: Apache-2.0
//
// Which updates of state can be written where the state lies. A cache of a
// hundred megabytes of which each call writes a row must not be copied twice
// for it, once by the update and once by the write-back.
//
//   %a = aten.index_put.default(%cache, [%i], %row, false)     in place
//   %y = aten.bmm.default(%q, %a)                              reads the cache
//   write %a to %cache                                         nothing to do
//
// An update is one of a chain from a state to its own write-back, and whoever
// reads the state as it was before comes before it; the caller never sees the
// old one. Either all updates of a chain are in place or none.
#ifndef PETREL_EXIR_MEMORY_IN_PLACE_H_
#define PETREL_EXIR_MEMORY_IN_PLACE_H_

#include <vector>

#include "exir/ir/graph.h"

namespace petrel::exir {

// The in-place operator that runs instead, "aten::index_put_"; null for
// operators that have none.
const char* in_place_kernel(const Node& node);

// The nodes whose result may be written over their first argument.
std::vector<const Node*> find_in_place_updates(const Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_IN_PLACE_H_
