// SPDX-License-Identifier: Apache-2.0
//
// Which values of a graph lie in the same bytes. A view whose elements are
// those of its operand in the same order needs no instruction: it is another
// description of its operand's memory.
//
//   %a = aten.relu.default(%x)            : f32[2,6]   root(a) = a
//   %b = aten.view.default(%a, [3,4])     : f32[3,4]   root(b) = a, elided
//   %c = aten.unsqueeze.default(%b, 0)    : f32[1,3,4] root(c) = a, elided
//
// A view whose sizes vary is an instruction all the same: it makes the result
// describe its operand's memory with the sizes of the call.
//
// Regions are part of the method: the operands of a cond and the inputs of its
// branches are the same values, and so are the outputs of its branches and its
// results, because only one branch runs:
//
//   %y = petrel.cond.default(%p, [%x]) do { @true(%a) { ... return %b } ... }
//   same(a) = x    same(b) = y
//
// The rows that the body of a map takes and gives have memory of their own.
//
// An update of state in place (exir/memory/in_place.h) is an instruction, and its
// result lies in the bytes of the state. Joins and cuts whose operands or results
// lie inside other tensors (exir/memory/parts.h) are none; all of those tensors
// are roots.
//
// Nodes may run together as one step, the last one's, row by row: the results of the others
// have no memory then.
//
// Invariant: a root is an input, a constant or a result of a node that is
// neither a view nor in place. Refers to the graph, which must outlive it; nodes that are appended
// later are their own roots.
#ifndef PETREL_EXIR_MEMORY_STORAGE_H_
#define PETREL_EXIR_MEMORY_STORAGE_H_

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exir/ir/graph.h"
#include "exir/memory/parts.h"

namespace petrel::exir {

// True when the only result of `node` has the elements of the tensor that is
// its first argument, in the same order and with the same type of element.
bool keeps_elements_in_order(const Node& node);

class Storage {
 public:
  explicit Storage(const Graph& graph, Parts parts = Parts());

  const Value* root(const Value* value) const;
  // The one value that stands for `value` and those that are the same.
  const Value* same(const Value* value) const;
  // The nodes that become instructions, in order; those of regions behind the
  // node that has them.
  const std::vector<const Node*>& steps() const { return steps_; }
  // Those of one graph, the method's or that of a region.
  const std::vector<const Node*>& steps_of(const Graph& graph) const {
    return steps_of_.at(&graph);
  }
  // True for steps that only describe the memory of their first argument anew.
  bool is_view(const Node& node) const { return views_.count(&node) != 0; }
  // True for steps that write over their first argument.
  bool is_in_place(const Node& node) const { return in_place_.count(&node) != 0; }
  const Parts& parts() const { return parts_; }

  // `nodes`, in their order, become one step. Precondition: all are steps of one graph, and the
  // results of all but the last are read by nodes among them only.
  void run_together(const std::vector<const Node*>& nodes);
  // The nodes that a step runs, in order: itself, or those that run together.
  std::vector<const Node*> nodes_of(const Node& step) const;
  // What a step reads that it does not make.
  std::vector<const Value*> operands_of(const Node& step) const;

 private:
  void add(const Graph& graph);
  void add_regions(const Node& node);

  std::unordered_map<const Value*, const Value*> roots_;  // of elided results
  std::unordered_map<const Value*, const Value*> same_;
  std::vector<const Node*> steps_;
  std::unordered_map<const Graph*, std::vector<const Node*>> steps_of_;
  std::unordered_set<const Node*> views_;
  std::unordered_set<const Node*> in_place_;
  std::unordered_map<const Node*, std::vector<const Node*>> together_;  // by the last one
  Parts parts_;
};

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_STORAGE_H_
