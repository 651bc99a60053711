// SPDX-License-Identifier: Apache-2.0
//
// How much memory a graph takes beside the data of its values: what describes values,
// nodes and constants, here and in XNNPACK. A few bytes of a payload make a value, and few more a
// node, so that a small file could otherwise ask for a hundred times its size.

#ifndef PETREL_BACKENDS_XNNPACK_FORMAT_STRUCTURE_BYTES_H_
#define PETREL_BACKENDS_XNNPACK_FORMAT_STRUCTURE_BYTES_H_

#include <cstdint>

#include "backends/xnnpack/format/graph.h"

namespace petrel::backends::xnnpack {

// With the nodes and operators that XNNPACK makes beside one for each node. Precondition: the
// graph passes check_graph.
uint64_t structure_bytes(const Graph& graph);
// Without those, of a graph of so many; each count is below 2^30.
uint64_t structure_bytes(uint64_t values, uint64_t nodes, uint64_t constants);

// Nodes that XNNPACK gets beside `node`, each with a value: what clamps a result, and what widens
// halves and rounds them again.
uint64_t count_added_nodes(const Graph& graph, const Node& node);

}  // namespace petrel::backends::xnnpack

#endif  // PETREL_BACKENDS_XNNPACK_FORMAT_STRUCTURE_BYTES_H_
