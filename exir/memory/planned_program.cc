// SPDX-License-Identifier: Apache-2.0
#include "exir/memory/planned_program.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/memory/block_search.h"
#include "exir/memory/parts.h"
#include "exir/memory/shortage.h"
#include "exir/plan/model/score.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// With or without tensors that lie in others.
absl::StatusOr<PlannedMethod> plan_with(const std::string& name, const Method& method,
                                        const plan::Options& options, const ExternalFn& is_named,
                                        const MemoryPools& pools, bool with_parts) {
  PlannedMethod planned;
  planned.name = name;
  planned.signature = &method.signature;
  planned.graph = with_owned_outputs(*method.graph, is_named);
  Parts parts;
  if (with_parts) parts = place_parts(*planned.graph, pools.io_apart);
  planned.storage = std::make_unique<Storage>(*planned.graph, std::move(parts));
  PETREL_RETURN_IF_ERROR(check_executable(name, *planned.graph, *planned.storage));
  if (pools.kernels != nullptr) {
    PETREL_RETURN_IF_ERROR(
        annotate(pools.kernels->lay_out(&planned), absl::StrCat("method '", name, "'")));
  }
  auto plan = plan_within(*planned.graph, planned.storage.get(), options, pools);
  if (!plan.ok()) {
    return absl::Status(
        plan.status().code(),
        absl::StrCat("method '", name, "': memory planning: ", plan.status().message()));
  }
  planned.plan = *std::move(plan);
  return planned;
}

// Whether moving bytes after all cannot be better, which is nearly always.
bool is_evidently_best(const PlannedMethod& tight, const MemoryPools& pools) {
  if (tight.storage->parts().list.empty()) return true;
  return pools.list.empty() && !pools.io_apart &&
         tight.plan.arena_bytes <=
             least_arena_bytes(*tight.graph, Storage(*tight.graph, Parts()), pools);
}

bool is_better(const MemoryPlan& a, const MemoryPlan& b, const MemoryPools& pools) {
  if (pools.list.empty()) return a.arena_bytes < b.arena_bytes;
  return plan::score(a.problem, a.solution.placements) <
         plan::score(b.problem, b.solution.placements);
}

// Tensors that lie in others leave the planner less freedom; where that costs
// memory, or a pool is too small for it, bytes are moved after all.
absl::StatusOr<PlannedMethod> plan_method(const std::string& name, const Method& method,
                                          const plan::Options& options, const ExternalFn& is_named,
                                          const MemoryPools& pools) {
  absl::StatusOr<PlannedMethod> tight =
      plan_with(name, method, options, is_named, pools, /*with_parts=*/true);
  if (tight.ok() ? is_evidently_best(*tight, pools) : pools.list.empty()) return tight;
  absl::StatusOr<PlannedMethod> loose =
      plan_with(name, method, options, is_named, pools, /*with_parts=*/false);
  if (!tight.ok() || !loose.ok()) return tight.ok() ? std::move(tight) : std::move(loose);
  return is_better(loose->plan, tight->plan, pools) ? std::move(loose) : std::move(tight);
}

absl::StatusOr<PlannedProgram> plan_methods(const Program& program, const plan::Options& options,
                                            const ExternalFn& is_named, const MemoryPools& pools) {
  PlannedProgram planned;
  std::vector<const Constant*> states;
  for (const auto& [name, method] : program.methods) {
    PETREL_ASSIGN_OR_RETURN(PlannedMethod one, plan_method(name, method, options, is_named, pools));
    for (const Constant* constant : one.used_constants()) {
      if (constant->is_mutable()) states.push_back(constant);
    }
    planned.methods.push_back(std::move(one));
  }
  if (pools.state_apart) {
    PETREL_ASSIGN_OR_RETURN(planned.state, plan_state(states));
  }
  return planned;
}

}  // namespace

std::vector<const Constant*> PlannedMethod::used_constants() const {
  std::vector<const Constant*> constants;
  std::set<const Constant*> seen;
  const auto note = [&](const Value* value) {
    const Value* root = storage->root(value);
    if (root->is_constant() && seen.insert(root->constant().get()).second) {
      constants.push_back(root->constant().get());
    }
  };
  for (const Node* node : storage->steps()) {
    for (const Value* operand : storage->operands_of(*node)) note(operand);
  }
  for (const BufferWrite& write : graph->buffer_writes()) {
    note(write.buffer);
    note(write.value);
  }
  return constants;
}

bool is_dropped(const Node& node) { return node.op().has(kEffect) && node.num_results() == 0; }

absl::Status check_executable(const std::string& method, const Graph& graph,
                              const Storage& storage) {
  for (const Value* input : graph.inputs()) {
    if (input->type().is_tensor()) continue;
    return absl::UnimplementedError(absl::StrCat("method '", method, "': input '", input->name(),
                                                 "' is of type ", to_string(input->type()),
                                                 ", only tensors can be inputs"));
  }
  std::vector<std::string> problems;
  for (const Node* node : storage.steps()) {
    if (node->delegate() != nullptr || is_dropped(*node) || !node->regions().empty()) {
      continue;
    }
    if (node->op().has(kInPlace) && node->op().out_name.empty()) {
      problems.push_back(absl::StrCat(node->describe(), " works in place"));
    } else if (node->op().out_name.empty()) {
      problems.push_back(absl::StrCat(node->describe(), " has no kernel"));
    }
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("method '", method, "': ", absl::StrJoin(problems, "; ")));
}

absl::StatusOr<PlannedProgram> plan_program(const Program& program, const plan::Options& options,
                                            const ExternalFn& is_named, const MemoryPools& pools,
                                            std::vector<std::string>* shortages) {
  MemoryPools used = pools;
  if (program.methods.size() > 1) used.state_apart = true;
  const auto plan = [&](const MemoryPools& given) {
    return plan_methods(program, options, is_named, given);
  };
  absl::StatusOr<PlannedProgram> planned = plan(used);
  if (planned.ok() ? fits(*planned, used) : !is_shortage(planned.status())) return planned;
  const std::optional<MemoryPools> least = least_pools(used, plan);
  if (!least.has_value()) return planned;
  planned = plan(*least);
  if (!planned.ok()) return planned;
  std::vector<std::string> texts = shortage_texts(used, *least, *planned);
  if (shortages == nullptr && !texts.empty()) {
    return absl::FailedPreconditionError(absl::StrJoin(texts, "; "));
  }
  if (shortages != nullptr) *shortages = std::move(texts);
  return planned;
}

}  // namespace petrel::exir
