// SPDX-License-Identifier: Apache-2.0
#include "exir/import/import.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/annotate.h"
#include "exir/import/archive.h"
#include "exir/import/graph_reader.h"
#include "exir/import/mutations.h"
#include "exir/import/payloads.h"
#include "exir/import/signature.h"
#include "exir/import/tensor_meta.h"
#include "exir/ops/handles.h"
#include "exir/ops/table.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

absl::StatusOr<ArchiveInfo> read_info(const Json& program) {
  ArchiveInfo info;
  PETREL_ASSIGN_OR_RETURN(Json version, program.at("schema_version"));
  PETREL_ASSIGN_OR_RETURN(Json major_json, version.at("major"));
  PETREL_ASSIGN_OR_RETURN(Json minor_json, version.at("minor"));
  PETREL_ASSIGN_OR_RETURN(int64_t major, major_json.integer());
  PETREL_ASSIGN_OR_RETURN(int64_t minor, minor_json.integer());
  // Minor versions add members, which are refused where they are used.
  if (major != kArchiveSchema) {
    return version.error(
        absl::StrCat("is ", major, ".", minor, ", must be ", kArchiveSchema, ".x"));
  }
  info.schema_major = static_cast<int>(major);
  info.schema_minor = static_cast<int>(minor);
  if (const std::optional<Json> torch = program.find("torch_version")) {
    PETREL_ASSIGN_OR_RETURN(info.torch_version, torch->text());
  }
  if (const std::optional<Json> verifiers = program.find("verifiers")) {
    PETREL_ASSIGN_OR_RETURN(std::vector<Json> items, verifiers->items());
    std::vector<std::string> dialects;
    for (const Json& item : items) {
      PETREL_ASSIGN_OR_RETURN(std::string dialect, item.text());
      dialects.push_back(std::move(dialect));
    }
    info.dialect = absl::StrJoin(dialects, ",");
  }
  return info;
}

// The number as a tensor of no dims, which is what passes know of outputs.
Value* tensor_of(Graph& graph, Value& number) {
  const Type::Kind kind = number.type().kind;
  const ScalarType dtype = kind == Type::Kind::kInt     ? ScalarType::kLong
                           : kind == Type::Kind::kFloat ? ScalarType::kDouble
                                                        : ScalarType::kBool;
  return graph
      .append(op(aten::scalar_tensor),
              {Argument(&number), Argument(dtype), Argument(), Argument(), Argument()},
              {TensorType::contiguous(dtype, {})}, number.name() + "_output")
      ->result();
}

// One import: what its steps share.
class Importer {
 public:
  Importer(const ProgramArchive& archive, const std::string& method_name, const SizeLimits& limits)
      : archive_(archive),
        limits_(limits),
        graph_(std::make_unique<Graph>(method_name)),
        reader_(graph_.get(), &symbols_) {}

  absl::StatusOr<Method> run(ArchiveInfo* out_info);

 private:
  absl::Status bind_inputs(const Json& graph);
  absl::StatusOr<Value*> load_state(const InputSpec& spec);
  absl::Status set_outputs(const Json& graph);
  absl::Status check_input_write(const OutputSpec& spec, const Value& value);
  absl::Status mark_written_values();
  absl::Status check_shared_state() const;

  const ProgramArchive& archive_;
  const SizeLimits& limits_;
  Symbols symbols_;
  std::unique_ptr<Graph> graph_;
  GraphReader reader_;
  GraphIo io_;
  std::optional<Payloads> payloads_;
  // Constants by name, still open to a change of kind.
  std::map<std::string, std::shared_ptr<Constant>> state_;
};

absl::StatusOr<Value*> Importer::load_state(const InputSpec& spec) {
  std::shared_ptr<Constant>& known = state_[spec.fqn];
  if (known == nullptr) {
    auto section = Payloads::Section::kWeights;
    auto kind = Constant::Kind::kParameter;
    if (spec.kind == InputSpec::Kind::kBuffer) {
      kind = Constant::Kind::kBuffer;
      if (!spec.persistent) section = Payloads::Section::kConstants;
    } else if (spec.kind == InputSpec::Kind::kTensorConstant) {
      kind = Constant::Kind::kLiteral;
      section = Payloads::Section::kConstants;
    }
    PETREL_ASSIGN_OR_RETURN(known, payloads_->load(section, spec.fqn, kind));
  }
  return graph_->add_constant(known);
}

absl::Status Importer::bind_inputs(const Json& graph) {
  PETREL_ASSIGN_OR_RETURN(Json input_list, graph.at("inputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> inputs, input_list.items());
  if (inputs.size() != io_.inputs.size()) {
    return input_list.error(
        absl::StrCat("has ", inputs.size(), " items, the signature has ", io_.inputs.size()));
  }
  PETREL_ASSIGN_OR_RETURN(Json tensors, graph.at("tensor_values"));
  PETREL_ASSIGN_OR_RETURN(auto members, tensors.members());
  // Not looked up in the document, which goes through all of them for each.
  const std::map<std::string, Json> metas(std::make_move_iterator(members.begin()),
                                          std::make_move_iterator(members.end()));
  std::set<std::string> names;
  for (const InputSpec& spec : io_.inputs) {
    if (!names.insert(spec.value).second) {
      return input_list.error(absl::StrCat("'", spec.value, "' occurs twice"));
    }
    if (spec.kind == InputSpec::Kind::kLiteral || spec.kind == InputSpec::Kind::kToken) continue;
    if (spec.kind != InputSpec::Kind::kUser) {
      reader_.bind_lazily(spec.value, [this, &spec] { return load_state(spec); });
      continue;
    }
    const std::string place = absl::StrCat("input '", spec.value, "'");
    const auto meta = metas.find(spec.value);
    if (meta == metas.end()) {
      return annotate(tensors.error(absl::StrCat("has no '", spec.value, "'")), place);
    }
    if (is_complex(meta->second)) {
      return annotate(absl::UnimplementedError(
                          "is a tensor of complex numbers, which is not supported; let the model "
                          "take torch.view_as_real of it and call torch.view_as_complex"),
                      place);
    }
    // Channels-last inputs are taken as contiguous: callers give tensors in the
    // order of their sizes.
    absl::StatusOr<TensorType> type = read_tensor_type(meta->second, symbols_);
    if (!type.ok()) return annotate(type.status(), place);
    Value* value = graph_->add_input(*std::move(type), spec.value);
    reader_.bind(spec.value, Argument(value));
  }
  return absl::OkStatus();
}

absl::Status Importer::set_outputs(const Json& graph) {
  PETREL_ASSIGN_OR_RETURN(Json output_list, graph.at("outputs"));
  PETREL_ASSIGN_OR_RETURN(std::vector<Json> listed, output_list.items());
  if (listed.size() != io_.outputs.size()) {
    return output_list.error(
        absl::StrCat("has ", listed.size(), " items, the signature has ", io_.outputs.size()));
  }
  std::vector<Value*> outputs;
  std::vector<BufferWrite> writes;
  std::set<std::string> written;
  std::map<std::string, const InputSpec*> state;  // by name
  for (const InputSpec& input : io_.inputs) {
    const bool is_state =
        input.kind == InputSpec::Kind::kBuffer || input.kind == InputSpec::Kind::kParameter;
    if (is_state) state[input.fqn] = &input;
  }
  for (size_t i = 0; i < io_.outputs.size(); ++i) {
    OutputSpec& spec = io_.outputs[i];
    if (spec.kind == OutputSpec::Kind::kNumber) {
      absl::StatusOr<Argument> number = reader_.number(spec.value);
      if (!number.ok()) return annotate(number.status(), absl::StrCat("output ", i));
      if (number->is_value()) {
        outputs.push_back(tensor_of(*graph_, *number->value()));
      } else {
        spec.kind = OutputSpec::Kind::kFixed;
        spec.fixed = *std::move(number);
      }
      continue;
    }
    // What is not a value.
    if (spec.kind == OutputSpec::Kind::kFixed || spec.kind == OutputSpec::Kind::kToken) continue;
    absl::StatusOr<Value*> value = reader_.value(spec.value);
    if (!value.ok()) {
      return annotate(value.status(), absl::StrCat("output ", i));
    }
    if (spec.kind == OutputSpec::Kind::kUser) {
      outputs.push_back(*value);
      continue;
    }
    if (spec.kind == OutputSpec::Kind::kInputWrite) {
      PETREL_RETURN_IF_ERROR(check_input_write(spec, **value));
      outputs.push_back(*value);
      continue;
    }
    const std::string place = absl::StrCat("write to '", spec.fqn, "'");
    const auto known = state.find(spec.fqn);
    const InputSpec* const target = known == state.end() ? nullptr : known->second;
    if (target == nullptr || !written.insert(spec.fqn).second) {
      return annotate(absl::InvalidArgumentError(target == nullptr ? "there is no such state"
                                                                   : "it is written twice"),
                      place);
    }
    absl::StatusOr<Value*> buffer = reader_.value(target->value);
    if (!buffer.ok()) return annotate(buffer.status(), place);
    if ((*buffer)->type() != (*value)->type()) {
      return annotate(absl::InvalidArgumentError(
                          absl::StrCat("it is ", to_string((*buffer)->type()), ", value '",
                                       spec.value, "' is ", to_string((*value)->type()))),
                      place);
    }
    state_[spec.fqn]->kind = Constant::Kind::kMutableBuffer;
    writes.push_back({*buffer, *value});
  }
  graph_->set_outputs(std::move(outputs));
  graph_->set_buffer_writes(std::move(writes));
  return absl::OkStatus();
}

absl::Status Importer::check_input_write(const OutputSpec& spec, const Value& value) {
  const std::string place = absl::StrCat("write to input '", spec.input, "'");
  absl::StatusOr<Value*> input = reader_.value(spec.input);
  if (!input.ok()) return annotate(input.status(), place);
  if (!(*input)->is_input()) {
    return annotate(absl::InvalidArgumentError("it is not an input"), place);
  }
  if ((*input)->type() == value.type()) return absl::OkStatus();
  return annotate(
      absl::InvalidArgumentError(absl::StrCat("it is ", to_string((*input)->type()), ", value '",
                                              spec.value, "' is ", to_string(value.type()))),
      place);
}

// What nodes write in place: constants become state, inputs outputs.
absl::Status Importer::mark_written_values() {
  const std::set<const Value*> written = written_roots(*graph_);
  std::set<const Constant*> state;
  for (const Value* value : written) {
    if (value->is_constant()) state.insert(value->constant().get());
  }
  for (auto& [fqn, constant] : state_) {
    if (state.count(constant.get()) != 0) {
      constant->kind = Constant::Kind::kMutableBuffer;
    }
  }
  std::vector<Value*> outputs;
  std::vector<OutputSpec> specs;
  for (const InputSpec& input : io_.inputs) {
    if (input.kind != InputSpec::Kind::kUser) continue;
    PETREL_ASSIGN_OR_RETURN(Value * value, reader_.value(input.value));
    if (written.count(value) == 0) continue;
    outputs.push_back(value);
    OutputSpec spec;
    spec.kind = OutputSpec::Kind::kInputWrite;
    spec.value = spec.input = input.value;
    specs.push_back(std::move(spec));
  }
  outputs.insert(outputs.end(), graph_->outputs().begin(), graph_->outputs().end());
  graph_->set_outputs(std::move(outputs));
  io_.outputs.insert(io_.outputs.begin(), specs.begin(), specs.end());
  return absl::OkStatus();
}

// Every tensor has memory of its own here, so that a write to one is not seen in another.
absl::Status Importer::check_shared_state() const {
  struct Place {
    const Payloads::Extent* extent;
    const std::string* fqn;
    bool is_written;
  };
  std::vector<Place> places;
  for (const auto& [fqn, constant] : state_) {
    if (constant == nullptr) continue;
    const Payloads::Extent& extent = payloads_->extent(fqn);
    if (extent.begin < extent.end) places.push_back({&extent, &fqn, constant->is_mutable()});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.extent->member, a.extent->begin) <
           std::tie(b.extent->member, b.extent->begin);
  });
  // Of those before, the ones that reach farthest.
  const Place* any = nullptr;
  const Place* written = nullptr;
  for (const Place& place : places) {
    const Place* const other = place.is_written ? any : written;
    if (other != nullptr && other->extent->meets(*place.extent)) {
      const bool is_first = place.is_written;
      return absl::UnimplementedError(absl::StrCat(
          "buffer '", is_first ? *place.fqn : *other->fqn,
          "' is written and shares its memory with '", is_first ? *other->fqn : *place.fqn,
          "', which is not supported; register a clone of one of them"));
    }
    const auto reaches_farther = [&](const Place* than) {
      return than == nullptr || than->extent->member != place.extent->member ||
             than->extent->end < place.extent->end;
    };
    if (reaches_farther(any)) any = &place;
    if (place.is_written && reaches_farther(written)) written = &place;
  }
  return absl::OkStatus();
}

absl::StatusOr<Method> Importer::run(ArchiveInfo* out_info) {
  const Json& program = archive_.json.root();
  PETREL_ASSIGN_OR_RETURN(ArchiveInfo info, read_info(program));
  if (out_info != nullptr) *out_info = info;
  PETREL_ASSIGN_OR_RETURN(Json ranges, program.at("range_constraints"));
  PETREL_ASSIGN_OR_RETURN(symbols_, Symbols::read(ranges));
  PETREL_ASSIGN_OR_RETURN(Json graph_module, program.at("graph_module"));
  PETREL_ASSIGN_OR_RETURN(Json graph, graph_module.at("graph"));
  PETREL_RETURN_IF_ERROR(symbols_.limit(limits_));
  PETREL_RETURN_IF_ERROR(symbols_.join_equal(graph));
  PETREL_RETURN_IF_ERROR(symbols_.bound_indices(graph));
  PETREL_ASSIGN_OR_RETURN(io_, read_graph_io(graph_module));
  PETREL_ASSIGN_OR_RETURN(payloads_, Payloads::open(archive_, info.torch_version));
  PETREL_RETURN_IF_ERROR(bind_inputs(graph));
  PETREL_RETURN_IF_ERROR(reader_.read(graph));
  PETREL_RETURN_IF_ERROR(set_outputs(graph));
  PETREL_RETURN_IF_ERROR(mark_written_values());
  PETREL_RETURN_IF_ERROR(check_shared_state());
  bind_region_constants(*graph_);
  Method method;
  PETREL_ASSIGN_OR_RETURN(method.signature, read_signature(graph_module, io_));
  method.graph = std::move(graph_);
  return method;
}

}  // namespace

absl::StatusOr<Method> import_pt2(const std::string& path, const std::string& method_name,
                                  const SizeLimits& limits, ArchiveInfo* out_info) {
  absl::StatusOr<ProgramArchive> archive = open_program_archive(path, method_name);
  if (!archive.ok()) return annotate(archive.status(), path);
  absl::StatusOr<Method> method = Importer(*archive, method_name, limits).run(out_info);
  if (!method.ok()) return annotate(method.status(), path);
  return method;
}

}  // namespace petrel::exir
