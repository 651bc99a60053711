// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/package.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "exir/annotate.h"
#include "exir/emit_c/constant_file.h"
#include "exir/emit_c/delegates.h"
#include "exir/emit_c/kernel_library.h"
#include "exir/emit_c/method_sizes.h"
#include "exir/emit_c/method_steps.h"
#include "exir/emit_c/names.h"
#include "exir/emit_c/node_problems.h"
#include "exir/emit_c/parameter_levels.h"
#include "exir/emit_c/parameter_pools.h"
#include "exir/emit_c/places.h"
#include "exir/emit_c/text_files.h"
#include "exir/status_macros.h"
#include "exir/emit_c/renamed.h"

namespace petrel::exir::emit_c {
namespace {

// Of outputs that are no numbers known at export.
std::vector<std::string> computed_names(const Signature& signature) {
  std::vector<std::string> names;
  for (size_t i = 0; i < signature.output_names.size(); ++i) {
    if (signature.fixed_outputs.count(i) == 0) names.push_back(signature.output_names[i]);
  }
  return names;
}

class Builder {
 public:
  Builder(const PlannedProgram& planned, const CPools& pools, const std::string& name)
      : planned_(planned), pools_(pools) {
    package_.name = name;
    package_.capitals = in_capitals(name);
    package_.state_bytes = planned.state.arena_bytes;
    package_.pools = &pools;
  }

  absl::StatusOr<Package> build() {
    PETREL_RETURN_IF_ERROR(check_package_name(package_.name));
    for (const PlannedMethod& method : planned_.methods) {
      PETREL_RETURN_IF_ERROR(
          annotate(note_problems(method), absl::StrCat("method '", method.name, "'")));
    }
    if (!problems_.empty()) return all_problems();
    std::vector<std::string> shortages;
    package_.memories = make_memories(planned_, pools_, package_.name, &shortages);
    for (const PlannedMethod& method : planned_.methods) {
      PETREL_RETURN_IF_ERROR(name_constants(method));
    }
    for (const PlannedMethod& method : planned_.methods) {
      note_levels(method, symbols_, &package_.parameters);
    }
    PETREL_ASSIGN_OR_RETURN(delegates_, add_delegates(planned_, &parameter_names_, &package_));
    PETREL_RETURN_IF_ERROR(place_parameters(pools_, &package_.parameters, &shortages));
    if (!shortages.empty()) return absl::FailedPreconditionError(absl::StrJoin(shortages, "; "));
    PETREL_RETURN_IF_ERROR(check_places());
    PETREL_RETURN_IF_ERROR(make_pointers());
    for (const PlannedMethod& method : planned_.methods) {
      PETREL_RETURN_IF_ERROR(
          annotate(add_method(method), absl::StrCat("method '", method.name, "'")));
    }
    if (!problems_.empty()) return all_problems();
    PETREL_RETURN_IF_ERROR(check_ids());
    place_in_file(&package_);
    note_folded();
    package_.kernels = renamed(package_, library_.text());
    package_.includes = library_.includes();
    package_.conditional_includes = library_.conditional_includes();
    return std::move(package_);
  }

 private:
  absl::Status all_problems() const {
    return absl::UnimplementedError(absl::StrJoin(problems_, "\n"));
  }

  absl::Status note_problems(const PlannedMethod& method) {
    PETREL_ASSIGN_OR_RETURN(std::vector<MethodSize> sizes, find_sizes(*method.graph));
    for (const std::string& problem : problems_of(method, sizes, pools_)) {
      problems_.push_back(absl::StrCat("method '", method.name, "': ", problem));
    }
    sizes_.push_back(std::move(sizes));
    return absl::OkStatus();
  }

  // Sizes that nobody gave are known now.
  absl::Status check_places() {
    for (CMemory& memory : package_.memories) {
      for (const plan::MemoryPool& pool : pools_.constants) {
        const bool is_it = memory.keeps_parameters && memory.member == pool.name;
        if (is_it) memory.bytes = constant_bytes(package_.parameters, pool);
      }
    }
    std::vector<plan::MemoryPool> pools;
    std::vector<std::optional<int64_t>> bytes;
    for (const CMemory& memory : package_.memories) {
      if (!memory.pool.has_value()) continue;
      pools.push_back(*memory.pool);
      bytes.push_back(memory.bytes);
    }
    for (const plan::MemoryPool& pool : pools_.constants) {
      if (pool.kind == plan::PoolKind::kReadWrite) continue;  // is a memory
      pools.push_back(pool);
      bytes.push_back(constant_bytes(package_.parameters, pool));
    }
    return plan::check_addresses(pools, bytes);
  }

  // Of parameters that are not linked where they are read, code has pointers.
  absl::Status make_pointers() {
    std::map<std::string, size_t> by_symbol;
    Names macros("parameter", Names::Use::kMacro);
    for (size_t i = 0; i < package_.parameters.size(); ++i) {
      const CParameter& parameter = package_.parameters[i];
      if (!parameter.is_pointer()) continue;
      by_symbol[parameter.symbol] = i;
      PETREL_RETURN_IF_ERROR(macros.add(parameter.name).status());
    }
    for (auto& [constant, symbol] : symbols_) {
      const auto found = by_symbol.find(symbol);
      if (found == by_symbol.end()) continue;
      symbol = package_.parameters[found->second].variable;
      pointers_[constant] = found->second;
    }
    return absl::OkStatus();
  }

  void note_folded() {
    std::set<std::string> kept;
    for (const CParameter& parameter : package_.parameters) kept.insert(parameter.name);
    for (const CState& state : package_.states) kept.insert(state.name);
    for (const auto& [name, bytes] : pools_.archived) {
      if (kept.count(name) == 0) package_.folded.push_back({name, bytes});
    }
  }

  absl::Status check_ids() const {
    std::map<uint32_t, std::string> ids;
    for (const CParameter& parameter : package_.parameters) {
      const auto [there, fresh] = ids.emplace(parameter_id(parameter), parameter.name);
      if (fresh) continue;
      return absl::InvalidArgumentError(absl::StrCat("parameters '", there->second, "' and '",
                                                     parameter.name, "' have one id, ",
                                                     there->first));
    }
    return absl::OkStatus();
  }

  absl::Status name_constants(const PlannedMethod& method) {
    for (const Constant* constant : method.used_constants()) {
      const auto [known, fresh] = by_name_.emplace(constant->fqn, constant);
      if (!fresh && (known->second == constant || known->second->data.equals(constant->data))) {
        symbols_[constant] = symbols_.at(known->second);
        continue;
      }
      // Literals of two methods may have one name and other bytes.
      const std::string name =
          fresh ? constant->fqn : absl::StrCat(constant->fqn, "@", method.name);
      PETREL_ASSIGN_OR_RETURN(const std::string c_name, parameter_names_.add(name));
      symbols_[constant] =
          absl::StrCat(package_.name, constant->is_mutable() ? "_initial_" : "_param_", c_name);
      if (constant->is_mutable()) continue;
      CParameter parameter;
      parameter.name = name;
      parameter.symbol = symbols_[constant];
      parameter.variable = absl::StrCat("param_", c_name);
      parameter.constant = constant;
      package_.parameters.push_back(std::move(parameter));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<CTensor>> name_tensors(const char* what,
                                                    const std::vector<const Value*>& values,
                                                    const std::vector<std::string>& given,
                                                    const std::string& method) {
    std::vector<CTensor> tensors;
    const auto levels = package_.pools->levels.find(method);
    Names names(what, Names::Use::kMember);
    std::set<std::string> known;
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string name = i < given.size() ? given[i] : absl::StrCat(what, "_", i);
      std::string c_name;
      if (known.insert(name).second) {
        PETREL_ASSIGN_OR_RETURN(c_name, names.add(name));
        if (values[i]->tensor().is_dynamic()) {
          PETREL_RETURN_IF_ERROR(names.add(absl::StrCat(name, "_sizes")).status());
        }
      }
      tensors.push_back({name, std::move(c_name), values[i]->tensor(), "", std::nullopt});
      if (levels == package_.pools->levels.end()) continue;
      const auto found = levels->second.find(absl::StrCat(what, " ", name));
      if (found != levels->second.end()) tensors.back().levels = found->second;
    }
    // A result that is returned several times; after the others, whose names it must not take.
    for (CTensor& tensor : tensors) {
      if (tensor.c_name.empty()) tensor.c_name = names.add_again(tensor.name);
    }
    return tensors;
  }

  // The variables of inputs and outputs that have no place in the plan. What is returned
  // several times lies where its first output does.
  Borrowed borrow(const PlannedMethod& planned, const std::vector<const Value*>& inputs,
                  const std::vector<const Value*>& outputs, const CMethod& method) const {
    Borrowed borrowed;
    if (!package_.borrows()) return borrowed;
    for (size_t i = 0; i < inputs.size(); ++i) {
      borrowed.emplace(planned.storage->root(inputs[i]), "in_" + method.inputs[i].c_name);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      borrowed.emplace(planned.storage->root(outputs[i]), "out_" + method.outputs[i].c_name);
    }
    return borrowed;
  }

  // KWS_POOL_X_BYTES would be of a pool and of a method.
  absl::Status check_method_name(const std::string& c_name) const {
    const std::string capitals = in_capitals(c_name) + "_";
    const bool is_pool = package_.has_pools() && absl::StartsWith(capitals, "POOL_");
    const bool is_parameter = !pointers_.empty() && absl::StartsWith(capitals, "PARAM_");
    if (!is_pool && !is_parameter) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("method '", c_name, "' has the name of a ",
                                                   is_pool ? "pool" : "parameter",
                                                   "; rename it with --method"));
  }

  absl::Status add_method(const PlannedMethod& planned) {
    CMethod method;
    method.name = planned.name;
    method.prefix = package_.name;
    if (planned_.methods.size() > 1) {
      PETREL_ASSIGN_OR_RETURN(const std::string c_name, method_names_.add(planned.name));
      PETREL_RETURN_IF_ERROR(check_method_name(c_name));
      absl::StrAppend(&method.prefix, "_", c_name);
    }
    method.sizes = std::move(sizes_[package_.methods.size()]);
    method.sizes_member =
        absl::StrCat("sizes", absl::string_view(method.prefix).substr(package_.name.size()));
    method.rounds_member =
        absl::StrCat("rounds", absl::string_view(method.prefix).substr(package_.name.size()));
    method.arena_bytes = planned.plan.arena_bytes;
    method.lower_bound_bytes = planned.plan.lower_bound_bytes;
    method.proven_optimal = planned.plan.proven_optimal;
    method.pool_bytes = planned.plan.pool_bytes;
    const Graph& graph = *planned.graph;
    const std::vector<const Value*> inputs(graph.inputs().begin(), graph.inputs().end());
    const std::vector<const Value*> outputs(graph.outputs().begin(), graph.outputs().end());
    PETREL_ASSIGN_OR_RETURN(
        method.inputs, name_tensors("input", inputs, planned.signature->input_names, planned.name));
    PETREL_ASSIGN_OR_RETURN(
        method.outputs,
        name_tensors("output", outputs, computed_names(*planned.signature), planned.name));
    const Borrowed borrowed = borrow(planned, inputs, outputs, method);
    const Places places(planned, planned_.state, symbols_, package_.memories, borrowed);
    for (size_t i = 0; i < inputs.size(); ++i) method.inputs[i].place = places.bytes(inputs[i]);
    for (size_t i = 0; i < outputs.size(); ++i) method.outputs[i].place = places.bytes(outputs[i]);
    MethodSteps steps({planned, places, borrowed, package_, delegates_, pointers_}, &library_,
                      &method);
    PETREL_RETURN_IF_ERROR(steps.add_all());
    for (const std::string& problem : steps.problems()) {
      problems_.push_back(absl::StrCat("method '", method.name, "': ", problem));
    }
    add_state(planned, places, &method);
    package_.arena_bytes = std::max(package_.arena_bytes, method.arena_bytes);
    package_.methods.push_back(std::move(method));
    return absl::OkStatus();
  }

  // The state that the method uses, once per package, and what it writes at its end.
  void add_state(const PlannedMethod& planned, const Places& places, CMethod* method) {
    for (const BufferWrite& write : planned.graph->buffer_writes()) {
      if (planned.storage->root(write.value) == write.buffer) continue;  // it is there
      const std::string from =
          places.has_symbol(write.value) ? places.read(write.value) : places.bytes(write.value);
      method->writes.push_back({places.bytes(write.buffer), from,
                                pointer_of(pointers_, *planned.storage, write.value),
                                write.buffer->tensor().nbytes()});
    }
    std::map<const Constant*, const Value*> values;
    for (const Value* constant : planned.graph->constants()) {
      values[constant->constant().get()] = constant;
    }
    for (const Constant* constant : planned.used_constants()) {
      if (!constant->is_mutable() || !states_.insert(constant->fqn).second) continue;
      package_.states.push_back(
          {constant->fqn, symbols_.at(constant), places.bytes(values.at(constant)), constant});
    }
  }

  const PlannedProgram& planned_;
  const CPools& pools_;
  Package package_;
  KernelLibrary library_;
  Names parameter_names_{"parameter", Names::Use::kSymbol};
  Names method_names_{"method", Names::Use::kMacro};
  std::map<std::string, const Constant*> by_name_;
  std::set<std::string> states_;
  Symbols symbols_;
  Pointers pointers_;
  DelegateIndex delegates_;
  std::vector<std::vector<MethodSize>> sizes_;  // by method
  std::vector<std::string> problems_;
};

}  // namespace

bool Package::has_loaded() const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const CParameter& parameter) { return parameter.is_loaded(); });
}

bool Package::has_external() const {
  return std::any_of(parameters.begin(), parameters.end(), [](const CParameter& parameter) {
    return parameter.is_external && !parameter.is_loaded();
  });
}

bool Package::has_cached() const {
  return std::any_of(memories.begin(), memories.end(), [](const CMemory& memory) {
    return memory.pool.has_value() && memory.pool->cached;
  });
}

bool Package::has_pools() const {
  return std::any_of(memories.begin(), memories.end(),
                     [](const CMemory& memory) { return memory.pool.has_value(); });
}

absl::StatusOr<Package> make_package(const PlannedProgram& planned, const CPools& pools,
                                     const std::string& name) {
  return Builder(planned, pools, name).build();
}

}  // namespace petrel::exir::emit_c
