// SPDX-License-Identifier: Apache-2.0
//
// The steps of a method, those of branches and of rounds of loops between jumps.
//
//   MethodSteps steps({planned, places, borrowed, package, delegates, pointers}, &library,
//                     &method);
//   PETREL_RETURN_IF_ERROR(steps.add_all());
//   method.steps       functions and jumps, in the order in which they lie in the file
//   steps.problems()   what cannot be C, node by node
//
// Refers to all that it is given; adds to method->steps and method->tensors.
#ifndef PETREL_EXIR_EMIT_C_METHOD_STEPS_H_
#define PETREL_EXIR_EMIT_C_METHOD_STEPS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exir/emit_c/delegates.h"
#include "exir/emit_c/kernel_library.h"
#include "exir/emit_c/package.h"
#include "exir/emit_c/places.h"
#include "exir/emit_c/plan_tensors.h"
#include "exir/ir/graph.h"
#include "exir/memory/planned_program.h"

namespace petrel::exir::emit_c {

// Indices of the parameters that code has pointers to.
using Pointers = std::map<const Constant*, size_t>;

// The one that `value` is.
std::optional<size_t> pointer_of(const Pointers& pointers, const Storage& storage,
                                 const Value* value);

// What steps are made from.
struct StepSources {
  const PlannedMethod& planned;
  const Places& places;
  const Borrowed& borrowed;
  const Package& package;
  const DelegateIndex& delegates;
  const Pointers& pointers;
};

class MethodSteps {
 public:
  MethodSteps(const StepSources& sources, KernelLibrary* library, CMethod* method)
      : sources_(sources),
        library_(library),
        method_(method),
        tensors_(sources.planned, sources.places, sources.borrowed, method) {}

  absl::Status add_all();
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  absl::Status add(const Graph& graph);
  absl::Status add_cond(const Node& node);
  absl::Status add_while_loop(const Node& node);
  absl::Status add_rows(const Node& node);
  absl::Status add_node(const Node& node);
  absl::Status add_found(const Node& node);
  void end_count(const Node& node, CStep* step) const;

  // Returns the index of the step.
  size_t add_jump(const Node& node, CJump jump);
  // `to` takes what `from` has, or a row of it, or becomes a row: that of the round of the loop
  // with this counter.
  enum class Row { kNone, kFrom, kTo };
  void add_copy(const Node& node, const Value* from, const Value* to, Row row = Row::kNone,
                size_t counter = 0);
  // What its body uses becomes what its function takes.
  void take_arguments(const std::vector<const Value*>& operands, CStep* step) const;
  std::vector<CShared> shared_in(const Node& node) const;

  const StepSources sources_;
  KernelLibrary* library_;
  CMethod* method_;
  PlanTensors tensors_;
  std::vector<std::string> problems_;
};

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_METHOD_STEPS_H_
