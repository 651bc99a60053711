// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/method_writer.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/backend/backend.h"
#include "exir/emit/in_place.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

namespace fb = schema::program;

// The arena of the state of a program with several methods, counted from 1.
constexpr uint32_t kStateArena = 2;

// The arguments of factories and conversions that say what tensor to make. An
// out-variant has its out tensor for that and lacks all four.
constexpr const char* kTensorOptions[] = {"dtype", "layout", "device",
                                          "pin_memory"};

bool takes_tensor_options(const OpInfo& op) {
  return std::all_of(
      std::begin(kTensorOptions), std::end(kTensorOptions),
      [&](const char* name) { return op.find_arg(name) >= 0; });
}

bool is_tensor_option(const std::string& name) {
  return std::find(std::begin(kTensorOptions), std::end(kTensorOptions),
                   name) != std::end(kTensorOptions);
}

absl::Status misfit(const ArgSpec& spec, const char* wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("argument '", spec.name, "' is not ", wanted));
}

}  // namespace

bool is_dropped(const Node& node) {
  return node.op().has(kEffect) && node.num_results() == 0;
}

bool has_initial_state(const Constant& constant) {
  const Blob::Bytes bytes = constant.data.bytes();
  return std::any_of(bytes.span().begin(), bytes.span().end(),
                     [](uint8_t byte) { return byte != 0; });
}

absl::Status check_executable(const std::string& method, const Graph& graph,
                              const Storage& storage) {
  for (const Value* input : graph.inputs()) {
    if (input->type().is_tensor()) continue;
    return absl::UnimplementedError(absl::StrCat(
        "method '", method, "': input '", input->name(), "' is of type ",
        to_string(input->type()), ", only tensors can be inputs"));
  }
  std::vector<std::string> problems;
  for (const Node* node : storage.steps()) {
    if (node->delegate() != nullptr || is_dropped(*node) ||
        !node->regions().empty()) {
      continue;
    }
    if (node->op().has(kInPlace)) {
      problems.push_back(absl::StrCat(node->describe(), " works in place"));
    } else if (node->op().out_name.empty()) {
      problems.push_back(absl::StrCat(node->describe(), " has no kernel"));
    }
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("method '", method, "': ", absl::StrJoin(problems, "; ")));
}

MethodWriter::MethodWriter(flatbuffers::FlatBufferBuilder& builder,
                           const Graph& graph, const Storage& storage,
                           const MemoryPlan& plan, const StatePlan& state,
                           const ExternalFn& is_external,
                           const ExternalFn& is_named,
                           ProgramSegments& segments)
    : builder_(builder),
      graph_(graph),
      storage_(storage),
      plan_(plan),
      state_(state),
      is_external_(is_external),
      is_named_(is_named),
      segments_(segments),
      values_(builder),
      calls_(builder) {}

int32_t MethodWriter::entry_of(const Value* value) {
  value = storage_.same(value);
  auto known = entries_.find(value);
  if (known != entries_.end()) return known->second;
  int32_t entry;
  if (!value->type().is_tensor()) {
    entry = values_.add_scalar(value->type().kind);
  } else {
    const Value* root = storage_.root(value);
    const Constant* weight = nullptr;
    TensorPlace place;
    auto planned = plan_.offsets.find(root);
    if (planned != plan_.offsets.end()) place.arena_offset = planned->second;
    place.grows = value->producer() != nullptr &&
                  value->producer()->op().name == "petrel::map";
    // Such a view gets its memory when its instruction runs.
    if (value->producer() != nullptr && storage_.is_view(*value->producer())) {
      entry = values_.add_tensor(value->tensor(), {});
      entries_[value] = entry;
      return entry;
    }
    if (root->is_constant()) {
      const Constant& constant = *root->constant();
      if (constant.is_mutable()) {
        const auto shared = state_.offsets.find(constant.fqn);
        if (shared != state_.offsets.end()) {
          place.memory_id = kStateArena;
          place.arena_offset = shared->second;
        }
        // The initial value and the name belong to the buffer, not its views;
        // a view makes sure that the buffer is there.
        if (root != value) {
          entry_of(root);
        } else {
          place.fqn = constant.fqn;
          if (has_initial_state(constant)) {
            place.data_buffer_idx = segments_.add_initial_state(constant.data);
          }
        }
      } else if (is_external_(constant)) {
        place.is_external = true;
        place.fqn = constant.fqn;
      } else {
        place.data_buffer_idx = segments_.add_constant(constant.data);
        if (root == value && is_named_(constant)) place.fqn = constant.fqn;
        if (root != value) {
          viewed_.insert(&constant);
        } else if (place.fqn.empty() && !constant.fqn.empty() &&
                   constant.kind != Constant::Kind::kLiteral) {
          weight = &constant;
        }
      }
    }
    entry = values_.add_tensor(value->tensor(), place);
    if (weight != nullptr) weights_[static_cast<uint32_t>(entry)] = weight;
  }
  entries_[value] = entry;
  return entry;
}

std::map<uint32_t, const Constant*> MethodWriter::weights() const {
  std::map<uint32_t, const Constant*> weights;
  for (const auto& [entry, weight] : weights_) {
    if (viewed_.count(weight) == 0) weights.emplace(entry, weight);
  }
  return weights;
}

absl::StatusOr<int32_t> MethodWriter::list_entry(const ArgSpec& spec,
                                                 const Argument& argument) {
  // A list that holds values is a list of Arguments, any other a typed one.
  std::vector<Argument> items;
  if (argument.is_list()) {
    items = argument.as_list();
  } else if (argument.is_ints()) {
    for (int64_t item : argument.as_ints()) items.emplace_back(item);
  } else if (argument.is_floats()) {
    for (double item : argument.as_floats()) items.emplace_back(item);
  } else if (argument.is_bools()) {
    for (bool item : argument.as_bools()) items.emplace_back(item);
  } else {
    return misfit(spec, "a list");
  }

  switch (spec.kind) {
    case ArgKind::kTensor: {
      std::vector<int32_t> entries;
      for (const Argument& item : items) {
        if (item.is_value()) {
          entries.push_back(entry_of(item.value()));
        } else if (item.is_none() && spec.has_optional_items) {
          entries.push_back(-1);
        } else {
          return misfit(spec, "a list of tensors");
        }
      }
      return spec.has_optional_items ? values_.optional_tensor_list(entries)
                                     : values_.tensor_list(entries);
    }
    case ArgKind::kInt: {
      std::vector<int32_t> entries;
      for (const Argument& item : items) {
        if (item.is_value()) {
          entries.push_back(entry_of(item.value()));
        } else if (item.is_int()) {
          entries.push_back(values_.int_value(item.as_int()));
        } else {
          return misfit(spec, "a list of ints");
        }
      }
      return values_.int_list(entries);
    }
    case ArgKind::kFloat: {
      std::vector<double> values;
      for (const Argument& item : items) {
        if (!item.is_number()) return misfit(spec, "a list of floats");
        values.push_back(item.as_number());
      }
      return values_.double_list(values);
    }
    case ArgKind::kBool: {
      std::vector<bool> values;
      for (const Argument& item : items) {
        if (!item.is_bool()) return misfit(spec, "a list of bools");
        values.push_back(item.as_bool());
      }
      return values_.bool_list(values);
    }
    default:
      return misfit(spec, "of a kind that a program can hold as a list");
  }
}

absl::StatusOr<int32_t> MethodWriter::argument_entry(const ArgSpec& spec,
                                                     const Argument& argument) {
  if (argument.is_none()) {
    // An absent tensor that the schema wants there is one without elements.
    if (spec.kind == ArgKind::kTensor && !spec.is_list && !spec.is_optional) {
      return values_.add_tensor(TensorType::contiguous(ScalarType::kByte, {0}),
                                {});
    }
    return values_.null_value();
  }
  if (spec.is_list) return list_entry(spec, argument);
  if (argument.is_value()) return entry_of(argument.value());

  switch (spec.kind) {
    case ArgKind::kTensor:
      return misfit(spec, "a tensor");
    case ArgKind::kScalar:
      if (argument.is_int()) return values_.int_value(argument.as_int());
      if (argument.is_float()) return values_.double_value(argument.as_float());
      if (argument.is_bool()) return values_.bool_value(argument.as_bool());
      return misfit(spec, "a number");
    case ArgKind::kInt:
      if (argument.is_int()) return values_.int_value(argument.as_int());
      return misfit(spec, "an int");
    case ArgKind::kFloat:
      if (!argument.is_number()) return misfit(spec, "a float");
      return values_.double_value(argument.as_number());
    case ArgKind::kBool:
      if (argument.is_bool()) return values_.bool_value(argument.as_bool());
      return misfit(spec, "a bool");
    case ArgKind::kString:
      if (!argument.is_string()) return misfit(spec, "a string");
      return values_.string_value(argument.as_string());
    case ArgKind::kScalarType:
      if (!argument.is_scalar_type()) return misfit(spec, "an element type");
      return values_.int_value(
          static_cast<int64_t>(argument.as_scalar_type()));
    case ArgKind::kLayout:
      return values_.int_value(0);  // strided, the only one there is
    case ArgKind::kDevice:
      return values_.null_value();
    case ArgKind::kMemoryFormat: {
      if (!argument.is_memory_format()) return misfit(spec, "a memory format");
      const MemoryFormat format = argument.as_memory_format();
      if (format != MemoryFormat::kContiguous &&
          format != MemoryFormat::kPreserve) {
        return misfit(spec, "the contiguous or the preserved memory format");
      }
      return values_.int_value(static_cast<int64_t>(format));
    }
  }
  return misfit(spec, "of a known kind");
}

int32_t MethodWriter::fixed_entry(const Argument& output) {
  if (output.is_int()) return values_.int_value(output.as_int());
  if (output.is_float()) return values_.double_value(output.as_float());
  if (output.is_bool()) return values_.bool_value(output.as_bool());
  if (output.is_string()) return values_.string_value(output.as_string());
  return values_.null_value();
}

absl::Status MethodWriter::write_kernel_call(const Node& node) {
  const OpInfo& op = node.op();
  if (storage_.is_view(node)) {
    PETREL_ASSIGN_OR_RETURN(const int32_t sizes,
                            list_entry(op.args[1], node.argument(1)));
    calls_.append_kernel("executorch_prim::et_view", "default",
                {entry_of(node.argument(0).value()), sizes,
                 entry_of(node.result())});
    return absl::OkStatus();
  }
  const bool skips_options = takes_tensor_options(op);
  std::vector<int32_t> args;
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (skips_options && is_tensor_option(op.args[i].name)) continue;
    PETREL_ASSIGN_OR_RETURN(const int32_t entry,
                            argument_entry(op.args[i], node.argument(i)));
    args.push_back(entry);
  }
  if (storage_.is_in_place(node)) {
    args.push_back(entry_of(node.result()));
    calls_.append_kernel(in_place_kernel(node), "", args);
    return absl::OkStatus();
  }
  std::vector<int32_t> results;
  bool has_tensor_results = op.has_list_result;
  for (size_t i = 0; i < node.num_results(); ++i) {
    results.push_back(entry_of(node.result(i)));
    has_tensor_results |= node.result(i)->type().is_tensor();
  }
  if (op.has_list_result) {
    const int32_t list = values_.tensor_list(results);
    args.insert(args.end(), {list, list});
  } else {
    // Operators on scalars have no out arguments: they write what they return.
    if (has_tensor_results) {
      args.insert(args.end(), results.begin(), results.end());
    }
    if (results.size() == 1) {
      args.push_back(results[0]);
    } else if (results.size() > 1) {
      args.push_back(values_.tensor_list(results));
    }
  }
  calls_.append_kernel(op.out_name, op.out_overload, args);
  return absl::OkStatus();
}

absl::Status MethodWriter::write_delegate_call(const Node& node) {
  const LoweredPartition& part = *node.delegate();
  std::vector<flatbuffers::Offset<fb::CompileSpec>> specs;
  for (const CompileSpec& spec : part.compile_specs) {
    const auto key = builder_.CreateString(spec.key);
    const auto value = builder_.CreateVector(
        reinterpret_cast<const uint8_t*>(spec.value.data()),
        spec.value.size());
    specs.push_back(fb::CreateCompileSpec(builder_, key, value));
  }
  const auto id = builder_.CreateString(part.backend_id);
  const auto stored_specs = builder_.CreateVector(specs);
  // The program holds one empty inline payload for all that are empty.
  const bool is_empty = part.payload.size() == 0;
  const auto processed = fb::CreateBackendDelegateDataReference(
      builder_, is_empty ? fb::DataLocation::INLINE : fb::DataLocation::SEGMENT,
      is_empty
          ? 0
          : segments_.payload_segment(segments_.add_payload(part.payload)));
  delegates_.push_back(
      fb::CreateBackendDelegate(builder_, id, processed, stored_specs));

  std::vector<int32_t> args;
  for (const Value* operand : node.operands()) {
    args.push_back(entry_of(operand));
  }
  for (size_t i = 0; i < node.num_results(); ++i) {
    args.push_back(entry_of(node.result(i)));
  }
  calls_.append_delegate(static_cast<int32_t>(delegates_.size() - 1), args);
  return absl::OkStatus();
}

// jump to A unless %p | true branch | jump to B | A: false branch | B:
absl::Status MethodWriter::write_cond(const Node& node) {
  const int32_t predicate = entry_of(node.argument(0).value());
  const size_t to_false = calls_.reserve_jump();
  PETREL_RETURN_IF_ERROR(write_steps(*node.regions()[0]));
  const size_t to_end = calls_.reserve_jump();
  calls_.set_jump(to_false, predicate, calls_.size());
  PETREL_RETURN_IF_ERROR(write_steps(*node.regions()[1]));
  calls_.set_jump(to_end, values_.bool_value(false), calls_.size());
  return absl::OkStatus();
}

// %n = number of rows
// A: rows %i of all operands | body | its outputs become rows %i
// %i = %i + 1 | jump to A unless %i is %n | %i = %i - %n, for the next call
absl::Status MethodWriter::write_map(const Node& node) {
  const Graph& body = *node.regions()[0];
  const std::vector<Value*> rows = node.argument(0).values();
  const TensorType& type = rows[0]->tensor();
  if (!type.varies(0) && type.sizes[0] == 0) return absl::OkStatus();
  const auto number = [&](const char* name, int32_t a, int32_t b, int32_t out) {
    calls_.append_kernel(absl::StrCat("executorch_prim::", name), "Scalar", {a, b, out});
  };
  const int32_t zero = values_.int_value(0);
  const int32_t count = values_.add_scalar(Type::Kind::kInt);
  const int32_t index = values_.add_scalar(Type::Kind::kInt);
  const int32_t done = values_.add_scalar(Type::Kind::kBool);
  calls_.append_kernel("aten::sym_size", "int", {entry_of(rows[0]), zero, count});
  const size_t begin = calls_.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    const int32_t row = entry_of(body.inputs()[i]);
    calls_.append_kernel("aten::select_copy", "int_out",
                {entry_of(rows[i]), zero, index, row, row});
  }
  PETREL_RETURN_IF_ERROR(write_steps(body));
  for (size_t i = 0; i < node.num_results(); ++i) {
    calls_.append_kernel("executorch_prim::et_copy_index", "tensor",
                {entry_of(node.result(i)), entry_of(body.outputs()[i]), index});
  }
  number("add", index, values_.int_value(1), index);
  number("eq", index, count, done);
  const size_t again = calls_.reserve_jump();
  calls_.set_jump(again, done, begin);
  number("sub", index, count, index);
  return absl::OkStatus();
}

absl::Status MethodWriter::write_steps(const Graph& graph) {
  for (const Node* node : storage_.steps_of(graph)) {
    if (is_dropped(*node)) continue;
    const absl::Status status =
        node->delegate() != nullptr          ? write_delegate_call(*node)
        : node->op().name == "petrel::cond" ? write_cond(*node)
        : node->op().name == "petrel::map"  ? write_map(*node)
                                            : write_kernel_call(*node);
    if (status.ok()) continue;
    return absl::Status(status.code(), absl::StrCat(node->describe(), ": ",
                                                    status.message()));
  }
  return absl::OkStatus();
}

void MethodWriter::write_state(const BufferWrite& write) {
  if (storage_.root(write.value) == write.buffer) return;  // it is there
  const int32_t buffer = entry_of(write.buffer);
  const int32_t value = entry_of(write.value);
  calls_.append_kernel("aten::copy_", "",
              {buffer, value, values_.bool_value(false), buffer});
}

bool MethodWriter::has_state() const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    const Value* root = storage_.root(entry.first);
    return root->is_constant() &&
           state_.offsets.count(root->constant()->fqn) != 0;
  });
}

absl::StatusOr<flatbuffers::Offset<fb::ExecutionPlan>> MethodWriter::write(
    const std::string& name, const Signature& signature) {
  std::vector<int32_t> inputs;
  for (const Value* input : graph_.inputs()) inputs.push_back(entry_of(input));
  const absl::Status status = write_steps(graph_);
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat("method '", name, "': ",
                                                    status.message()));
  }
  for (const BufferWrite& write : graph_.buffer_writes()) write_state(write);
  const size_t num_outputs =
      graph_.outputs().size() + signature.fixed_outputs.size();
  auto computed = graph_.outputs().begin();
  std::vector<int32_t> outputs;
  for (size_t i = 0; i < num_outputs; ++i) {
    const auto fixed = signature.fixed_outputs.find(i);
    outputs.push_back(fixed == signature.fixed_outputs.end()
                          ? entry_of(*computed++)
                          : fixed_entry(fixed->second));
  }

  const std::vector<int32_t> none;
  const auto chain_inputs = builder_.CreateVector(none);
  const auto chain_outputs = builder_.CreateVector(none);
  const auto instructions = builder_.CreateVector(calls_.instructions());
  const std::vector<flatbuffers::Offset<fb::Chain>> chains = {
      fb::CreateChain(builder_, chain_inputs, chain_outputs, instructions)};

  std::vector<int64_t> arenas = {0};
  if (plan_.arena_bytes > 0 || has_state()) arenas.push_back(plan_.arena_bytes);
  if (has_state()) arenas.push_back(state_.arena_bytes);
  const auto stored_name = builder_.CreateString(name);
  const auto in_spec = builder_.CreateString(signature.in_spec);
  const auto out_spec = builder_.CreateString(signature.out_spec);
  const auto containers =
      fb::CreateContainerMetadata(builder_, in_spec, out_spec);
  const auto stored_values = builder_.CreateVector(values_.entries());
  const auto stored_inputs = builder_.CreateVector(inputs);
  const auto stored_outputs = builder_.CreateVector(outputs);
  const auto stored_chains = builder_.CreateVector(chains);
  const auto operators = builder_.CreateVector(calls_.operators());
  const auto delegates = builder_.CreateVector(delegates_);
  const auto stored_arenas = builder_.CreateVector(arenas);
  return fb::CreateExecutionPlan(builder_, stored_name, containers,
                                 stored_values, stored_inputs, stored_outputs,
                                 stored_chains, operators, delegates,
                                 stored_arenas);
}

}  // namespace petrel::exir
