// SPDX-License-Identifier: Apache-2.0
//
// Finds the state of an imported graph that is still written in place.
#ifndef PETREL_EXIR_IMPORT_MUTATIONS_H_
#define PETREL_EXIR_IMPORT_MUTATIONS_H_

#include <set>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// The constants of `graph` that some node writes, directly or through a view.
// Unimplemented naming the input when a node writes one: the caller's tensor
// would have to change.
absl::StatusOr<std::set<const Constant*>> written_constants(const Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_IMPORT_MUTATIONS_H_
