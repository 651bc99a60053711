// SPDX-License-Identifier: Apache-2.0
//
// Takes groups of nodes out of a graph: a copy of each as a graph of its own,
// and in its place one petrel::delegate_call.
//
//   %a = aten.relu.default(%x)            partition:  method @forward_0(%x) {
//   %b = aten.add.Tensor(%a, %w, 1)                      %w = constant @w
//   %c = aten.sort.default(%b)                           ...  return %b }
//
//   after:  %d = petrel.delegate_call.default([%x])
//           %c = aten.sort.default(%d)
//
// Constants are copied into every partition that uses them, and so are nodes that
// dequantise a constant, where the backend takes them; state is passed as an input,
// because the method owns it. Every output of a partition is computed in it: no input
// passes through.
#ifndef PETREL_EXIR_PARTITION_CUT_H_
#define PETREL_EXIR_PARTITION_CUT_H_

#include <memory>
#include <string>
#include <vector>

#include "exir/backend/backend.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// A partition, and the values of the method's graph that enter and leave it.
struct Partition {
  std::unique_ptr<Graph> graph;
  std::vector<Value*> inputs;
  std::vector<Value*> outputs;
};

// `group` is in graph order, and for the backend of `partitioner`.
Partition copy_partition(const std::vector<Node*>& group, const std::string& name,
                         const Partitioner& partitioner);

// Reorders the nodes of `graph` so that each group is contiguous. Nodes keep
// their order otherwise as far as their operands allow. Precondition: replacing
// each group by one node makes no cycle.
void make_contiguous(Graph& graph, const std::vector<std::vector<Node*>>& groups);

// Replaces each group, which must be contiguous, by one call. Returns the calls.
std::vector<Node*> replace_partitions(Graph& graph, const std::vector<std::vector<Node*>>& groups,
                                      const std::vector<Partition>& partitions);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PARTITION_CUT_H_
