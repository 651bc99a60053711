// SPDX-License-Identifier: Apache-2.0
//
// Nodes whose outputs nobody reads, directly or through others, and which a
// payload may hold all the same. XNNPACK clears such a node when it meets one,
// but ends the process when the node before it was read by that one only, so no
// dead node may reach it.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_DEAD_NODES_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_DEAD_NODES_H_

#include <vector>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// Takes them out; values stay as they are, so that their ids do.
// Precondition: check_graph.
void remove_dead_nodes(Graph* graph);

// By value, whether XNNPACK reads it: inputs of nodes, and outputs that it goes over twice,
// those of softmax and of maxima over more elements than it takes at once.
std::vector<bool> read_values(const Graph& graph);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_DEAD_NODES_H_
