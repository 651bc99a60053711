// SPDX-License-Identifier: Apache-2.0
//
// The tensors that the steps of a method read and write, while the steps are made.
//
//   PlanTensors tensors(planned, places, borrowed, &method);
//   tensors.pass(view);                is no step: its result is its operand
//   tensors.add({x}, {y}, 3, &step);   sets what the step reads and writes
//   tensors.end(graph);                what is returned is alive to the end
//
// Fills method->tensors; refers to all that it is given.
#ifndef PETREL_EXIR_EMIT_C_PLAN_TENSORS_H_
#define PETREL_EXIR_EMIT_C_PLAN_TENSORS_H_

#include <cstddef>
#include <map>
#include <vector>

#include "exir/emit_c/package.h"
#include "exir/emit_c/places.h"
#include "exir/ir/graph.h"
#include "exir/memory/planned_program.h"

namespace petrel::exir::emit_c {

class PlanTensors {
 public:
  PlanTensors(const PlannedMethod& planned, const Places& places, const Borrowed& borrowed,
              CMethod* method);

  void pass(const Node& node);
  void add(const std::vector<const Value*>& operands, const std::vector<const Value*>& results,
           size_t number, CStep* step);
  // Steps `first` to `last` run again and again: what they read from before stays.
  void repeat(size_t first, size_t last);
  void end(const Graph& graph);

 private:
  using List = std::vector<size_t>;

  // Those that `value` is made of; adds one for what no step has written.
  List tensors_of(const Value* value);
  bool has_place(const Value* value) const;
  size_t add_tensor(const Value* value, size_t written_by);

  const PlannedMethod& planned_;
  const Places& places_;
  const Borrowed& borrowed_;
  CMethod* method_;
  std::map<const Value*, List> tensors_;
  std::map<const Value*, List> of_root_;  // last written
};

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_PLAN_TENSORS_H_
