// SPDX-License-Identifier: Apache-2.0
//
// A program as JSON. Program::load has verified the structure before any of it
// is read here, so indices are in range and tables are there.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/xnnpack/format/graph_check.h"
#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/payload_reader.h"
#include "extension/cli/describe.h"
#include "extension/data_loader/file_data_loader.h"
#include "runtime/core/log.h"
#include "runtime/executor/program.h"
#include "schema/additions_generated.h"
#include "schema/program_generated.h"

namespace petrel::extension {
namespace {

namespace pb = schema::program;
namespace xnnpack = backends::xnnpack;
using nlohmann::ordered_json;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Program;
using runtime::Result;

std::string text(const flatbuffers::String* string) {
  return string == nullptr ? "" : string->str();
}

template <typename Vector>
std::string join(const Vector* items, const char* prefix = "") {
  if (items == nullptr) return "[]";
  std::vector<std::string> words;
  for (const auto item : *items) words.push_back(absl::StrCat(prefix, item));
  return absl::StrCat("[", absl::StrJoin(words, ","), "]");
}

std::string describe_tensor(const pb::Tensor& tensor) {
  std::string out =
      absl::StrCat(runtime::to_string(static_cast<runtime::ScalarType>(tensor.scalar_type())),
                   join(tensor.sizes()));
  if (tensor.shape_dynamism() == pb::TensorShapeDynamism::DYNAMIC_BOUND) {
    absl::StrAppend(&out, " at most");
  }
  bool contiguous = true;
  for (uint32_t i = 0; tensor.dim_order() != nullptr && i < tensor.dim_order()->size(); ++i) {
    contiguous = contiguous && tensor.dim_order()->Get(i) == i;
  }
  if (!contiguous) {
    std::vector<int> order(tensor.dim_order()->begin(), tensor.dim_order()->end());
    absl::StrAppend(&out, " dim order ", absl::StrJoin(order, ","));
  }
  const pb::ExtraTensorInfo* extra = tensor.extra_tensor_info();
  if (extra != nullptr && extra->location() == pb::TensorDataLocation::EXTERNAL) {
    absl::StrAppend(&out, " external '", text(extra->fully_qualified_name()), "'");
  } else if (tensor.allocation_info() != nullptr) {
    const pb::AllocationDetails& at = *tensor.allocation_info();
    const uint64_t offset = at.memory_offset_low() | static_cast<uint64_t>(at.memory_offset_high())
                                                         << 32;
    absl::StrAppend(&out, " arena ", at.memory_id(), " offset ", offset);
    if (tensor.data_buffer_idx() > 0) {
      absl::StrAppend(&out, " initial value ", tensor.data_buffer_idx());
    }
  } else if (tensor.data_buffer_idx() > 0) {
    absl::StrAppend(&out, " constant ", tensor.data_buffer_idx());
  } else {
    absl::StrAppend(&out, " memory of the caller");
  }
  return out;
}

std::string describe_value(const pb::EValue& value) {
  switch (value.val_type()) {
    case pb::KernelTypes::Int:
      return absl::StrCat("int ", value.val_as_Int()->int_val());
    case pb::KernelTypes::Bool:
      return absl::StrCat("bool ", value.val_as_Bool()->bool_val() ? "true" : "false");
    case pb::KernelTypes::Double:
      return absl::StrCat("double ", value.val_as_Double()->double_val());
    case pb::KernelTypes::String:
      return absl::StrCat("string \"", text(value.val_as_String()->string_val()), "\"");
    case pb::KernelTypes::Tensor:
      return absl::StrCat("tensor ", describe_tensor(*value.val_as_Tensor()));
    case pb::KernelTypes::IntList:
      return absl::StrCat("ints ", join(value.val_as_IntList()->items(), "%"));
    case pb::KernelTypes::DoubleList:
      return absl::StrCat("doubles ", join(value.val_as_DoubleList()->items()));
    case pb::KernelTypes::BoolList:
      return "bools";
    case pb::KernelTypes::TensorList:
      return absl::StrCat("tensors ", join(value.val_as_TensorList()->items(), "%"));
    case pb::KernelTypes::OptionalTensorList:
      return absl::StrCat("optional tensors ",
                          join(value.val_as_OptionalTensorList()->items(), "%"));
    default:
      return "none";
  }
}

std::string describe_instruction(const pb::ExecutionPlan& plan, const pb::Instruction& i) {
  switch (i.instr_args_type()) {
    case pb::InstructionArguments::KernelCall: {
      const pb::KernelCall& call = *i.instr_args_as_KernelCall();
      const pb::Operator& op = *plan.operators()->Get(static_cast<uint32_t>(call.op_index()));
      const std::string overload = text(op.overload());
      return absl::StrCat("kernel ", text(op.name()), overload.empty() ? "" : ".", overload, " ",
                          join(call.args(), "%"));
    }
    case pb::InstructionArguments::DelegateCall: {
      const pb::DelegateCall& call = *i.instr_args_as_DelegateCall();
      return absl::StrCat("delegate ", call.delegate_index(), " ", join(call.args(), "%"));
    }
    case pb::InstructionArguments::MoveCall: {
      const pb::MoveCall& call = *i.instr_args_as_MoveCall();
      return absl::StrCat("move %", call.move_from(), " to %", call.move_to());
    }
    case pb::InstructionArguments::JumpFalseCall: {
      const pb::JumpFalseCall& call = *i.instr_args_as_JumpFalseCall();
      return absl::StrCat("jump to ", call.destination_instruction(), " unless %",
                          call.cond_value_index());
    }
    case pb::InstructionArguments::FreeCall:
      return absl::StrCat("free %", i.instr_args_as_FreeCall()->value_index());
    default:
      return "nothing";
  }
}

// The inner graph of an XNNPACK payload, one line per value and node. False
// when the payload is damaged; the reason is logged.
bool describe_xnnpack(const FreeableBuffer& payload, ordered_json* out) {
  xnnpack::Graph graph;
  xnnpack::Problem problem =
      xnnpack::read_payload(static_cast<const uint8_t*>(payload.data()), payload.size(), &graph);
  if (problem.ok()) problem = xnnpack::check_graph(graph);
  if (!problem.ok()) {
    PETREL_LOG(Error, "XNNPACK payload: %s", problem.text().c_str());
    return false;
  }
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const xnnpack::Value& value = graph.values[id];
    std::string line = absl::StrCat("#", id, " ", schema::xnnpack::EnumNameDatatype(value.datatype),
                                    xnnpack::to_string(value.dims));
    if (value.is_constant()) {
      const xnnpack::ConstantData& constant = graph.constants[value.constant];
      absl::StrAppend(&line, constant.is_named() ? absl::StrCat(" key ", constant.key)
                                                 : std::string(" inline constant"));
    }
    if (value.external_id != xnnpack::kNoId) {
      absl::StrAppend(&line, value.is_input() ? " input " : " output ", value.external_id);
    }
    out->push_back(std::move(line));
  }
  for (const xnnpack::Node& node : graph.nodes) {
    const xnnpack::NodeKindInfo* info = xnnpack::find_node_kind(node.kind);
    out->push_back(absl::StrCat(info == nullptr ? "?" : info->name, " #",
                                absl::StrJoin(node.inputs, " #"), " -> #",
                                absl::StrJoin(node.outputs, " #")));
  }
  return true;
}

Error describe_delegates(const Program& program, const pb::ExecutionPlan& plan, ordered_json* out) {
  for (uint32_t i = 0; i < plan.delegates()->size(); ++i) {
    const pb::BackendDelegate& delegate = *plan.delegates()->Get(i);
    const Result<FreeableBuffer> payload = program.load_delegate_data(plan, i);
    if (!payload.ok()) return payload.error();
    ordered_json json = {{"index", i},
                         {"id", text(delegate.id())},
                         {"payload_bytes", payload->size()},
                         {"compile_specs", ordered_json::array()},
                         {"graph", ordered_json::array()}};
    if (delegate.compile_specs() != nullptr) {
      for (const pb::CompileSpec* spec : *delegate.compile_specs()) {
        json["compile_specs"].push_back(
            {{"key", text(spec->key())},
             {"bytes", spec->value() == nullptr ? 0 : spec->value()->size()}});
      }
    }
    if (text(delegate.id()) == "XnnpackBackend" && !describe_xnnpack(*payload, &json["graph"])) {
      return Error::DelegateInvalidCompatibility;
    }
    out->push_back(std::move(json));
  }
  return Error::Ok;
}

// Temporary memory of kernels, one entry per instruction that has some.
ordered_json describe_scratch(const Program& program, uint32_t method) {
  ordered_json json = ordered_json::array();
  const schema::additions::Additions* table = program.additions().table();
  if (table == nullptr || table->methods() == nullptr) return json;
  const auto* places = table->methods()->Get(method)->scratch();
  for (uint32_t i = 0; places != nullptr && i < places->size(); ++i) {
    const schema::additions::ScratchPlace& place = *places->Get(i);
    json.push_back({{"chain", place.chain()},
                    {"instruction", place.instruction()},
                    {"arena", place.memory_id()},
                    {"offset", place.offset()},
                    {"bytes", place.size()}});
  }
  return json;
}

Error describe_method(const Program& program, uint32_t index, ordered_json* out) {
  const pb::ExecutionPlan& plan = *program.internal_program()->execution_plan()->Get(index);
  ordered_json method = {
      {"name", text(plan.name())},
      {"inputs", std::vector<int>(plan.inputs()->begin(), plan.inputs()->end())},
      {"outputs", std::vector<int>(plan.outputs()->begin(), plan.outputs()->end())}};
  method["arenas"] = ordered_json::array();
  for (uint32_t i = 1; i < plan.non_const_buffer_sizes()->size(); ++i) {
    method["arenas"].push_back(plan.non_const_buffer_sizes()->Get(i));
  }
  method["scratch"] = describe_scratch(program, index);
  method["values"] = ordered_json::array();
  for (uint32_t i = 0; i < plan.values()->size(); ++i) {
    method["values"].push_back(absl::StrCat("%", i, " ", describe_value(*plan.values()->Get(i))));
  }
  method["instructions"] = ordered_json::array();
  for (const pb::Chain* chain : *plan.chains()) {
    for (const pb::Instruction* instruction : *chain->instructions()) {
      method["instructions"].push_back(absl::StrCat(method["instructions"].size(), " ",
                                                    describe_instruction(plan, *instruction)));
    }
  }
  method["delegates"] = ordered_json::array();
  const Error error = describe_delegates(program, plan, &method["delegates"]);
  out->push_back(std::move(method));
  return error;
}

}  // namespace

DescribeResult describe_program(const std::string& path) {
  DescribeResult result;
  Result<FileDataLoader> loader = FileDataLoader::from(path.c_str());
  if (!loader.ok()) {
    result.error = loader.error();
    return result;
  }
  const Result<Program> program = Program::load(&*loader);
  if (!program.ok()) {
    result.error = program.error();
    return result;
  }
  const pb::Program& root = *program->internal_program();
  result.json = {{"file", path},
                 {"kind", "program"},
                 {"bytes", *loader->size()},
                 {"version", root.version()},
                 {"segments", ordered_json::array()},
                 {"named_data", ordered_json::array()},
                 {"methods", ordered_json::array()}};
  for (uint32_t i = 0; root.segments() != nullptr && i < root.segments()->size(); ++i) {
    const pb::DataSegment& segment = *root.segments()->Get(i);
    result.json["segments"].push_back(
        {{"index", i}, {"offset", segment.offset()}, {"bytes", segment.size()}});
  }
  for (uint32_t i = 0; root.named_data() != nullptr && i < root.named_data()->size(); ++i) {
    const pb::NamedData& entry = *root.named_data()->Get(i);
    result.json["named_data"].push_back(
        {{"key", text(entry.key())},
         {"segment", entry.segment_index()},
         {"bytes", root.segments()->Get(entry.segment_index())->size()}});
  }
  for (uint32_t i = 0; i < root.execution_plan()->size(); ++i) {
    result.error = describe_method(*program, i, &result.json["methods"]);
    if (result.error != Error::Ok) return result;
  }
  return result;
}

}  // namespace petrel::extension
