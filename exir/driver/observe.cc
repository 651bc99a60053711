// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/observe.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/backend/weight_routes.h"
#include "exir/driver/compile.h"
#include "exir/emit/emit.h"
#include "exir/partition/partition.h"
#include "exir/quantize/annotate_graph.h"
#include "exir/quantize/channel_stats.h"
#include "exir/quantize/dynamic_graph.h"
#include "exir/quantize/expand_for_integers.h"
#include "exir/quantize/quantize_graph.h"
#include "exir/quantize/stored_weights.h"
#include "exir/quantize/visible_scores.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

// By method; a glob that matches nothing is a mistake.
absl::StatusOr<std::map<std::string, MethodQuantization>> choices_of(const Program& program,
                                                                     const ObserveOptions& wanted) {
  std::map<std::string, MethodQuantization> choices;
  std::set<std::string> matched;
  for (const auto& [name, method] : program.methods) {
    MethodQuantization& choice = choices[name];
    choice.scheme = wanted.scheme;
    choice.group = wanted.group;
    for (const Node* node : quantizable_nodes(*method.graph, choice)) {
      for (const std::string& glob : wanted.keep_float) {
        if (!matches_glob(glob, node->result()->name())) continue;
        choice.keep_float[node->result()->name()] = "";
        matched.insert(glob);
      }
    }
  }
  for (const std::string& glob : wanted.keep_float) {
    if (matched.count(glob) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("no node that computes with integers is called '", glob, "'"));
  }
  return choices;
}

// Of the program as `target` has it: integers alone compute volumes by images.
bool is_something_left(const ObservedProgram& observed, QuantTarget target) {
  const Program& program = target == QuantTarget::kIntegers ? observed.expanded : observed.floats;
  return std::any_of(program.methods.begin(), program.methods.end(), [&](const auto& method) {
    return !quantizable_nodes(*method.second.graph, observed.choices.at(method.first)).empty();
  });
}

absl::Status check_something_is_left(const ObservedProgram& observed, QuantTarget target) {
  if (is_something_left(observed, target)) return absl::OkStatus();
  std::string why;
  for (const auto& [name, method] : observed.floats.methods) {
    const MethodQuantization& choice = observed.choices.at(name);
    for (const auto& node : method.graph->nodes()) {
      if (node->regions().empty()) continue;
      absl::StrAppend(&why, "\n  ", node->describe(), ": what its branches compute stays float");
    }
    for (const auto& node : method.graph->nodes()) {
      if (choice.scheme != QuantScheme::kStaticInt8) break;
      const std::string misfit = misfit_of(*node);
      if (misfit.empty()) continue;
      absl::StrAppend(&why, "\n  ", node->result()->name(), " (", node->op().full_name(),
                      "): ", misfit);
    }
    if (choice.scheme == QuantScheme::kStaticInt8 || choice.scheme == QuantScheme::kHalf) continue;
    for (const LeftFloat& left : annotate_dynamic(*method.graph, choice).left) {
      absl::StrAppend(&why, "\n  ", left.node, " (", left.op, "): ", left.reason);
    }
  }
  if (!why.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is nothing to quantise: no product with a constant weight fits", why));
  }
  return absl::InvalidArgumentError(
      "there is nothing to quantise: no product of f32 with a constant weight");
}

// Each once, in the order of the layers that multiply them.
std::vector<Value*> values_of_rows(const Graph& graph, const MethodQuantization& choice) {
  std::map<const Value*, bool> is_known;
  std::vector<Value*> values;
  for (const RowProduct& product : row_products(graph, choice)) {
    if (is_known.emplace(product.rows, true).second) values.push_back(product.rows);
  }
  return values;
}

// Makes the values that need a scale, or that are multiplied, the outputs. State is written
// as before: what comes later depends on it.
absl::StatusOr<ObservedMethod> observe(Graph& graph, const MethodQuantization& choice,
                                       bool see_rows, bool is_delegated) {
  ObservedMethod method;
  for (const Value* input : graph.inputs()) method.inputs.push_back(input->name());
  std::vector<Value*> seen;
  if (choice.scheme == QuantScheme::kStaticInt8) {
    ObservedValues observed = observed_values(graph, choice.keep_float);
    seen = std::move(observed.values);
    method.optional = std::move(observed.optional);
  }
  if (see_rows) seen = values_of_rows(graph, choice);
  if (seen.empty()) return method;
  std::vector<Value*> outputs;
  const bool turns_images = is_delegated && !see_rows && has_images(graph);
  // Asked of a graph that has no more nodes than the model.
  std::set<const Value*> scores;
  for (const Value* value : seen) {
    if (!see_rows && is_score(*value)) scores.insert(value);
  }
  VisibleScores visible(graph);
  for (Value* value : seen) {
    const std::string name = value->name();
    if (scores.count(value) != 0) {
      PETREL_ASSIGN_OR_RETURN(value, visible.part_of(value));
    }
    if (value->is_input()) {
      method.seen_there.insert(name);
      continue;
    }
    method.outputs.push_back(name);
    if (turns_images && value->tensor().rank() == 4 && !value->tensor().is_dynamic()) {
      method.channels_last.insert(name);
      value = with_channels_last(graph, value);
    }
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
                                                 const ObserveOptions& wanted) {
  if (options.methods.empty()) return absl::InvalidArgumentError("there is no method to observe");
  ExportReport report;
  Phases phases(options, &report);
  ObservedProgram observed;
  observed.range_choice = wanted.ranges;
  PETREL_ASSIGN_OR_RETURN(observed.floats, optimize_program(options, phases, true));
  PETREL_ASSIGN_OR_RETURN(observed.choices, choices_of(observed.floats, wanted));
  Program floats;
  Program program;
  for (const auto& [name, method] : observed.floats.methods) {
    floats.methods[name] = {method.graph->clone(), method.signature};
    observed.expanded.methods[name] = {method.graph->clone(), method.signature};
  }
  if (wanted.scheme == QuantScheme::kStaticInt8) {
    PETREL_RETURN_IF_ERROR(expand_for_integers(observed.expanded));
  }
  PETREL_RETURN_IF_ERROR(check_something_is_left(observed, target_of(options)));
  for (const auto& [name, method] : observed.expanded.methods) {
    Method& copy = program.methods[name];
    copy.graph = method.graph->clone();
    PETREL_ASSIGN_OR_RETURN(observed.methods[name],
                            observe(*copy.graph, observed.choices[name], wanted.see_rows,
                                    !wanted.runs_on.of(name).empty()));
  }
  std::array<RoutedBlobStore, 2> stores;
  if (!wanted.runs_on.empty()) {
    PETREL_RETURN_IF_ERROR(phases.run("lower", [&]() -> absl::Status {
      PETREL_RETURN_IF_ERROR(lower_to_backends(program, wanted.runs_on, stores[0]).status());
      return lower_to_backends(floats, wanted.runs_on, stores[1]).status();
    }));
  }
  PETREL_RETURN_IF_ERROR(phases.run("legalize", [&]() -> absl::Status {
    PETREL_RETURN_IF_ERROR(legalize_program(floats, options));
    return legalize_program(program, options);
  }));
  PETREL_RETURN_IF_ERROR(phases.run("emit", [&]() -> absl::Status {
    PETREL_ASSIGN_OR_RETURN(observed.bytes, emit_to_memory(program, std::move(stores[0])));
    PETREL_ASSIGN_OR_RETURN(observed.float_bytes, emit_to_memory(floats, std::move(stores[1])));
    return absl::OkStatus();
  }));
  return observed;
}

absl::StatusOr<SeenRanges> ObservedProgram::shared(const SeenRanges& ranges) const {
  SeenRanges all;
  for (const auto& [name, method] : expanded.methods) {
    auto shared = shared_ranges(*method.graph, entry(ranges, name), choices.at(name).keep_float);
    if (!shared.ok()) return annotate(shared.status(), absl::StrCat("method '", name, "'"));
    all[name] = *std::move(shared);
  }
  return all;
}

absl::StatusOr<QuantizationRecord> ObservedProgram::choose(const SeenRanges& ranges,
                                                           const SeenHistograms& histograms) const {
  QuantizationRecord record;
  for (const auto& [name, method] : floats.methods) {
    const MethodQuantization& choice = choices.at(name);
    if (choice.scheme != QuantScheme::kStaticInt8) {
      record.methods[name] = choice;
      for (const RowProduct& product : row_products(*method.graph, choice)) {
        const auto rounding =
            roundings.find(name_in_groups(*product.weight, product.is_transposed, choice.group));
        if (rounding != roundings.end()) record.roundings.insert(*rounding);
      }
      continue;
    }
    auto chosen = choose_numbers(*expanded.methods.at(name).graph, entry(ranges, name),
                                 entry(histograms, name), range_choice, choice.keep_float);
    if (!chosen.ok()) return annotate(chosen.status(), absl::StrCat("method '", name, "'"));
    chosen->equalised = choice.equalised;
    chosen->on_backends = choice.on_backends;
    record.methods[name] = *std::move(chosen);
  }
  return record;
}

}  // namespace petrel::exir
