// SPDX-License-Identifier: Apache-2.0
//
// What a partition takes by the measured table (cost_table.inc): each node
// belongs to a family of operators, which has a partition per node and a partition per
// unit of work, for kernels and for XNNPACK.
//
//   exir::GroupCosts costs = costs_of(partition);
//   costs.nodes                              "2 products and 1 elementwise node, 96 elements"
//   costs.kernels, costs.delegated           microseconds
//
// Nothing is timed when a program is exported, so exports stay the same
// everywhere. To measure again: test/perf/partition_costs.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_COSTS_H_
#define PETREL_BACKENDS_XNNPACK_AOT_COSTS_H_

#include "exir/backend/backend.h"
#include "exir/ir/graph.h"

namespace petrel::backends::xnnpack::aot {

// Precondition: XnnpackPartitioner supports every node of `partition`.
exir::GroupCosts costs_of(const exir::Graph& partition);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_COSTS_H_
