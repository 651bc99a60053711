// SPDX-License-Identifier: Apache-2.0
#include "exir/emit_c/delegates.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/emit_c/extent.h"
#include "exir/emit_c/node_step.h"
#include "exir/emit_c/returns.h"
#include "exir/status_macros.h"

namespace petrel::exir::emit_c {
namespace {

// Vector units and DMA of what reads payloads.
constexpr int64_t kPayloadAlignment = 16;
constexpr size_t kKeyDigits = 8;  // of a key, where a name needs more

class Adder {
 public:
  Adder(Names* names, Package* package) : names_(names), package_(*package) {}

  absl::StatusOr<DelegateIndex> add(const PlannedProgram& planned) {
    for (const PlannedMethod& method : planned.methods) {
      size_t number = 0;
      for (const Node* node : method.storage->steps()) {
        if (node->delegate() == nullptr) continue;
        PETREL_RETURN_IF_ERROR(annotate(add_call(method.name, number++, *node), node->describe()));
      }
    }
    if (package_.delegates.empty()) return std::move(index_);
    for (const CNamedBlob& blob : package_.pools->blobs) PETREL_RETURN_IF_ERROR(add_blob(blob));
    std::sort(package_.blobs.begin(), package_.blobs.end(),
              [](const CBlob& a, const CBlob& b) { return a.key < b.key; });
    return std::move(index_);
  }

 private:
  absl::Status add_call(const std::string& method, size_t number, const Node& node) {
    const LoweredPartition& partition = *node.delegate();
    CDelegateCall call;
    call.name = absl::StrCat(method, ", partition ", number);
    call.partition = &partition;
    call.target = partition.backend->target();
    PETREL_ASSIGN_OR_RETURN(call.device, device_of(partition.backend_id));
    const std::string prefix = absl::StrCat(package_.name, "_delegate_", package_.delegates.size());
    PETREL_ASSIGN_OR_RETURN(call.code, partition.backend->to_c(partition, prefix));
    PETREL_RETURN_IF_ERROR(check_code(partition.backend_id, call.code));
    call.functions = call.code.source.empty() ? call.code.driver : prefix;
    for (const Value* input : node.operands()) {
      call.input_bytes.push_back(input->tensor().nbytes());
    }
    for (size_t i = 0; i < node.num_results(); ++i) {
      call.output_bytes.push_back(node.result(i)->tensor().nbytes());
    }
    PETREL_ASSIGN_OR_RETURN(call.payload,
                            add_bytes(absl::StrCat(method, ".", call.device, "_", number),
                                      partition.payload, kPayloadAlignment, {call.target}));
    index_[&node] = package_.delegates.size();
    package_.delegates.push_back(std::move(call));
    return absl::OkStatus();
  }

  // The member of the struct of devices.
  absl::StatusOr<std::string> device_of(const std::string& backend_id) {
    const std::string device = sanitized(driver_name(backend_id));
    const auto [there, fresh] = backend_of_.emplace(device, backend_id);
    if (there->second != backend_id || is_taken(device)) {
      return absl::InvalidArgumentError(absl::StrCat("backend '", backend_id, "' would be called ",
                                                     device, " in C, which is taken"));
    }
    return device;
  }

  static absl::Status check_code(const std::string& backend_id, const CDelegate& code) {
    const bool has_names =
        !code.source.empty() || (sanitized(code.driver) == code.driver && !is_taken(code.driver));
    if (has_names && code.room_bytes >= 0 &&
        code.room_bytes <= std::numeric_limits<int32_t>::max()) {
      return absl::OkStatus();
    }
    return absl::InternalError(absl::StrCat("backend '", backend_id, "' asks for driver '",
                                            code.driver, "' with a room of ", code.room_bytes,
                                            " bytes, which C cannot have"));
  }

  // Bytes as a parameter, and its index.
  absl::StatusOr<size_t> add_bytes(const std::string& name, const Blob& data, int64_t alignment,
                                   std::set<std::string> targets) {
    PETREL_ASSIGN_OR_RETURN(const std::string c_name, names_->add(name));
    auto constant = std::make_shared<Constant>();
    constant->fqn = name;
    constant->kind = Constant::Kind::kLiteral;
    constant->type = TensorType::contiguous(ScalarType::kByte, {static_cast<int64_t>(data.size())});
    constant->data = data;
    CParameter parameter;
    parameter.name = name;
    parameter.symbol = absl::StrCat(package_.name, "_param_", c_name);
    parameter.variable = absl::StrCat("param_", c_name);
    parameter.constant = constant.get();
    parameter.targets = std::move(targets);
    parameter.is_of_delegates = true;
    parameter.alignment = alignment;
    package_.owned.push_back(std::move(constant));
    package_.parameters.push_back(std::move(parameter));
    return package_.parameters.size() - 1;
  }

  absl::Status add_blob(const CNamedBlob& blob) {
    std::set<std::string> targets, devices;
    for (const CDelegateCall& call : package_.delegates) {
      const bool is_its = blob.backends.count(call.partition->backend_id) > 0;
      if (!is_its) continue;
      targets.insert(call.target);
      devices.insert(call.device);
    }
    if (targets.empty()) return absl::OkStatus();  // of partitions that are gone
    std::string name = blob.sources.size() == 1
                           ? absl::StrCat(blob.sources[0], "@", absl::StrJoin(devices, "_"))
                           : absl::StrCat("blob_", blob.key.substr(0, kKeyDigits));
    if (!known_.insert(sanitized(name)).second) {
      absl::StrAppend(&name, "_", known_.size());
    }
    PETREL_ASSIGN_OR_RETURN(
        const size_t parameter,
        add_bytes(name, blob.data, std::max(blob.alignment, kPayloadAlignment), targets));
    package_.parameters[parameter].sources = blob.sources;
    package_.blobs.push_back({blob.key, parameter});
    return absl::OkStatus();
  }

  Names* names_;
  Package& package_;
  DelegateIndex index_;
  std::map<std::string, std::string> backend_of_;  // by device
  std::set<std::string> known_;                    // names of blobs
};

// "  inputs[0] = (const float *)...;"
std::string pointers_text(const char* list, const std::vector<std::string>& places) {
  std::string text;
  for (size_t i = 0; i < places.size(); ++i) {
    absl::StrAppend(&text, "  ", list, "[", i, "] = ", places[i], ";\n");
  }
  return places.empty() ? absl::StrCat("  ", list, "[0] = NULL;\n") : text;
}

// Whether the processor sees what lies there through a cache; memory of the caller as soon as one
// pool is such.
bool is_cached(const Package& package, const std::string& place) {
  const std::string variable = place.substr(0, place.find(' '));
  for (const CMemory& memory : package.memories) {
    if (memory.variable == variable) return memory.pool.has_value() && memory.pool->cached;
  }
  return package.has_cached();
}

absl::Status check_state(const Node& node, const PlannedMethod& planned, const Package& package) {
  const std::string target = target_of(node);
  const auto& state = package.pools->state;
  if (!state.has_value() || state->reaches(target)) return absl::OkStatus();
  for (const Value* operand : node.operands()) {
    const Value* root = planned.storage->root(operand);
    if (!root->is_constant() || !root->constant()->is_mutable()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("state '", root->constant()->fqn, "' is read by ", target,
                     ", which does not reach pool '", state->name, "'"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DelegateIndex> add_delegates(const PlannedProgram& planned, Names* parameter_names,
                                            Package* package) {
  return Adder(parameter_names, package).add(planned);
}

ProcessorUse::ProcessorUse(const PlannedMethod& method) {
  const Storage& storage = *method.storage;
  for (const Value* input : method.graph->inputs()) written.insert(storage.root(input));
  for (const Value* output : method.graph->outputs()) read.insert(storage.root(output));
  for (const BufferWrite& write : method.graph->buffer_writes()) {
    read.insert(storage.root(write.value));
    written.insert(storage.root(write.buffer));
  }
  for (const Value* constant : method.graph->constants()) {
    if (constant->constant()->is_mutable()) written.insert(storage.root(constant));
  }
  for (const Node* node : storage.steps()) {
    if (target_of(*node) != kProcessor) continue;
    for (const Value* operand : storage.operands_of(*node)) read.insert(storage.root(operand));
    for (size_t i = 0; i < node->num_results(); ++i) written.insert(storage.root(node->result(i)));
  }
}

absl::StatusOr<CStep> make_delegate_step(const Node& node, size_t delegate, const Places& places,
                                         const ProcessorUse& use, const PlannedMethod& planned,
                                         const std::string& number, const Package& package) {
  PETREL_RETURN_IF_ERROR(check_state(node, planned, package));
  const CDelegateCall& call = package.delegates[delegate];
  const bool is_device = call.target != kProcessor;
  std::vector<std::string> inputs, outputs;
  std::string before, after;
  const auto hook = [&](const char* what, const std::string& place, int64_t bytes) {
    return absl::StrCat("  ", package.name, "_on_", what, "(", place, ", ", bytes, "u);\n");
  };
  for (size_t i = 0; i < node.operands().size(); ++i) {
    const Value* operand = node.operands()[i];
    inputs.push_back(places.read(operand));
    const bool is_written = use.written.count(planned.storage->root(operand)) > 0;
    if (!is_device || !is_written || places.has_symbol(operand)) continue;
    if (is_cached(package, places.bytes(operand))) {
      before += hook("flush", absl::StrCat("inputs[", i, "]"), call.input_bytes[i]);
    }
  }
  for (size_t i = 0; i < node.num_results(); ++i) {
    const Value* result = node.result(i);
    outputs.push_back(places.write(result));
    if (!is_device || !is_cached(package, places.bytes(result))) continue;
    const std::string place = absl::StrCat("outputs[", i, "]");
    before += hook("flush", place, call.output_bytes[i]);
    if (use.read.count(planned.storage->root(result)) == 0) continue;
    after += hook("prefetch", place, call.output_bytes[i]);
  }
  CStep step;
  step.function = absl::StrCat(number, "_", call.device);
  step.comment = comment_of(node);
  for (const auto& inner : call.partition->graph->nodes()) {
    absl::StrAppend(&step.comment, "\n  ", comment_of(*inner));
  }
  step.can_fail = true;
  step.delegate = delegate;
  const std::string execute = absl::StrCat(call.functions, "_execute(handle, inputs, outputs)");
  step.body = absl::StrCat(
      "  const void *inputs[", std::max<size_t>(1, inputs.size()), "];\n  void *outputs[",
      std::max<size_t>(1, outputs.size()), "];\n", after.empty() ? "" : "  int32_t status;\n",
      pointers_text("inputs", inputs), pointers_text("outputs", outputs), before,
      after.empty() ? absl::StrCat("  return ", execute, ";\n")
                    : absl::StrCat("  status = ", execute, ";\n", return_errors(package), after,
                                   "  return ", package.capitals, "_OK;\n"));
  return step;
}

}  // namespace petrel::exir::emit_c
