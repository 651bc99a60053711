// SPDX-License-Identifier: Apache-2.0
#include "test/faults/recipe.h"

#include <algorithm>
#include <cstring>

namespace petrel::faults {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using Text = Offset<flatbuffers::String>;

constexpr size_t kHeaderSize = 32;
constexpr size_t kSegmentAlignment = 16;

// Recipe::without_empty_lists of the file being built.
thread_local bool leave_out_empty = false;

Text make_text(FlatBufferBuilder& builder, const std::optional<std::string>& text) {
  return text.has_value() ? builder.CreateString(*text) : Text();
}

template <typename T>
Offset<flatbuffers::Vector<uint8_t>> make_bytes(FlatBufferBuilder& builder, const T& bytes) {
  builder.ForceVectorAlignment(bytes.size(), 1, 16);
  return builder.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// The vector, or its absence.
template <typename T>
Offset<flatbuffers::Vector<T>> make_list(FlatBufferBuilder& builder, const std::vector<T>& items) {
  return items.empty() && leave_out_empty ? 0 : builder.CreateVector(items);
}

std::vector<int32_t> to_int32(const std::vector<int64_t>& items) {
  return std::vector<int32_t>(items.begin(), items.end());
}

Offset<void> make_tensor(FlatBufferBuilder& builder, const ValueRecipe& value) {
  const auto sizes = value.without_sizes ? 0 : builder.CreateVector(value.sizes);
  const auto dim_order = value.without_dim_order ? 0 : builder.CreateVector(value.dim_order);
  Offset<fb::AllocationDetails> place;
  if (value.place.has_value()) {
    place = fb::CreateAllocationDetails(builder, value.place->memory_id,
                                        static_cast<uint32_t>(value.place->offset),
                                        static_cast<uint32_t>(value.place->offset >> 32));
  }
  Offset<fb::ExtraTensorInfo> extra;
  if (value.extra.has_value()) {
    const Text name = make_text(builder, value.extra->name);
    extra = fb::CreateExtraTensorInfo(builder, 0, name, value.extra->location, value.extra->device);
  }
  return fb::CreateTensor(builder, static_cast<fb::ScalarType>(value.scalar_type),
                          value.storage_offset, sizes, dim_order, false, value.constant, place,
                          value.layout, static_cast<fb::TensorShapeDynamism>(value.dynamism), extra)
      .Union();
}

Offset<void> make_body(FlatBufferBuilder& builder, const ValueRecipe& value) {
  switch (value.type) {
    case fb::KernelTypes::Int:
      return fb::CreateInt(builder, static_cast<int64_t>(value.number)).Union();
    case fb::KernelTypes::Bool:
      return fb::CreateBool(builder, value.number != 0).Union();
    case fb::KernelTypes::Double:
      return fb::CreateDouble(builder, value.number).Union();
    case fb::KernelTypes::Tensor:
      return make_tensor(builder, value);
    case fb::KernelTypes::String: {
      const Text text = make_text(builder, value.text);
      return fb::CreateString(builder, text).Union();
    }
    case fb::KernelTypes::IntList:
      return fb::CreateIntList(builder, make_list(builder, value.items)).Union();
    case fb::KernelTypes::DoubleList:
      return fb::CreateDoubleList(
                 builder,
                 make_list(builder, std::vector<double>(value.items.begin(), value.items.end())))
          .Union();
    case fb::KernelTypes::BoolList:
      return fb::CreateBoolList(
                 builder,
                 make_list(builder, std::vector<uint8_t>(value.items.begin(), value.items.end())))
          .Union();
    case fb::KernelTypes::TensorList:
      return fb::CreateTensorList(builder, make_list(builder, to_int32(value.items))).Union();
    case fb::KernelTypes::OptionalTensorList:
      return fb::CreateOptionalTensorList(builder, make_list(builder, to_int32(value.items)))
          .Union();
    default:
      return fb::CreateNull(builder).Union();
  }
}

Offset<fb::EValue> make_value(FlatBufferBuilder& builder, const ValueRecipe& value) {
  const Offset<void> body = value.without_body ? Offset<void>() : make_body(builder, value);
  return fb::CreateEValue(builder, value.type, body);
}

Offset<fb::Instruction> make_instruction(FlatBufferBuilder& builder,
                                         const InstructionRecipe& recipe) {
  Offset<void> body;
  if (!recipe.without_body) {
    switch (recipe.type) {
      case fb::InstructionArguments::DelegateCall:
        body =
            fb::CreateDelegateCall(builder, recipe.first, make_list(builder, recipe.args)).Union();
        break;
      case fb::InstructionArguments::MoveCall:
        body = fb::CreateMoveCall(builder, recipe.first, recipe.second).Union();
        break;
      case fb::InstructionArguments::JumpFalseCall:
        body = fb::CreateJumpFalseCall(builder, recipe.first, recipe.second).Union();
        break;
      case fb::InstructionArguments::FreeCall:
        body = fb::CreateFreeCall(builder, recipe.first).Union();
        break;
      default:
        body = fb::CreateKernelCall(builder, recipe.first, make_list(builder, recipe.args)).Union();
    }
  }
  return fb::CreateInstruction(builder, recipe.type, body);
}

Offset<fb::BackendDelegate> make_delegate(FlatBufferBuilder& builder,
                                          const DelegateRecipe& recipe) {
  std::vector<Offset<fb::CompileSpec>> specs;
  for (const auto& [key, value] : recipe.specs) {
    const Text key_text = make_text(builder, key);
    const auto bytes = make_list(builder, std::vector<uint8_t>(value.begin(), value.end()));
    specs.push_back(fb::CreateCompileSpec(builder, key_text, bytes));
  }
  const Text id = make_text(builder, recipe.id);
  Offset<fb::BackendDelegateDataReference> payload;
  if (!recipe.without_payload) {
    payload = fb::CreateBackendDelegateDataReference(
        builder, static_cast<fb::DataLocation>(recipe.location), recipe.index);
  }
  return fb::CreateBackendDelegate(builder, id, payload, make_list(builder, specs));
}

Offset<fb::ExecutionPlan> make_plan(FlatBufferBuilder& builder, const PlanRecipe& recipe) {
  std::vector<Offset<fb::EValue>> values;
  for (const ValueRecipe& value : recipe.values) values.push_back(make_value(builder, value));
  std::vector<Offset<fb::Chain>> chains;
  for (const std::vector<InstructionRecipe>& chain : recipe.chains) {
    std::vector<Offset<fb::Instruction>> instructions;
    for (const InstructionRecipe& instruction : chain) {
      instructions.push_back(make_instruction(builder, instruction));
    }
    chains.push_back(fb::CreateChain(builder, 0, 0, make_list(builder, instructions)));
  }
  std::vector<Offset<fb::Operator>> operators;
  for (const OperatorRecipe& op : recipe.operators) {
    const Text name = make_text(builder, op.name);
    const Text overload = make_text(builder, op.overload);
    operators.push_back(fb::CreateOperator(builder, name, overload));
  }
  std::vector<Offset<fb::BackendDelegate>> delegates;
  for (const DelegateRecipe& delegate : recipe.delegates) {
    delegates.push_back(make_delegate(builder, delegate));
  }
  std::vector<Offset<fb::NonConstBufferDevice>> devices;
  for (const auto& [arena, device] : recipe.devices) {
    devices.push_back(fb::CreateNonConstBufferDevice(builder, arena, device));
  }
  const Text name = make_text(builder, recipe.name);
  const auto value_vector = recipe.without_values ? 0 : make_list(builder, values);
  const auto inputs = make_list(builder, recipe.inputs);
  const auto outputs = make_list(builder, recipe.outputs);
  const auto chain_vector = make_list(builder, chains);
  const auto operator_vector = make_list(builder, operators);
  const auto delegate_vector = make_list(builder, delegates);
  const auto arenas = make_list(builder, recipe.arenas);
  const auto device_vector = make_list(builder, devices);
  return fb::CreateExecutionPlan(builder, name, 0, value_vector, inputs, outputs, chain_vector,
                                 operator_vector, delegate_vector, arenas, device_vector);
}

Offset<fb::SubsegmentOffsets> make_entries(FlatBufferBuilder& builder,
                                           const EntriesRecipe& entries) {
  return fb::CreateSubsegmentOffsets(builder, entries.segment, make_list(builder, entries.offsets));
}

size_t align_up(size_t value) { return (value + kSegmentAlignment - 1) & ~(kSegmentAlignment - 1); }

void write_number(std::vector<uint8_t>* bytes, size_t position, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    (*bytes)[position + i] = static_cast<uint8_t>(value >> (8 * i));
  }
}

}  // namespace

Recipe::Recipe() {
  PlanRecipe plan;
  plan.values.push_back(planned_tensor({2, 3}, 0));
  ValueRecipe constant = planned_tensor({3}, 0);
  constant.place.reset();
  constant.constant = 1;
  plan.values.push_back(constant);
  plan.values.push_back(number_value(fb::KernelTypes::Int, 1));
  plan.values.push_back(planned_tensor({2, 3}, 32));
  plan.inputs = {0};
  plan.outputs = {3};
  plan.operators = {{"aten::add", "out"}};
  InstructionRecipe call;
  call.args = {0, 1, 2, 3, 3};
  plan.chains = {{call}};
  plan.arenas = {0, 64};
  plans.push_back(plan);
  const float values[3] = {10, 20, 30};
  segments.emplace_back(sizeof(values));
  std::memcpy(segments[0].data(), values, sizeof(values));
  constants = EntriesRecipe{0, {0, 0}};
}

std::vector<uint8_t> build(const Recipe& recipe) {
  leave_out_empty = recipe.without_empty_lists;
  FlatBufferBuilder builder;
  std::vector<Offset<fb::ExecutionPlan>> plans;
  for (const PlanRecipe& plan : recipe.plans) plans.push_back(make_plan(builder, plan));
  std::vector<Offset<fb::Buffer>> buffers;
  for (const auto& buffer : recipe.constant_buffers) {
    buffers.push_back(fb::CreateBuffer(builder, make_bytes(builder, buffer)));
  }
  std::vector<Offset<fb::BackendDelegateInlineData>> payloads;
  for (const auto& payload : recipe.inline_payloads) {
    payloads.push_back(fb::CreateBackendDelegateInlineData(builder, make_bytes(builder, payload)));
  }
  std::vector<Offset<fb::DataSegment>> segments;
  std::vector<size_t> offsets;
  size_t end = 0;
  for (size_t i = 0; i < recipe.segments.size(); ++i) {
    offsets.push_back(align_up(end));
    end = offsets[i] + recipe.segments[i].size();
    uint64_t offset = offsets[i];
    uint64_t size = recipe.segments[i].size();
    if (recipe.change_segment) recipe.change_segment(i, &offset, &size);
    segments.push_back(fb::CreateDataSegment(builder, offset, size));
  }
  Offset<fb::SubsegmentOffsets> constants;
  if (recipe.constants.has_value()) constants = make_entries(builder, *recipe.constants);
  std::vector<Offset<fb::SubsegmentOffsets>> mutable_data;
  for (const EntriesRecipe& entries : recipe.mutable_data) {
    mutable_data.push_back(make_entries(builder, entries));
  }
  std::vector<Offset<fb::NamedData>> named_data;
  for (const auto& [key, segment] : recipe.named_data) {
    const Text text = make_text(builder, key);
    named_data.push_back(fb::CreateNamedData(builder, text, segment));
  }
  const auto plan_vector = recipe.without_plans ? 0 : make_list(builder, plans);
  const auto buffer_vector = make_list(builder, buffers);
  const auto payload_vector = make_list(builder, payloads);
  const auto segment_vector = make_list(builder, segments);
  const auto mutable_vector = make_list(builder, mutable_data);
  const auto named_vector = make_list(builder, named_data);
  fb::FinishProgramBuffer(builder, fb::CreateProgram(builder, recipe.version, plan_vector,
                                                     buffer_vector, payload_vector, segment_vector,
                                                     constants, mutable_vector, named_vector));

  std::vector<uint8_t> bytes(builder.GetBufferPointer(),
                             builder.GetBufferPointer() + builder.GetSize());
  if (!recipe.with_header) return bytes;
  bytes.insert(bytes.begin() + 8, kHeaderSize, 0);
  uint32_t root = 0;
  std::memcpy(&root, bytes.data(), 4);
  write_number(&bytes, 0, root + kHeaderSize, 4);
  std::memcpy(bytes.data() + 8, "eh00", 4);
  write_number(&bytes, 12, recipe.header_length, 4);
  write_number(&bytes, 16, bytes.size(), 8);
  const size_t base = align_up(bytes.size());
  write_number(&bytes, 24, base, 8);
  if (recipe.header_length >= 32) write_number(&bytes, 32, end, 8);
  bytes.resize(base + end);
  for (size_t i = 0; i < recipe.segments.size(); ++i) {
    std::copy(recipe.segments[i].begin(), recipe.segments[i].end(),
              bytes.begin() + static_cast<ptrdiff_t>(base + offsets[i]));
  }
  return bytes;
}

ValueRecipe planned_tensor(std::vector<int32_t> sizes, uint64_t offset) {
  ValueRecipe value;
  value.sizes = std::move(sizes);
  for (size_t i = 0; i < value.sizes.size(); ++i) {
    value.dim_order.push_back(static_cast<uint8_t>(i));
  }
  value.place = PlaceRecipe{1, offset};
  return value;
}

ValueRecipe number_value(fb::KernelTypes type, double number) {
  ValueRecipe value;
  value.type = type;
  value.number = number;
  return value;
}

ValueRecipe list_value(fb::KernelTypes type, std::vector<int64_t> items) {
  ValueRecipe value;
  value.type = type;
  value.items = std::move(items);
  return value;
}

}  // namespace petrel::faults
