// SPDX-License-Identifier: Apache-2.0
//
// A program with its memory decided: for each method the graph with its outputs
// owned, what storage its values share, and a place for each. Every emitter
// writes from this.
//
//   PETREL_ASSIGN_OR_RETURN(const PlannedProgram planned,
//                           plan_program(program, plan::Options(), is_external));
//   planned.methods[0].plan.arena_bytes;
//
// It refers to the Program it was made of, which must outlive it.
#ifndef PETREL_EXIR_MEMORY_PLANNED_PROGRAM_H_
#define PETREL_EXIR_MEMORY_PLANNED_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/program.h"
#include "exir/memory/memory.h"
#include "exir/memory/owned_outputs.h"
#include "exir/memory/pools.h"
#include "exir/memory/storage.h"
#include "exir/plan/search/planner.h"

namespace petrel::exir {

struct PlannedMethod {
  std::string name;
  const Signature* signature = nullptr;
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Storage> storage;
  MemoryPlan plan;

  // The constants that steps, outputs or write-backs refer to, in order.
  std::vector<const Constant*> used_constants() const;
};

struct PlannedProgram {
  std::vector<PlannedMethod> methods;  // by name
  // Of programs with several methods; state of a single one lies in its arena.
  StatePlan state;
};

// True for steps that become no instruction: assertions.
bool is_dropped(const Node& node);

// All nodes of a method that no kernel executes, in one error.
absl::Status check_executable(const std::string& method, const Graph& graph,
                              const Storage& storage);

// `is_named`: constants that have one layout, wherever they lie. Unimplemented
// names all nodes that no kernel executes.
// State of a program with several methods, and where `pools` say so that of a single one,
// lies apart from the pools.
// Where limits of `pools` are too small, the error says how much each lacks: with that it fits,
// with less it does not. With `shortages` that is put there, one text for each pool, and what is
// planned is what would fit; so it is with most_bytes, which has no text.
absl::StatusOr<PlannedProgram> plan_program(const Program& program, const plan::Options& options,
                                            const ExternalFn& is_named,
                                            const MemoryPools& pools = MemoryPools(),
                                            std::vector<std::string>* shortages = nullptr);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_MEMORY_PLANNED_PROGRAM_H_
