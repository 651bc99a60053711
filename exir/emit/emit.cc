// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/emit.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/backend/backend.h"
#include "exir/backend/blob_names.h"
#include "exir/backend/named_blob_store.h"
#include "exir/backend/shards.h"
#include "exir/emit/additions.h"
#include "exir/emit/flat_data_writer.h"
#include "exir/emit/method_writer.h"
#include "exir/emit/program_file.h"
#include "exir/emit/segments.h"
#include "exir/emit/weight_names.h"
#include "exir/ir/blob_digests.h"
#include "exir/memory/storage.h"
#include "exir/status_macros.h"
#include "schema/formats.h"
#include "schema/method_limits.h"

namespace petrel::exir {
namespace {

namespace fb = schema::program;

absl::Status check_alignment(const char* name, uint64_t alignment) {
  if (alignment >= schema::kDataAlignment && alignment <= schema::kMaxAlignment &&
      (alignment & (alignment - 1)) == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", alignment, ", must be a power of two in [", schema::kDataAlignment,
                   ", ", schema::kMaxAlignment, "]"));
}

absl::Status check_method_name(const std::string& name) {
  if (!name.empty() && name.size() <= schema::kMaxMethodNameBytes &&
      name.find('\0') == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("method name '", name.substr(0, 80), "' has ",
                                                 name.size(), " bytes or a NUL, must have 1 to ",
                                                 schema::kMaxMethodNameBytes, " bytes and none"));
}

// Of inputs and weights, which callers ask for.
absl::Status check_tensor_name(const std::string& method, const char* what,
                               const std::string& name) {
  if (name.size() <= schema::kMaxTensorNameBytes && name.find('\0') == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "method '", method, "': the name of ", what, " '", name.substr(0, 80), "' has ", name.size(),
      " bytes or a NUL, must have at most ", schema::kMaxTensorNameBytes, " bytes and none"));
}

absl::Status check_signature(const std::string& method, const Graph& graph) {
  const std::pair<const char*, size_t> lists[] = {{"inputs", graph.inputs().size()},
                                                  {"outputs", graph.outputs().size()}};
  for (const auto& [what, count] : lists) {
    if (count <= schema::kMaxInputs) continue;
    return absl::InvalidArgumentError(absl::StrCat("method '", method, "' has ", count, " ", what,
                                                   ", must have at most ", schema::kMaxInputs));
  }
  for (const Value* input : graph.inputs()) {
    PETREL_RETURN_IF_ERROR(check_tensor_name(method, "input", input->name()));
  }
  return absl::OkStatus();
}

absl::Status check_constant(const std::string& method, const Constant& constant) {
  if (constant.kind != Constant::Kind::kLiteral) {
    PETREL_RETURN_IF_ERROR(check_tensor_name(method, "weight", constant.fqn));
  }
  if (constant.data.size() == static_cast<uint64_t>(constant.type.nbytes())) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("method '", method, "': constant '", constant.fqn,
                                          "' of type ", to_string(constant.type), " has ",
                                          constant.data.size(), " bytes"));
}

absl::Status in_method(const std::string& method, const absl::Status& status) {
  return annotate(status, absl::StrCat("method '", method, "'"));
}

// Registers the data of all methods with the segments and the store.
class DataCollector {
 public:
  DataCollector(RoutedBlobStore& store, const EmitOptions& options, const ExternalFn& is_external,
                ProgramSegments& segments)
      : store_(store), options_(options), is_external_(is_external), segments_(segments) {}

  absl::Status collect(const PlannedMethod& method) {
    for (const Constant* constant : method.used_constants()) {
      PETREL_RETURN_IF_ERROR(check_constant(method.name, *constant));
      if (constant->is_mutable()) {
        if (is_external_(*constant)) {
          PETREL_RETURN_IF_ERROR(
              in_method(method.name, store_.add_state(*constant, options_.constant_alignment)));
        } else if (!starts_as_zeros(*constant)) {
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

  RoutedBlobStore& store_;
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

MethodMemory describe_memory(const PlannedMethod& method) {
  MethodMemory memory;
  memory.method = method.name;
  memory.arena_bytes = method.plan.pool_bytes;
  if (memory.arena_bytes.empty() && method.plan.arena_bytes > 0) {
    memory.arena_bytes.push_back(method.plan.arena_bytes);
  }
  memory.lower_bound_bytes = method.plan.lower_bound_bytes;
  memory.proven_optimal = method.plan.proven_optimal;
  for (const StepScratch& scratch : method.plan.scratch) {
    memory.scratch_bytes += scratch.bytes;
    ++memory.scratch_operators;
    if (scratch.offset < 0) memory.scratch_bytes_beyond += scratch.bytes;
  }
  memory.elided_copies = method.storage->parts().elided.size();
  memory.elided_bytes = method.storage->parts().elided_bytes;
  memory.problem = method.plan.problem;
  memory.solution = method.plan.solution;
  return memory;
}

ExternalFn external_constants(const WeightRoutes& routes) {
  return [&routes](const Constant& constant) {
    return !routes.file_for_kernel(constant).empty() || !routes.file_for_state(constant).empty();
  };
}

// Where names count, each of these has one layout, inside or outside.
ExternalFn named_constants(const WeightRoutes& routes) {
  return [&routes](const Constant& constant) {
    return !routes.file_for_kernel(constant).empty() ||
           (routes.keys == WeightKeys::kName && !constant.is_mutable() &&
            constant.kind != Constant::Kind::kLiteral);
  };
}

// One program on its way into files; the steps are called once each, in order.
class Emission {
 public:
  Emission(const PlannedProgram& planned, RoutedBlobStore& store, const EmitOptions& options)
      : planned_(planned),
        store_(store),
        options_(options),
        is_external_(external_constants(store.routes())),
        is_named_(named_constants(store.routes())),
        data_(store, options, is_external_, segments_) {}
  Emission(const Emission&) = delete;
  Emission& operator=(const Emission&) = delete;

  // What is known before any byte is looked at.
  absl::Status prepare() {
    PETREL_RETURN_IF_ERROR(check_alignment("segment alignment", options_.segment_alignment));
    PETREL_RETURN_IF_ERROR(check_alignment("constant alignment", options_.constant_alignment));
    if (!options_.external_weights.empty()) {
      PETREL_RETURN_IF_ERROR(check_plain_file_name(options_.external_weights));
    }
    for (const PlannedMethod& method : planned_.methods) {
      report_.memory.push_back(describe_memory(method));
      MethodAdditions additions;
      additions.scratch = scratch_places(*method.storage, method.plan);
      additions.least_sizes = least_sizes(*method.graph);
      additions_.methods.push_back(std::move(additions));
    }
    report_.state_bytes = planned_.state.arena_bytes;
    return absl::OkStatus();
  }

  // All data, and which file it belongs to.
  absl::Status collect() {
    for (const PlannedMethod& method : planned_.methods) {
      PETREL_RETURN_IF_ERROR(data_.collect(method));
    }
    PETREL_RETURN_IF_ERROR(store_.check_all_rules_matched());
    PETREL_ASSIGN_OR_RETURN(files_, external_files(store_.blobs(), options_));
    const auto inside = store_.blobs().destinations().find("");
    if (inside != store_.blobs().destinations().end()) named_ = inside->second;
    if (store_.routes().keys == WeightKeys::kName) {
      additions_.structure = options_.structure;
      additions_.recipe = options_.recipe;
    }
    return absl::OkStatus();
  }

  // What the flatbuffer says of the methods.
  absl::Status write_methods() {
    // Payloads have numbers before named data, so that methods can be written
    // before it is known what is said of them.
    ProgramSegments numbered = segments_;
    numbered.layout({}, options_.segment_alignment, options_.constant_alignment);
    std::vector<std::map<uint32_t, const Constant*>> weights;
    for (const PlannedMethod& method : planned_.methods) {
      MethodWriter writer(builder_, *method.graph, *method.storage, method.plan, planned_.state,
                          is_external_, is_named_, numbered);
      PETREL_ASSIGN_OR_RETURN(const auto plan, writer.write(method.name, *method.signature));
      plans_.push_back(plan);
      weights.push_back(writer.weights());
      note_kernels(method.name, writer.kernels());
    }
    PETREL_RETURN_IF_ERROR(check_kernels());
    name_weights(weights, store_.blobs(), &additions_.methods);
    return absl::OkStatus();
  }

  // The files beside the program. Digests of what is in them are computed meanwhile, so that one
  // does not wait for the other.
  absl::Status write_outside(const OpenSinkFn& open_sink) {
    BlobDigests digests(bound_blobs(store_, options_.bind_data), options_.threads);
    for (const auto& [destination, contents] : files_) {
      PETREL_ASSIGN_OR_RETURN(const ByteSink outside, open_sink(destination));
      PETREL_ASSIGN_OR_RETURN(report_.file_bytes[destination],
                              write_flat_data(contents, options_.segment_alignment, outside));
    }
    digests.finish();
    return absl::OkStatus();
  }

  // A place for all data of the program, and the program.
  absl::StatusOr<EmitReport> write_program(const OpenSinkFn& open_sink) {
    additions_.weights = remembered_weights(store_, options_.bind_data);
    if (!additions_.empty()) store_additions(additions_, &named_);
    segments_.layout(named_, options_.segment_alignment, options_.constant_alignment);
    write_program_table(builder_, plans_, segments_, named_, data_.has_empty_payload());
    PETREL_ASSIGN_OR_RETURN(const ByteSink sink, open_sink(""));
    PETREL_ASSIGN_OR_RETURN(
        report_.file_bytes[""],
        write_program_file({builder_.GetBufferPointer(), builder_.GetSize()}, segments_, sink));
    report_.weight_bytes =
        store_.blobs().stored_bytes() + segments_.constant_bytes() - segments_.merged_bytes();
    report_.shared_weight_bytes =
        store_.blobs().requested_bytes() + data_.requested_bytes() - report_.weight_bytes;
    return std::move(report_);
  }

 private:
  void note_kernels(const std::string& method, const std::vector<KernelUse>& uses) {
    auto& kernels = report_.kernels[method];
    for (const KernelUse& use : uses) {
      kernels[use.kernel] = use.calls;
      if (!options_.has_kernel || options_.has_kernel(use.kernel)) continue;
      report_.missing_kernels.push_back(missing_kernel(method, use));
    }
  }

  absl::Status check_kernels() const {
    if (report_.missing_kernels.empty() || options_.allow_missing_kernels) {
      return absl::OkStatus();
    }
    return absl::UnimplementedError(
        absl::StrCat(describe_missing(report_.missing_kernels),
                     "; allow missing kernels to write the program for a runtime that has them"));
  }

  const PlannedProgram& planned_;
  RoutedBlobStore& store_;
  const EmitOptions& options_;
  const ExternalFn is_external_;
  const ExternalFn is_named_;
  ProgramSegments segments_;
  DataCollector data_;
  Additions additions_;
  std::map<std::string, NamedBlobStore::Destination> files_;
  NamedBlobStore::Destination named_;  // of the program
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<flatbuffers::Offset<fb::ExecutionPlan>> plans_;
  EmitReport report_;
};

}  // namespace

absl::StatusOr<PlannedProgram> plan_to_emit(const Program& program, const WeightRoutes& routes,
                                            const plan::Options& options, const MemoryPools& pools,
                                            std::vector<std::string>* shortages) {
  if (program.methods.size() > schema::kMaxMethods) {
    return absl::InvalidArgumentError(absl::StrCat("program has ", program.methods.size(),
                                                   " methods, must have at most ",
                                                   schema::kMaxMethods));
  }
  for (const auto& [name, method] : program.methods) {
    PETREL_RETURN_IF_ERROR(check_method_name(name));
    PETREL_RETURN_IF_ERROR(check_signature(name, *method.graph));
  }
  return plan_program(program, options, named_constants(routes), pools, shortages);
}

absl::StatusOr<EmitReport> emit_planned(const PlannedProgram& planned, RoutedBlobStore& store,
                                        const EmitOptions& options, const OpenSinkFn& open_sink) {
  Emission emission(planned, store, options);
  PETREL_RETURN_IF_ERROR(emission.prepare());
  PETREL_RETURN_IF_ERROR(emission.collect());
  PETREL_RETURN_IF_ERROR(emission.write_methods());
  PETREL_RETURN_IF_ERROR(emission.write_outside(open_sink));
  return emission.write_program(open_sink);
}

absl::StatusOr<EmitReport> emit_program(const Program& program, RoutedBlobStore& store,
                                        const EmitOptions& options, const OpenSinkFn& open_sink) {
  PETREL_ASSIGN_OR_RETURN(const PlannedProgram planned,
                          plan_to_emit(program, store.routes(), options.planning));
  return emit_planned(planned, store, options, open_sink);
}

absl::StatusOr<std::string> emit_to_memory(const Program& program, RoutedBlobStore store) {
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
