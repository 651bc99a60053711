// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/trial.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/driver/compile.h"
#include "exir/emit/emit.h"
#include "exir/ops/handles.h"
#include "exir/partition/partition.h"
#include "exir/quantize/equalise_graph.h"
#include "exir/quantize/expand_for_integers.h"
#include "exir/quantize/layers.h"
#include "exir/quantize/quantize_graph.h"
#include "exir/quantize/shift_graph.h"
#include "exir/quantize/stored_weights.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

TrialLayer describe(const Layer& layer) {
  TrialLayer described;
  described.name = layer.name();
  described.product = layer.nodes.front()->result()->name();
  described.operators = layer.operators();
  described.location = layer.nodes.front()->source().location();
  described.is_quantised = layer.is_quantised;
  described.float_reason = layer.float_reason;
  described.float_bytes = layer.float_bytes;
  described.stored_bytes = layer.stored_bytes;
  return described;
}

// Only where some channels were equalised.
void describe_channels(const ChannelPairs& found, const MethodQuantization& method,
                       TrialMethod* shown) {
  if (method.equalised.empty()) return;
  std::map<std::string, std::string> texts;  // by layer
  for (const auto& [name, why] : found.why_not) texts[name] = absl::StrCat("as they are: ", why);
  for (const ChannelPair& pair : found.pairs) {
    const std::string& name = pair.first->result()->name();
    const auto factors = method.equalised.find(name);
    if (factors == method.equalised.end()) {
      texts[name] = "as they are: too little is gained";
      continue;
    }
    const auto [least, most] = std::minmax_element(factors->second.begin(), factors->second.end());
    texts[name] = absl::StrFormat("divided by %.3g to %.3g", *least, *most);
  }
  for (TrialLayer& layer : shown->layers) {
    const auto text = texts.find(layer.product);
    if (text != texts.end() && layer.is_quantised) layer.channels = text->second;
  }
}

bool is_shown(const Value& output) {
  return output.producer() != nullptr && output.type().is_tensor() &&
         output.tensor().dtype == ScalarType::kFloat;
}

// Places among all outputs; those that are fixed are not in the graph.
std::vector<size_t> shown_outputs(const Method& method) {
  std::vector<size_t> places;
  size_t place = 0;
  for (const Value* output : method.graph->outputs()) {
    while (method.signature.fixed_outputs.count(place) != 0) ++place;
    if (is_shown(*output)) places.push_back(place);
    ++place;
  }
  return places;
}

// What stands for `value`, which a node of integers made.
Value* dequantised(Value* value) {
  if (value->users().size() != 1) return value;
  Node* const quantize = value->users()[0];
  if (!quantize->is(quantized_decomposed::quantize_per_tensor)) return value;
  const std::vector<Node*>& readers = quantize->result()->users();
  return readers.size() == 1 ? readers[0]->result() : value;
}

// Makes layers and outputs the outputs of the graph, which is quantised or not.
absl::Status show(Graph& graph, bool is_quantised, const TrialMethod& method) {
  std::map<std::string, Value*> by_name;
  for (Node* node : graph.node_pointers()) {
    if (node->num_results() > 0) by_name[node->result()->name()] = node->result();
  }
  std::vector<Value*> outputs;
  for (const TrialLayer& layer : method.layers) {
    const auto found = by_name.find(layer.name);
    if (found == by_name.end()) {
      return absl::InternalError(absl::StrCat("layer '", layer.name, "' is lost"));
    }
    outputs.push_back(is_quantised && layer.is_quantised ? dequantised(found->second)
                                                         : found->second);
  }
  for (Value* output : graph.outputs()) {
    if (is_shown(*output)) outputs.push_back(output);
  }
  graph.set_outputs(std::move(outputs));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Trial> compile_trial(const ExportOptions& options,
                                    const QuantizationRecord& record) {
  ExportReport report;
  Phases phases(options, &report);
  PETREL_ASSIGN_OR_RETURN(Program floats, optimize_program(options, phases, true));
  const QuantTarget target = target_of(options);
  if (target == QuantTarget::kIntegers) PETREL_RETURN_IF_ERROR(expand_for_integers(floats));
  Trial trial;
  Program quantised;
  for (const auto& [name, method] : floats.methods) {
    TrialMethod& shown = trial.methods[name];
    const auto choice = record.methods.find(name);
    if (choice != record.methods.end()) {
      for (const Layer& layer : layers_of(*method.graph, choice->second, target)) {
        shown.layers.push_back(describe(layer));
      }
    }
    shown.outputs = shown_outputs(method);
    quantised.methods[name].graph = method.graph->clone();
    quantised.methods[name].signature.input_names = method.signature.input_names;
  }
  PETREL_RETURN_IF_ERROR(quantize_program(quantised, record, target).status());
  const SharedConstants shared = shared_constants(floats);
  for (auto& [name, method] : floats.methods) {
    TrialMethod& shown = trial.methods.at(name);
    const auto choice = record.methods.find(name);
    if (choice != record.methods.end()) {
      describe_channels(channel_pairs(*method.graph, shared), choice->second, &shown);
      // Layers are those of the quantised program, in its channels.
      PETREL_RETURN_IF_ERROR(equalise_graph(*method.graph, choice->second.equalised, shared));
    }
    PETREL_RETURN_IF_ERROR(show(*quantised.methods.at(name).graph, true, shown));
    PETREL_RETURN_IF_ERROR(show(*method.graph, false, shown));
    method.signature = quantised.methods.at(name).signature;
  }
  PETREL_RETURN_IF_ERROR(legalize_program(floats, options));
  PETREL_RETURN_IF_ERROR(legalize_program(quantised, options));
  PETREL_ASSIGN_OR_RETURN(trial.floats, emit_to_memory(floats));
  PETREL_ASSIGN_OR_RETURN(trial.quantised, emit_to_memory(quantised));
  return trial;
}

absl::StatusOr<ShiftProgram> compile_shifts(const ExportOptions& options, const Program& floats,
                                            const QuantizationRecord& record) {
  const SharedConstants shared = shared_constants(floats);
  StoredWeights weights(record.roundings);
  ShiftProgram made;
  Program program;
  for (const auto& [name, method] : floats.methods) {
    program.methods[name].graph = method.graph->clone();
    program.methods[name].signature.input_names = method.signature.input_names;
    Graph& graph = *program.methods[name].graph;
    const MethodQuantization& choice = record.methods.at(name);
    PETREL_RETURN_IF_ERROR(equalise_graph(graph, choice.equalised, shared));
    PETREL_ASSIGN_OR_RETURN(made.products[name], show_shifts(graph, choice, &weights));
  }
  PETREL_RETURN_IF_ERROR(legalize_program(program, options));
  PETREL_ASSIGN_OR_RETURN(made.bytes, emit_to_memory(program));
  return made;
}

absl::StatusOr<std::string> compile_quantised(const ExportOptions& options, const Program& floats,
                                              const QuantizationRecord& record) {
  Program program;
  for (const auto& [name, method] : floats.methods) {
    program.methods[name] = {method.graph->clone(), method.signature};
  }
  const QuantTarget target = target_of(options);
  if (target == QuantTarget::kIntegers) PETREL_RETURN_IF_ERROR(expand_for_integers(program));
  PETREL_RETURN_IF_ERROR(quantize_program(program, record, target).status());
  RoutedBlobStore store;
  if (!options.backends.empty()) {
    PETREL_RETURN_IF_ERROR(lower_to_backends(program, options.backends, store).status());
  }
  PETREL_RETURN_IF_ERROR(legalize_program(program, options));
  return emit_to_memory(program, std::move(store));
}

}  // namespace petrel::exir
