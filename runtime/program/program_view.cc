// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_view.h"

#include "schema/program_generated.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

template <typename T>
uint32_t size_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// An entry of a list, which is a table; the process ends if there is none.
template <typename T>
auto& entry(const flatbuffers::Vector<T>* vector, uint32_t index) {
  if (index >= size_of(vector)) __builtin_trap();
  return *vector->Get(index);
}

template <typename T>
T number(const flatbuffers::Vector<T>* vector, uint32_t index) {
  if (index >= size_of(vector)) __builtin_trap();
  return vector->Get(index);
}

template <typename T>
Span<const T> items_of(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr) return {};
  return {reinterpret_cast<const T*>(vector->Data()), vector->size()};
}

// With a data() that is a C string, also when it is empty.
std::string_view text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view("") : std::string_view(text->c_str(), text->size());
}

TensorView view_of(const fb::Tensor& tensor) {
  TensorView view;
  view.scalar_type = static_cast<ScalarType>(tensor.scalar_type());
  view.sizes = items_of(tensor.sizes());
  view.dim_order = items_of(tensor.dim_order());
  view.dynamism = static_cast<TensorShapeDynamism>(tensor.shape_dynamism());
  view.data_index = tensor.data_buffer_idx();
  if (const fb::AllocationDetails* const place = tensor.allocation_info(); place != nullptr) {
    view.arena = place->memory_id();
    view.arena_offset = uint64_t{place->memory_offset_high()} << 32 | place->memory_offset_low();
  }
  if (const fb::ExtraTensorInfo* const extra = tensor.extra_tensor_info(); extra != nullptr) {
    view.is_external = extra->location() == fb::TensorDataLocation::EXTERNAL;
    view.name = text_of(extra->fully_qualified_name());
  }
  return view;
}

}  // namespace

size_t TensorView::nbytes() const {
  size_t bytes = element_size(scalar_type);
  for (const int32_t size : sizes) bytes *= static_cast<size_t>(size);
  return bytes;
}

Tag ValueView::tag() const {
  switch (value_->val_type()) {
    case fb::KernelTypes::Int:
      return Tag::Int;
    case fb::KernelTypes::Bool:
      return Tag::Bool;
    case fb::KernelTypes::Double:
      return Tag::Double;
    case fb::KernelTypes::Tensor:
      return Tag::Tensor;
    case fb::KernelTypes::String:
      return Tag::String;
    case fb::KernelTypes::IntList:
      return Tag::ListInt;
    case fb::KernelTypes::DoubleList:
      return Tag::ListDouble;
    case fb::KernelTypes::BoolList:
      return Tag::ListBool;
    case fb::KernelTypes::TensorList:
      return Tag::ListTensor;
    case fb::KernelTypes::OptionalTensorList:
      return Tag::ListOptionalTensor;
    default:
      return Tag::None;
  }
}

int64_t ValueView::as_int() const {
  const fb::Int* const value = value_->val_as_Int();
  return value == nullptr ? 0 : value->int_val();
}

bool ValueView::as_bool() const {
  const fb::Bool* const value = value_->val_as_Bool();
  return value != nullptr && value->bool_val();
}

double ValueView::as_double() const {
  const fb::Double* const value = value_->val_as_Double();
  return value == nullptr ? 0 : value->double_val();
}

std::string_view ValueView::as_string() const {
  const fb::String* const value = value_->val_as_String();
  return text_of(value == nullptr ? nullptr : value->string_val());
}

std::optional<TensorView> ValueView::as_tensor() const {
  const fb::Tensor* const tensor = value_->val_as_Tensor();
  if (tensor == nullptr) return std::nullopt;
  return view_of(*tensor);
}

std::string_view ValueView::tensor_name() const {
  const fb::Tensor* const tensor = value_->val_as_Tensor();
  if (tensor == nullptr || tensor->extra_tensor_info() == nullptr) return {};
  return text_of(tensor->extra_tensor_info()->fully_qualified_name());
}

Span<const uint8_t> ValueView::bool_items() const {
  const fb::BoolList* const list = value_->val_as_BoolList();
  return items_of(list == nullptr ? nullptr : list->items());
}

Span<const double> ValueView::double_items() const {
  const fb::DoubleList* const list = value_->val_as_DoubleList();
  return items_of(list == nullptr ? nullptr : list->items());
}

Span<const int64_t> ValueView::int_items() const {
  const fb::IntList* const list = value_->val_as_IntList();
  return items_of(list == nullptr ? nullptr : list->items());
}

Span<const int32_t> ValueView::tensor_items() const {
  if (const fb::TensorList* const list = value_->val_as_TensorList(); list != nullptr) {
    return items_of(list->items());
  }
  const fb::OptionalTensorList* const list = value_->val_as_OptionalTensorList();
  return items_of(list == nullptr ? nullptr : list->items());
}

uint32_t ChainView::num_instructions() const { return size_of(chain_->instructions()); }

InstructionView ChainView::instruction(uint32_t index) const {
  const fb::Instruction& from = entry(chain_->instructions(), index);
  InstructionView view;
  switch (from.instr_args_type()) {
    case fb::InstructionArguments::KernelCall: {
      const fb::KernelCall& call = *from.instr_args_as_KernelCall();
      view.kind = InstructionView::Kind::Kernel;
      view.target = static_cast<uint32_t>(call.op_index());
      view.args = items_of(call.args());
      break;
    }
    case fb::InstructionArguments::DelegateCall: {
      const fb::DelegateCall& call = *from.instr_args_as_DelegateCall();
      view.kind = InstructionView::Kind::Delegate;
      view.target = static_cast<uint32_t>(call.delegate_index());
      view.args = items_of(call.args());
      break;
    }
    case fb::InstructionArguments::MoveCall: {
      const fb::MoveCall& call = *from.instr_args_as_MoveCall();
      view.kind = InstructionView::Kind::Move;
      view.from = static_cast<uint32_t>(call.move_from());
      view.to = static_cast<uint32_t>(call.move_to());
      break;
    }
    case fb::InstructionArguments::JumpFalseCall: {
      const fb::JumpFalseCall& call = *from.instr_args_as_JumpFalseCall();
      view.kind = InstructionView::Kind::Jump;
      view.from = static_cast<uint32_t>(call.cond_value_index());
      view.target = static_cast<uint32_t>(call.destination_instruction());
      break;
    }
    case fb::InstructionArguments::FreeCall:
      view.from = static_cast<uint32_t>(from.instr_args_as_FreeCall()->value_index());
      break;
    default:
      __builtin_trap();  // The verifier refused the program.
  }
  return view;
}

std::string_view DelegateView::backend() const { return text_of(delegate_->id()); }

bool DelegateView::is_segment() const {
  return delegate_->processed()->location() == fb::DataLocation::SEGMENT;
}

uint32_t DelegateView::payload() const { return delegate_->processed()->index(); }

uint32_t DelegateView::num_specs() const { return size_of(delegate_->compile_specs()); }

CompileSpecView DelegateView::spec(uint32_t index) const {
  const fb::CompileSpec& spec = entry(delegate_->compile_specs(), index);
  return {text_of(spec.key()), items_of(spec.value())};
}

std::string_view MethodView::name() const { return text_of(plan_->name()); }

Span<const int32_t> MethodView::inputs() const { return items_of(plan_->inputs()); }

Span<const int32_t> MethodView::outputs() const { return items_of(plan_->outputs()); }

uint32_t MethodView::num_values() const { return size_of(plan_->values()); }

ValueView MethodView::value(uint32_t index) const {
  return ValueView(&entry(plan_->values(), index));
}

uint32_t MethodView::num_operators() const { return size_of(plan_->operators()); }

OperatorView MethodView::op(uint32_t index) const {
  const fb::Operator& op = entry(plan_->operators(), index);
  return {text_of(op.name()), text_of(op.overload())};
}

uint32_t MethodView::num_delegates() const { return size_of(plan_->delegates()); }

DelegateView MethodView::delegate(uint32_t index) const {
  return DelegateView(&entry(plan_->delegates(), index));
}

uint32_t MethodView::num_chains() const { return size_of(plan_->chains()); }

ChainView MethodView::chain(uint32_t index) const {
  return ChainView(&entry(plan_->chains(), index));
}

uint32_t MethodView::num_arenas() const {
  const uint32_t count = size_of(plan_->non_const_buffer_sizes());
  return count == 0 ? 0 : count - 1;  // Entry 0 is reserved.
}

uint64_t MethodView::arena_bytes(uint32_t arena) const {
  return static_cast<uint64_t>(number(plan_->non_const_buffer_sizes(), arena));
}

std::string_view MethodView::output_encoding() const {
  const fb::ContainerMetadata* const metadata = plan_->container_meta_type();
  return text_of(metadata == nullptr ? nullptr : metadata->encoded_out_str());
}

uint32_t ProgramView::num_methods() const { return size_of(program_->execution_plan()); }

MethodView ProgramView::method(uint32_t index) const {
  return MethodView(&entry(program_->execution_plan(), index), index);
}

std::optional<MethodView> ProgramView::find_method(std::string_view name) const {
  for (uint32_t i = 0; i < num_methods(); ++i) {
    if (method(i).name() == name) return method(i);
  }
  return std::nullopt;
}

uint32_t ProgramView::num_segments() const { return size_of(program_->segments()); }

SegmentView ProgramView::segment(uint32_t index) const {
  const fb::DataSegment& segment = entry(program_->segments(), index);
  return {segment.offset(), segment.size()};
}

uint32_t ProgramView::num_named_data() const { return size_of(program_->named_data()); }

NamedDataView ProgramView::named_data(uint32_t index) const {
  const fb::NamedData& data = entry(program_->named_data(), index);
  return {text_of(data.key()), data.segment_index()};
}

std::optional<uint32_t> ProgramView::constant_segment() const {
  const fb::SubsegmentOffsets* const entries = program_->constant_segment();
  if (entries == nullptr || size_of(entries->offsets()) == 0) return std::nullopt;
  return entries->segment_index();
}

uint64_t ProgramView::constant_offset(uint32_t index) const {
  if (!constant_segment().has_value()) __builtin_trap();
  return number(program_->constant_segment()->offsets(), index);
}

Span<const uint8_t> ProgramView::inline_constant(uint32_t index) const {
  return items_of(entry(program_->constant_buffer(), index).storage());
}

uint32_t ProgramView::num_inline_constants() const { return size_of(program_->constant_buffer()); }

std::optional<uint32_t> ProgramView::state_segment() const {
  if (size_of(program_->mutable_data_segments()) == 0) return std::nullopt;
  return program_->mutable_data_segments()->Get(0)->segment_index();
}

uint64_t ProgramView::state_offset(uint32_t index) const {
  return number(entry(program_->mutable_data_segments(), 0).offsets(), index);
}

Span<const uint8_t> ProgramView::inline_payload(uint32_t index) const {
  return items_of(entry(program_->backend_delegate_data(), index).data());
}

}  // namespace petrel::runtime
