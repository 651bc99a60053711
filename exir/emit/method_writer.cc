// SPDX-License-Identifier: Apache-2.0
#include "exir/emit/method_writer.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/backend/backend.h"
#include "exir/ir/region_values.h"
#include "exir/memory/in_place.h"
#include "exir/memory/planned_program.h"
#include "exir/status_macros.h"
#include "exir/ops/handles.h"

namespace petrel::exir {
namespace {

namespace fb = schema::program;

// The arguments of factories and conversions that say what tensor to make. An
// out-variant has its out tensor for that and lacks all four.
constexpr const char* kTensorOptions[] = {"dtype", "layout", "device", "pin_memory"};

bool takes_tensor_options(const OpInfo& op) {
  return std::all_of(std::begin(kTensorOptions), std::end(kTensorOptions),
                     [&](const char* name) { return op.find_arg(name) >= 0; });
}

bool is_tensor_option(const std::string& name) {
  return std::find(std::begin(kTensorOptions), std::end(kTensorOptions), name) !=
         std::end(kTensorOptions);
}

}  // namespace

MethodWriter::MethodWriter(flatbuffers::FlatBufferBuilder& builder, const Graph& graph,
                           const Storage& storage, const MemoryPlan& plan, const StatePlan& state,
                           const ExternalFn& is_external, const ExternalFn& is_named,
                           ProgramSegments& segments)
    : builder_(builder),
      graph_(graph),
      storage_(storage),
      plan_(plan),
      state_(state),
      segments_(segments),
      values_(builder, storage, plan, state, is_external, is_named, segments),
      calls_(builder) {}

absl::Status MethodWriter::write_kernel_call(const Node& node) {
  const OpInfo& op = node.op();
  if (storage_.is_view(node)) {
    PETREL_ASSIGN_OR_RETURN(const int32_t sizes, values_.of_list(op.args[1], node.arguments()[1]));
    calls_.append_kernel(
        "executorch_prim::et_view", "default",
        {values_.of(node.arguments()[0].value()), sizes, values_.of(node.result())});
    return absl::OkStatus();
  }
  const bool skips_options = takes_tensor_options(op);
  std::vector<int32_t> args;
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (skips_options && is_tensor_option(op.args[i].name)) continue;
    PETREL_ASSIGN_OR_RETURN(const int32_t entry,
                            values_.of_argument(op.args[i], node.arguments()[i]));
    args.push_back(entry);
  }
  if (storage_.is_in_place(node)) {
    args.push_back(values_.of(node.result()));
    calls_.append_kernel(in_place_kernel(node), "", args);
    return absl::OkStatus();
  }
  std::vector<int32_t> results;
  bool has_tensor_results = op.has_list_result;
  for (size_t i = 0; i < node.num_results(); ++i) {
    results.push_back(values_.of(node.result(i)));
    has_tensor_results |= node.result(i)->type().is_tensor();
  }
  if (op.has_list_result) {
    const int32_t list = values_.table().tensor_list(results);
    args.insert(args.end(), {list, list});
  } else {
    // Operators on scalars have no out arguments: they write what they return.
    if (has_tensor_results) {
      args.insert(args.end(), results.begin(), results.end());
    }
    if (results.size() == 1) {
      args.push_back(results[0]);
    } else if (results.size() > 1) {
      args.push_back(values_.table().tensor_list(results));
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
    const auto value = builder_.CreateVector(reinterpret_cast<const uint8_t*>(spec.value.data()),
                                             spec.value.size());
    specs.push_back(fb::CreateCompileSpec(builder_, key, value));
  }
  const auto id = builder_.CreateString(part.backend_id);
  const auto stored_specs = builder_.CreateVector(specs);
  // The program holds one empty inline payload for all that are empty.
  const bool is_empty = part.payload.size() == 0;
  const auto processed = fb::CreateBackendDelegateDataReference(
      builder_, is_empty ? fb::DataLocation::INLINE : fb::DataLocation::SEGMENT,
      is_empty ? 0 : segments_.payload_segment(segments_.add_payload(part.payload)));
  delegates_.push_back(fb::CreateBackendDelegate(builder_, id, processed, stored_specs));

  std::vector<int32_t> args;
  for (const Value* operand : node.operands()) {
    args.push_back(values_.of(operand));
  }
  for (size_t i = 0; i < node.num_results(); ++i) {
    args.push_back(values_.of(node.result(i)));
  }
  calls_.append_delegate(static_cast<int32_t>(delegates_.size() - 1), args);
  return absl::OkStatus();
}

// jump to A unless %p | true branch | jump to B | A: false branch | B:
absl::Status MethodWriter::write_cond(const Node& node) {
  const int32_t predicate = values_.of(node.input(arg::predicate));
  const size_t to_false = calls_.reserve_jump();
  PETREL_RETURN_IF_ERROR(write_steps(*node.regions()[0]));
  const size_t to_end = calls_.reserve_jump();
  calls_.set_jump(to_false, predicate, calls_.size());
  PETREL_RETURN_IF_ERROR(write_steps(*node.regions()[1]));
  calls_.set_jump(to_end, values_.table().bool_value(false), calls_.size());
  return absl::OkStatus();
}

void MethodWriter::write_copy(const Value* from, const Value* to) {
  const int32_t out = values_.of(to);
  calls_.append_kernel("aten::clone", "out",
                       {values_.of(from), values_.table().null_value(), out, out});
}

// results = carried
// A: condition | jump to B unless %p | body | results = its outputs | jump to A
// B:
absl::Status MethodWriter::write_while_loop(const Node& node) {
  const Graph& condition = *node.regions()[0];
  const Graph& body = *node.regions()[1];
  const std::vector<Value*> carried = region_values(node).carried;
  for (size_t i = 0; i < carried.size(); ++i) write_copy(carried[i], node.result(i));
  const size_t begin = calls_.size();
  PETREL_RETURN_IF_ERROR(write_steps(condition));
  const size_t to_end = calls_.reserve_jump();
  PETREL_RETURN_IF_ERROR(write_steps(body));
  for (size_t i = 0; i < carried.size(); ++i) write_copy(body.outputs()[i], node.result(i));
  const size_t again = calls_.reserve_jump();
  calls_.set_jump(again, values_.table().bool_value(false), begin);
  calls_.set_jump(to_end, values_.of(condition.outputs()[0]), calls_.size());
  return absl::OkStatus();
}

// first results = carried
// %n = number of rows
// A: rows %i of all operands | body
//    its outputs become the first results and rows %i of the others
// %i = %i + 1 | jump to A unless %i is %n | %i = %i - %n, for the next call
absl::Status MethodWriter::write_rows(const Node& node) {
  const Graph& body = *node.regions()[0];
  const auto [carried, rows, operands] = region_values(node);
  for (size_t i = 0; i < carried.size(); ++i) write_copy(carried[i], node.result(i));
  const TensorType& type = rows[0]->tensor();
  if (!type.varies(0) && type.sizes[0] == 0) return absl::OkStatus();
  const auto number = [&](const char* name, int32_t a, int32_t b, int32_t out) {
    calls_.append_kernel(absl::StrCat("executorch_prim::", name), "Scalar", {a, b, out});
  };
  const int32_t zero = values_.table().int_value(0);
  const int32_t count = values_.table().add_scalar(Type::Kind::kInt);
  const int32_t index = values_.table().add_scalar(Type::Kind::kInt);
  const int32_t done = values_.table().add_scalar(Type::Kind::kBool);
  calls_.append_kernel("aten::sym_size", "int", {values_.of(rows[0]), zero, count});
  const size_t begin = calls_.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    const int32_t row = values_.of(body.inputs()[carried.size() + i]);
    calls_.append_kernel("aten::select_copy", "int_out",
                         {values_.of(rows[i]), zero, index, row, row});
  }
  PETREL_RETURN_IF_ERROR(write_steps(body));
  for (size_t i = 0; i < carried.size(); ++i) write_copy(body.outputs()[i], node.result(i));
  for (size_t i = carried.size(); i < node.num_results(); ++i) {
    calls_.append_kernel("executorch_prim::et_copy_index", "tensor",
                         {values_.of(node.result(i)), values_.of(body.outputs()[i]), index});
  }
  number("add", index, values_.table().int_value(1), index);
  number("eq", index, count, done);
  const size_t again = calls_.reserve_jump();
  calls_.set_jump(again, done, begin);
  number("sub", index, count, index);
  return absl::OkStatus();
}

absl::Status MethodWriter::write_steps(const Graph& graph) {
  for (const Node* node : storage_.steps_of(graph)) {
    if (is_dropped(*node)) continue;
    absl::Status status = node->delegate() != nullptr                   ? write_delegate_call(*node)
                          : node->is(petrel_ops::cond)                  ? write_cond(*node)
                          : node->is(petrel_ops::while_loop)            ? write_while_loop(*node)
                          : node->is(petrel_ops::map, petrel_ops::scan) ? write_rows(*node)
                                                                        : write_kernel_call(*node);
    PETREL_RETURN_IF_ERROR(annotate(status, node->describe()));
    first_callers_.resize(calls_.operators().size(), node);
  }
  return absl::OkStatus();
}

void MethodWriter::write_state(const BufferWrite& write) {
  if (storage_.root(write.value) == write.buffer) return;  // it is there
  const int32_t buffer = values_.of(write.buffer);
  const int32_t value = values_.of(write.value);
  calls_.append_kernel("aten::copy_", "",
                       {buffer, value, values_.table().bool_value(false), buffer});
}

std::vector<KernelUse> MethodWriter::kernels() const {
  std::vector<KernelUse> uses;
  for (size_t i = 0; i < calls_.kernel_names().size(); ++i) {
    const std::string& kernel = calls_.kernel_names()[i];
    uses.push_back({kernel, calls_.kernels().at(kernel), first_callers_[i]});
  }
  return uses;
}

absl::StatusOr<flatbuffers::Offset<fb::ExecutionPlan>> MethodWriter::write(
    const std::string& name, const Signature& signature) {
  std::vector<int32_t> inputs;
  for (const Value* input : graph_.inputs()) inputs.push_back(values_.of(input));
  PETREL_RETURN_IF_ERROR(annotate(write_steps(graph_), absl::StrCat("method '", name, "'")));
  for (const BufferWrite& write : graph_.buffer_writes()) {
    write_state(write);
    first_callers_.resize(calls_.operators().size(), write.value->producer());
  }
  const size_t num_outputs = graph_.outputs().size() + signature.fixed_outputs.size();
  auto computed = graph_.outputs().begin();
  std::vector<int32_t> outputs;
  for (size_t i = 0; i < num_outputs; ++i) {
    const auto fixed = signature.fixed_outputs.find(i);
    outputs.push_back(fixed == signature.fixed_outputs.end() ? values_.of(*computed++)
                                                             : values_.of_fixed(fixed->second));
  }

  const std::vector<int32_t> none;
  const auto chain_inputs = builder_.CreateVector(none);
  const auto chain_outputs = builder_.CreateVector(none);
  const auto instructions = builder_.CreateVector(calls_.instructions());
  const std::vector<flatbuffers::Offset<fb::Chain>> chains = {
      fb::CreateChain(builder_, chain_inputs, chain_outputs, instructions)};

  std::vector<int64_t> arenas = {0};
  if (!plan_.pool_bytes.empty()) {
    arenas.insert(arenas.end(), plan_.pool_bytes.begin(), plan_.pool_bytes.end());
  } else if (plan_.arena_bytes > 0 || values_.has_state()) {
    arenas.push_back(plan_.arena_bytes);
  }
  if (values_.has_state()) arenas.push_back(state_.arena_bytes);
  const auto stored_name = builder_.CreateString(name);
  const auto in_spec = builder_.CreateString(signature.in_spec);
  const auto out_spec = builder_.CreateString(signature.out_spec);
  const auto containers = fb::CreateContainerMetadata(builder_, in_spec, out_spec);
  const auto stored_values = builder_.CreateVector(values_.table().entries());
  const auto stored_inputs = builder_.CreateVector(inputs);
  const auto stored_outputs = builder_.CreateVector(outputs);
  const auto stored_chains = builder_.CreateVector(chains);
  const auto operators = builder_.CreateVector(calls_.operators());
  const auto delegates = builder_.CreateVector(delegates_);
  const auto stored_arenas = builder_.CreateVector(arenas);
  return fb::CreateExecutionPlan(builder_, stored_name, containers, stored_values, stored_inputs,
                                 stored_outputs, stored_chains, operators, delegates,
                                 stored_arenas);
}

}  // namespace petrel::exir
