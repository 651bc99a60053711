// SPDX-License-Identifier: Apache-2.0
#include "runtime/program/program_view.h"

#include <iterator>
#include <utility>

#include "runtime/program/flat_parts.h"
#include "schema/program_generated.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

template <typename T>
T number(const flatbuffers::Vector<T>* vector, uint32_t index) {
  return items_of(vector).at(index);
}

// The content of a value of type T; null of another.
const void* content_of(const fb::EValue& value, fb::KernelTypes type) {
  return value.val_type() == type ? value.val() : nullptr;
}
template <typename T>
const T* content_of(const fb::EValue& value) {
  return static_cast<const T*>(content_of(value, fb::KernelTypesTraits<T>::enum_value));
}

// The items of a value of list type T. Their field is the first one of each.
const void* items_in(const fb::EValue& value, fb::KernelTypes type) {
  const auto* const list = static_cast<const fb::IntList*>(content_of(value, type));
  return list == nullptr ? nullptr : list->items();
}
template <typename T>
auto items_in(const fb::EValue& value) {
  static_assert(int{T::VT_ITEMS} == int{fb::IntList::VT_ITEMS});
  using Items = decltype(std::declval<T>().items());
  return items_of(static_cast<Items>(items_in(value, fb::KernelTypesTraits<T>::enum_value)));
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
  // By the type that the file says.
  static constexpr Tag kTags[] = {
      Tag::None,       Tag::None,     Tag::Int,        Tag::Bool,
      Tag::Double,     Tag::Tensor,   Tag::String,     Tag::ListInt,
      Tag::ListDouble, Tag::ListBool, Tag::ListTensor, Tag::ListOptionalTensor,
  };
  static_assert(static_cast<size_t>(fb::KernelTypes::MAX) + 1 == std::size(kTags));
  const auto type = static_cast<size_t>(value_->val_type());
  return type < std::size(kTags) ? kTags[type] : Tag::None;
}

int64_t ValueView::as_int() const {
  const auto* const value = content_of<fb::Int>(*value_);
  return value == nullptr ? 0 : value->int_val();
}

bool ValueView::as_bool() const {
  const auto* const value = content_of<fb::Bool>(*value_);
  return value != nullptr && value->bool_val();
}

double ValueView::as_double() const {
  const auto* const value = content_of<fb::Double>(*value_);
  return value == nullptr ? 0 : value->double_val();
}

std::string_view ValueView::as_string() const {
  const auto* const value = content_of<fb::String>(*value_);
  return text_of(value == nullptr ? nullptr : value->string_val());
}

std::optional<TensorView> ValueView::as_tensor() const {
  const auto* const tensor = content_of<fb::Tensor>(*value_);
  if (tensor == nullptr) return std::nullopt;
  return view_of(*tensor);
}

std::string_view ValueView::tensor_name() const {
  const auto* const tensor = content_of<fb::Tensor>(*value_);
  if (tensor == nullptr || tensor->extra_tensor_info() == nullptr) return {};
  return text_of(tensor->extra_tensor_info()->fully_qualified_name());
}

Span<const uint8_t> ValueView::bool_items() const { return items_in<fb::BoolList>(*value_); }

Span<const double> ValueView::double_items() const { return items_in<fb::DoubleList>(*value_); }

Span<const int64_t> ValueView::int_items() const { return items_in<fb::IntList>(*value_); }

Span<const int32_t> ValueView::tensor_items() const {
  const Span<const int32_t> items = items_in<fb::TensorList>(*value_);
  return items.empty() ? items_in<fb::OptionalTensorList>(*value_) : items;
}

InstructionView view_of(const fb::Instruction& from) {
  using Kind = InstructionView::Kind;
  using Type = fb::InstructionArguments;
  static_assert(static_cast<int>(Type::KernelCall) == static_cast<int>(Kind::Kernel) + 1 &&
                static_cast<int>(Type::DelegateCall) == static_cast<int>(Kind::Delegate) + 1 &&
                static_cast<int>(Type::MoveCall) == static_cast<int>(Kind::Move) + 1 &&
                static_cast<int>(Type::JumpFalseCall) == static_cast<int>(Kind::Jump) + 1 &&
                static_cast<int>(Type::FreeCall) == static_cast<int>(Kind::Free) + 1);
  // Each has an index first, then another, or arguments, or nothing.
  constexpr int kFirst = fb::MoveCall::VT_MOVE_FROM;
  constexpr int kSecond = fb::MoveCall::VT_MOVE_TO;
  static_assert(fb::KernelCall::VT_OP_INDEX == kFirst && fb::KernelCall::VT_ARGS == kSecond &&
                fb::DelegateCall::VT_DELEGATE_INDEX == kFirst &&
                fb::DelegateCall::VT_ARGS == kSecond &&
                fb::JumpFalseCall::VT_COND_VALUE_INDEX == kFirst &&
                fb::JumpFalseCall::VT_DESTINATION_INSTRUCTION == kSecond &&
                fb::FreeCall::VT_VALUE_INDEX == kFirst);
  InstructionView view;
  view.kind = static_cast<Kind>(static_cast<uint8_t>(from.instr_args_type()) - 1);
  const void* const content = from.instr_args();
  const auto& move = *static_cast<const fb::MoveCall*>(content);
  const auto first = static_cast<uint32_t>(move.move_from());
  if (view.kind == Kind::Kernel || view.kind == Kind::Delegate) {
    view.target = first;
    view.args = items_of(static_cast<const fb::KernelCall*>(content)->args());
    return view;
  }
  view.from = first;
  if (view.kind == Kind::Move) view.to = static_cast<uint32_t>(move.move_to());
  if (view.kind == Kind::Jump) view.target = static_cast<uint32_t>(move.move_to());
  return view;
}

uint32_t ChainView::num_instructions() const { return size_of(chain_->instructions()); }

InstructionView ChainView::instruction(uint32_t index) const {
  return view_of(entry(chain_->instructions(), index));
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

uint32_t ProgramView::find_named_data(std::string_view key, uint32_t begin) const {
  const uint32_t count = num_named_data();
  while (begin < count && named_data(begin).key != key) ++begin;
  return begin;
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
