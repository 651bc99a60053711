// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/observe.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/backend/weight_routes.h"
#include "exir/driver/compile.h"
#include "exir/emit/emit.h"
#include "exir/quantize/quantize_graph.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// Names of nodes by method; a glob that matches nothing is a mistake.
absl::StatusOr<std::map<std::string, std::set<std::string>>> kept_nodes(
    const Program& program, const std::vector<std::string>& globs) {
  std::map<std::string, std::set<std::string>> kept;
  std::set<std::string> matched;
  for (const auto& [name, method] : program.methods) {
    for (const Node* node : annotate_graph(*method.graph, {}).nodes) {
      for (const std::string& glob : globs) {
        if (!matches_glob(glob, node->result()->name())) continue;
        kept[name].insert(node->result()->name());
        matched.insert(glob);
      }
    }
  }
  for (const std::string& glob : globs) {
    if (matched.count(glob) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("no node that computes with integers is called '", glob, "'"));
  }
  return kept;
}

// Makes the values that need a scale the outputs. State is written as before: what comes
// later depends on it.
ObservedMethod observe(Graph& graph, const std::set<std::string>& keep_float) {
  ObservedMethod method;
  for (const Value* input : graph.inputs()) method.inputs.push_back(input->name());
  std::vector<Value*> outputs;
  for (Value* value : observed_values(graph, keep_float)) {
    if (value->is_input()) {
      method.seen_there.insert(value->name());
      continue;
    }
    method.outputs.push_back(value->name());
    outputs.push_back(value);
  }
  graph.set_outputs(std::move(outputs));
  return method;
}

// Empty where there is none of that name.
template <typename T>
T entry(const std::map<std::string, T>& by_method, const std::string& name) {
  const auto found = by_method.find(name);
  return found == by_method.end() ? T() : found->second;
}

}  // namespace

absl::StatusOr<ObservedProgram> compile_observed(const ExportOptions& options,
                                                 const std::vector<std::string>& keep_float) {
  if (options.methods.empty()) return absl::InvalidArgumentError("there is no method to observe");
  ExportReport report;
  Phases phases(options, &report);
  ObservedProgram observed;
  PETREL_ASSIGN_OR_RETURN(observed.floats, optimize_program(options, phases));
  PETREL_ASSIGN_OR_RETURN(observed.keep_float, kept_nodes(observed.floats, keep_float));
  Program floats;
  Program program;
  bool has_something = false;
  for (const auto& [name, method] : observed.floats.methods) {
    Method& copy = program.methods[name];
    copy.graph = method.graph->clone();
    floats.methods[name] = {method.graph->clone(), method.signature};
    observed.methods[name] = observe(*copy.graph, observed.keep_float[name]);
    has_something = has_something || observed.methods[name].needs_samples();
  }
  if (!has_something) {
    return absl::InvalidArgumentError(
        "there is nothing to quantise: no product of f32 with a constant weight");
  }
  PETREL_RETURN_IF_ERROR(phases.run("legalize", [&]() -> absl::Status {
    PETREL_RETURN_IF_ERROR(legalize_program(floats, options));
    return legalize_program(program, options);
  }));
  PETREL_RETURN_IF_ERROR(phases.run("emit", [&]() -> absl::Status {
    PETREL_ASSIGN_OR_RETURN(observed.bytes, emit_to_memory(program));
    PETREL_ASSIGN_OR_RETURN(observed.float_bytes, emit_to_memory(floats));
    return absl::OkStatus();
  }));
  return observed;
}

absl::StatusOr<SeenRanges> ObservedProgram::shared(const SeenRanges& ranges) const {
  SeenRanges all;
  for (const auto& [name, method] : floats.methods) {
    auto shared = shared_ranges(*method.graph, entry(ranges, name), entry(keep_float, name));
    if (!shared.ok()) return annotate(shared.status(), absl::StrCat("method '", name, "'"));
    all[name] = *std::move(shared);
  }
  return all;
}

absl::StatusOr<QuantizationRecord> ObservedProgram::choose(const SeenRanges& ranges,
                                                           const SeenHistograms& histograms) const {
  QuantizationRecord record;
  for (const auto& [name, method] : floats.methods) {
    auto chosen = choose_numbers(*method.graph, entry(ranges, name), entry(histograms, name),
                                 entry(keep_float, name));
    if (!chosen.ok()) return annotate(chosen.status(), absl::StrCat("method '", name, "'"));
    record.methods[name] = *std::move(chosen);
  }
  return record;
}

}  // namespace petrel::exir
