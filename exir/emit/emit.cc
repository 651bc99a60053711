// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/emit.h"

#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/backend/backend.h"
#include "exir/backend/shards.h"
#include "exir/emit/additions.h"
#include "exir/emit/flat_data_writer.h"
#include "exir/emit/method_writer.h"
#include "exir/emit/program_file.h"
#include "exir/emit/segments.h"
#include "exir/emit/weight_names.h"
#include "exir/memory/memory.h"
#include "exir/memory/owned_outputs.h"
#include "exir/memory/parts.h"
#include "exir/memory/storage.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

namespace fb = schema::program;

constexpr uint64_t kMinAlignment = 16;
// The longest name that loaders take.
constexpr size_t kMaxMethodNameBytes = 1023;

// A method on its way into the file.
struct PreparedMethod {
  std::string name;
  const Signature* signature;
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Storage> storage;
  MemoryPlan plan;
  MethodAdditions additions;
};

absl::Status check_alignment(const char* name, uint64_t alignment) {
  if (alignment >= kMinAlignment && alignment <= NamedBlobStore::kMaxAlignment &&
      (alignment & (alignment - 1)) == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(name, " is ", alignment,
                                                 ", must be a power of two in [", kMinAlignment,
                                                 ", ", NamedBlobStore::kMaxAlignment, "]"));
}

absl::Status check_method_name(const std::string& name) {
  if (!name.empty() && name.size() <= kMaxMethodNameBytes && name.find('\0') == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("method name '", name.substr(0, 80), "' has ",
                                                 name.size(), " bytes or a NUL, must have 1 to ",
                                                 kMaxMethodNameBytes, " bytes and none"));
}

// The constants that instructions, outputs or write-backs refer to, in order.
std::vector<const Constant*> used_constants(const PreparedMethod& method) {
  std::vector<const Constant*> constants;
  std::set<const Constant*> seen;
  const auto note = [&](const Value* value) {
    const Value* root = method.storage->root(value);
    if (root->is_constant() && seen.insert(root->constant().get()).second) {
      constants.push_back(root->constant().get());
    }
  };
  for (const Node* node : method.storage->steps()) {
    for (const Value* operand : node->operands()) note(operand);
  }
  for (const BufferWrite& write : method.graph->buffer_writes()) {
    note(write.buffer);
    note(write.value);
  }
  return constants;
}

absl::Status check_constant(const std::string& method, const Constant& constant) {
  if (constant.data.size() == static_cast<uint64_t>(constant.type.nbytes())) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("method '", method, "': constant '", constant.fqn,
                                          "' of type ", to_string(constant.type), " has ",
                                          constant.data.size(), " bytes"));
}

absl::Status in_method(const std::string& method, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("method '", method, "': ", status.message()));
}

// Registers the data of all methods with the segments and the store.
class DataCollector {
 public:
  DataCollector(NamedBlobStore& store, const EmitOptions& options, const ExternalFn& is_external,
                ProgramSegments& segments)
      : store_(store), options_(options), is_external_(is_external), segments_(segments) {}

  absl::Status collect(const PreparedMethod& method) {
    for (const Constant* constant : used_constants(method)) {
      PETREL_RETURN_IF_ERROR(check_constant(method.name, *constant));
      if (constant->is_mutable()) {
        if (has_initial_state(*constant)) {
          segments_.add_initial_state(constant->data);
        }
      } else if (is_external_(*constant)) {
        PETREL_RETURN_IF_ERROR(send_outside(method.name, *constant));
      } else {
        requested_bytes_ += constant->data.size();
        segments_.add_constant(constant->data);
        if (constant->kind == Constant::Kind::kLiteral) continue;
        PETREL_RETURN_IF_ERROR(in_method(method.name, store_.note_inline_weight(*constant)));
      }
    }
    for (const Node* node : method.storage->steps()) {
      if (node->delegate() == nullptr) continue;
      const Blob& payload = node->delegate()->payload;
      if (payload.size() == 0) {
        has_empty_payload_ = true;
      } else {
        segments_.add_payload(payload);
      }
    }
    return absl::OkStatus();
  }

  uint64_t requested_bytes() const { return requested_bytes_; }
  bool has_empty_payload() const { return has_empty_payload_; }

 private:
  absl::Status send_outside(const std::string& method, const Constant& constant) {
    return in_method(method, store_.add_kernel_weight(constant, options_.constant_alignment));
  }

  NamedBlobStore& store_;
  const EmitOptions& options_;
  const ExternalFn& is_external_;
  ProgramSegments& segments_;
  uint64_t requested_bytes_ = 0;
  bool has_empty_payload_ = false;
};

flatbuffers::Offset<fb::SubsegmentOffsets> write_subsegments(
    flatbuffers::FlatBufferBuilder& builder, uint32_t segment,
    const std::vector<uint64_t>& offsets) {
  return fb::CreateSubsegmentOffsets(builder, segment, builder.CreateVector(offsets));
}

// Finishes the flatbuffer around the methods in `plans`.
void write_program_table(flatbuffers::FlatBufferBuilder& builder,
                         const std::vector<flatbuffers::Offset<fb::ExecutionPlan>>& plans,
                         const ProgramSegments& segments, const NamedBlobStore::Destination& named,
                         bool has_empty_payload) {
  std::vector<flatbuffers::Offset<fb::DataSegment>> stored_segments;
  for (const Segment& segment : segments.segments()) {
    stored_segments.push_back(fb::CreateDataSegment(builder, segment.offset, segment.size));
  }
  const auto constants = write_subsegments(builder, 0, segments.constant_offsets());
  std::vector<flatbuffers::Offset<fb::SubsegmentOffsets>> states;
  if (segments.has_state()) {
    states.push_back(
        write_subsegments(builder, ProgramSegments::kStateSegment, segments.state_offsets()));
  }
  std::vector<flatbuffers::Offset<fb::NamedData>> rows;
  for (const NamedBlobStore::Entry* entry : named.sorted_entries()) {
    const auto key = builder.CreateString(entry->key);
    rows.push_back(fb::CreateNamedData(builder, key, segments.named_segment(entry->buffer)));
  }
  std::vector<flatbuffers::Offset<fb::BackendDelegateInlineData>> payloads;
  if (has_empty_payload) {
    payloads.push_back(
        fb::CreateBackendDelegateInlineData(builder, builder.CreateVector(std::vector<uint8_t>())));
  }
  const auto stored_plans = builder.CreateVector(plans);
  const auto constant_buffer = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Buffer>>());
  const auto stored_payloads = builder.CreateVector(payloads);
  const auto segment_vector = builder.CreateVector(stored_segments);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::SubsegmentOffsets>>>
      stored_states;
  if (!states.empty()) stored_states = builder.CreateVector(states);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::NamedData>>> stored_rows;
  if (!rows.empty()) stored_rows = builder.CreateVector(rows);
  builder.Finish(
      fb::CreateProgram(builder, /*version=*/0, stored_plans, constant_buffer, stored_payloads,
                        segment_vector, constants, stored_states, stored_rows),
      fb::ProgramIdentifier());
}

// What the program has to remember of weights: all of them where names count,
// so that others can be made, and those outside where it is bound to them.
std::vector<WeightAddition> remembered_weights(const NamedBlobStore& store,
                                               const EmitOptions& options) {
  std::vector<WeightAddition> weights;
  const bool by_name = store.routes().keys == WeightKeys::kName;
  for (const auto& [key, weight] : store.weights()) {
    const bool bound = options.bind_data && !weight.destination.empty();
    if (!by_name && !bound) continue;
    WeightAddition addition;
    addition.key = key;
    addition.layout = weight.layout;
    addition.bytes = weight.bytes;
    if (bound) addition.digest = weight.blob.sha256();
    weights.push_back(std::move(addition));
  }
  return weights;
}

// The files beside the program, cut if need be.
absl::StatusOr<std::map<std::string, NamedBlobStore::Destination>> external_files(
    const NamedBlobStore& store, const EmitOptions& options) {
  auto whole = store.destinations();
  whole.erase("");
  if (!options.external_weights.empty()) whole[options.external_weights];
  if (options.shard_bytes == 0) return whole;
  std::map<std::string, NamedBlobStore::Destination> files;
  for (const auto& [name, data] : whole) {
    PETREL_ASSIGN_OR_RETURN(auto shards, cut_into_shards(name, data, options.shard_bytes));
    for (auto& [shard, contents] : shards) {
      if (!files.emplace(shard, std::move(contents)).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("two external files would be called '", shard, "'"));
      }
    }
  }
  return files;
}

// Where kernels find their scratch memory, by instruction.
std::vector<ScratchPlace> scratch_places(const Storage& storage, const MemoryPlan& plan) {
  std::vector<ScratchPlace> places;
  uint32_t instruction = 0;
  auto next = plan.scratch.begin();
  for (size_t step = 0; step < storage.steps().size(); ++step) {
    if (next != plan.scratch.end() && next->step == step) {
      if (next->offset >= 0) {
        places.push_back({instruction, 1, next->offset, next->bytes});
      }
      ++next;
    }
    if (!is_dropped(*storage.steps()[step])) ++instruction;
  }
  return places;
}

// With or without tensors that lie in others.
absl::StatusOr<PreparedMethod> prepare_with(const std::string& name, const Method& method,
                                            const EmitOptions& options, const ExternalFn& is_named,
                                            bool state_apart, bool with_parts) {
  PreparedMethod prepared;
  prepared.name = name;
  prepared.signature = &method.signature;
  prepared.graph = with_owned_outputs(*method.graph, is_named);
  Parts parts;
  if (with_parts) parts = place_parts(*prepared.graph);
  prepared.storage = std::make_unique<Storage>(*prepared.graph, std::move(parts));
  PETREL_RETURN_IF_ERROR(check_executable(name, *prepared.graph, *prepared.storage));
  auto plan = plan_memory(*prepared.graph, *prepared.storage, options.planning, state_apart);
  if (!plan.ok()) {
    return absl::Status(
        plan.status().code(),
        absl::StrCat("method '", name, "': memory planning: ", plan.status().message()));
  }
  prepared.plan = *std::move(plan);
  prepared.additions.scratch = scratch_places(*prepared.storage, prepared.plan);
  prepared.additions.least_sizes = least_sizes(*prepared.graph);
  return prepared;
}

// Tensors that lie in others leave the planner less freedom; where that costs
// memory, bytes are moved after all. That is not even tried where it cannot win,
// which is nearly always.
absl::StatusOr<PreparedMethod> prepare(const std::string& name, const Method& method,
                                       const EmitOptions& options, const ExternalFn& is_external,
                                       bool state_apart) {
  PETREL_ASSIGN_OR_RETURN(PreparedMethod tight, prepare_with(name, method, options, is_external,
                                                             state_apart, /*with_parts=*/true));
  if (tight.storage->parts().list.empty() ||
      tight.plan.arena_bytes <=
          least_arena_bytes(*tight.graph, Storage(*tight.graph, Parts()), state_apart)) {
    return tight;
  }
  PETREL_ASSIGN_OR_RETURN(PreparedMethod loose, prepare_with(name, method, options, is_external,
                                                             state_apart, /*with_parts=*/false));
  return loose.plan.arena_bytes < tight.plan.arena_bytes ? std::move(loose) : std::move(tight);
}

}  // namespace

absl::StatusOr<EmitReport> emit_program(
    const Program& program, NamedBlobStore& store, const EmitOptions& options,
    const std::function<absl::StatusOr<ByteSink>(const std::string&)>& open_sink) {
  PETREL_RETURN_IF_ERROR(check_alignment("segment alignment", options.segment_alignment));
  PETREL_RETURN_IF_ERROR(check_alignment("constant alignment", options.constant_alignment));
  if (!options.external_weights.empty()) {
    PETREL_RETURN_IF_ERROR(NamedBlobStore::check_file_name(options.external_weights));
  }
  const ExternalFn is_external = [&](const Constant& constant) {
    return !store.destination_of(constant).empty();
  };
  // Where names count, each of these has one layout, inside or outside.
  const ExternalFn is_named = [&](const Constant& constant) {
    return is_external(constant) ||
           (store.routes().keys == WeightKeys::kName && !constant.is_mutable() &&
            constant.kind != Constant::Kind::kLiteral);
  };

  EmitReport report;
  Additions additions;
  std::vector<PreparedMethod> methods;
  ProgramSegments segments;
  DataCollector data(store, options, is_external, segments);
  const bool has_several_methods = program.methods.size() > 1;
  std::vector<const Constant*> states;
  for (const auto& [name, method] : program.methods) {
    PETREL_RETURN_IF_ERROR(check_method_name(name));
    PETREL_ASSIGN_OR_RETURN(PreparedMethod prepared, prepare(name, method, options, is_named,
                                                             /*state_apart=*/has_several_methods));
    PETREL_RETURN_IF_ERROR(data.collect(prepared));
    for (const Constant* constant : used_constants(prepared)) {
      if (constant->is_mutable()) states.push_back(constant);
    }
    MethodMemory memory;
    memory.method = name;
    if (prepared.plan.arena_bytes > 0) {
      memory.arena_bytes.push_back(prepared.plan.arena_bytes);
    }
    memory.lower_bound_bytes = prepared.plan.lower_bound_bytes;
    memory.proven_optimal = prepared.plan.proven_optimal;
    for (const StepScratch& scratch : prepared.plan.scratch) {
      memory.scratch_bytes += scratch.bytes;
      ++memory.scratch_operators;
      if (scratch.offset < 0) memory.scratch_bytes_beyond += scratch.bytes;
    }
    memory.elided_copies = prepared.storage->parts().elided.size();
    memory.elided_bytes = prepared.storage->parts().elided_bytes;
    memory.problem = prepared.plan.problem;
    memory.solution = prepared.plan.solution;
    report.memory.push_back(std::move(memory));
    additions.methods.push_back(prepared.additions);
    methods.push_back(std::move(prepared));
  }

  StatePlan state;
  if (has_several_methods) {
    PETREL_ASSIGN_OR_RETURN(state, plan_state(states));
    report.state_bytes = state.arena_bytes;
  }

  PETREL_RETURN_IF_ERROR(store.check_all_rules_matched());
  const auto& destinations = store.destinations();
  PETREL_ASSIGN_OR_RETURN(const auto files, external_files(store, options));
  const auto inside = destinations.find("");
  NamedBlobStore::Destination named;
  if (inside != destinations.end()) named = inside->second;
  additions.weights = remembered_weights(store, options);
  if (store.routes().keys == WeightKeys::kName) {
    additions.structure = options.structure;
    additions.recipe = options.recipe;
  }
  // Payloads have numbers before named data, so that methods can be written
  // before it is known what is said of them.
  ProgramSegments numbered = segments;
  numbered.layout({}, options.segment_alignment, options.constant_alignment);
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::ExecutionPlan>> plans;
  std::vector<std::map<uint32_t, const Constant*>> weights;
  for (const PreparedMethod& method : methods) {
    MethodWriter writer(builder, *method.graph, *method.storage, method.plan, state, is_external,
                        is_named, numbered);
    PETREL_ASSIGN_OR_RETURN(const auto plan, writer.write(method.name, *method.signature));
    plans.push_back(plan);
    weights.push_back(writer.weights());
    auto& kernels = report.kernels[method.name];
    for (const KernelUse& use : writer.kernels()) {
      kernels[use.kernel] = use.calls;
      if (!options.has_kernel || options.has_kernel(use.kernel)) continue;
      report.missing_kernels.push_back(missing_kernel(method.name, use));
    }
  }
  if (!report.missing_kernels.empty() && !options.allow_missing_kernels) {
    return absl::UnimplementedError(
        absl::StrCat(describe_missing(report.missing_kernels),
                     "; allow missing kernels to write the program for a runtime that has them"));
  }
  name_weights(weights, store, &additions.methods);
  if (!additions.empty()) store_additions(additions, &named);
  segments.layout(named, options.segment_alignment, options.constant_alignment);
  write_program_table(builder, plans, segments, named, data.has_empty_payload());

  PETREL_ASSIGN_OR_RETURN(const ByteSink sink, open_sink(""));
  PETREL_ASSIGN_OR_RETURN(
      report.file_bytes[""],
      write_program_file({builder.GetBufferPointer(), builder.GetSize()}, segments, sink));
  for (const auto& [destination, contents] : files) {
    PETREL_ASSIGN_OR_RETURN(const ByteSink outside, open_sink(destination));
    PETREL_ASSIGN_OR_RETURN(report.file_bytes[destination],
                            write_flat_data(contents, options.segment_alignment, outside));
  }

  report.weight_bytes = store.stored_bytes() + segments.constant_bytes() - segments.merged_bytes();
  report.shared_weight_bytes =
      store.requested_bytes() + data.requested_bytes() - report.weight_bytes;
  return report;
}

absl::StatusOr<std::string> emit_to_memory(const Program& program) {
  NamedBlobStore store;
  EmitOptions options;
  options.planning.node_budget = 0;
  std::string bytes;
  PETREL_RETURN_IF_ERROR(
      emit_program(program, store, options, [&](const std::string&) -> absl::StatusOr<ByteSink> {
        return ByteSink([&](absl::Span<const uint8_t> part) {
          bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
          return absl::OkStatus();
        });
      }).status());
  return bytes;
}

}  // namespace petrel::exir
