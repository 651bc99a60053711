// SPDX-License-Identifier: Apache-2.0
//
// Finds what an imported graph writes in place: state and inputs.
#ifndef PETREL_EXIR_IMPORT_MUTATIONS_H_
#define PETREL_EXIR_IMPORT_MUTATIONS_H_

#include <set>

#include "exir/ir/graph.h"

namespace petrel::exir {

// The constants and inputs of `graph` that some node writes, directly or
// through a view.
std::set<const Value*> written_roots(const Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_MUTATIONS_H_
