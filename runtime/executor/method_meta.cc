// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/method_meta.h"

#include "runtime/core/log.h"
#include "schema/program_generated.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

template <typename T>
uint32_t size_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

Tag tag_of(const fb::EValue& value) {
  switch (value.val_type()) {
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

Result<const fb::EValue*> find_value(const fb::ExecutionPlan& plan,
                                     const flatbuffers::Vector<int32_t>* indices, size_t index,
                                     const char* what) {
  if (index >= size_of(indices)) {
    PETREL_LOG(Error, "%s %zu of method \"%.64s\" is asked for, but there are %u", what, index,
               plan.name()->c_str(), size_of(indices));
    return Error::InvalidArgument;
  }
  return plan.values()->Get(static_cast<uint32_t>(indices->Get(static_cast<uint32_t>(index))));
}

Result<const fb::Tensor*> tensor_of(const fb::EValue& value) {
  if (value.val_type() != fb::KernelTypes::Tensor) return Error::InvalidType;
  return value.val_as_Tensor();
}

bool is_external(const fb::Tensor& tensor) {
  return tensor.extra_tensor_info() != nullptr &&
         tensor.extra_tensor_info()->location() == fb::TensorDataLocation::EXTERNAL;
}

// The tensor, if it has a name and is no constant of the program: state, or data
// from outside.
const fb::Tensor* attribute_of(const fb::EValue& value) {
  if (value.val_type() != fb::KernelTypes::Tensor) return nullptr;
  const fb::Tensor* const tensor = value.val_as_Tensor();
  const fb::ExtraTensorInfo* const extra = tensor->extra_tensor_info();
  if (extra == nullptr || extra->fully_qualified_name() == nullptr) return nullptr;
  const bool is_inside = tensor->data_buffer_idx() != 0 && tensor->allocation_info() == nullptr;
  if (is_inside && !is_external(*tensor)) return nullptr;
  return extra->fully_qualified_name()->size() == 0 ? nullptr : tensor;
}

}  // namespace

Span<const int32_t> TensorInfo::sizes() const {
  return {tensor_->sizes()->data(), tensor_->sizes()->size()};
}

Span<const uint8_t> TensorInfo::dim_order() const {
  return {tensor_->dim_order()->data(), tensor_->dim_order()->size()};
}

ScalarType TensorInfo::scalar_type() const {
  return static_cast<ScalarType>(tensor_->scalar_type());
}

TensorShapeDynamism TensorInfo::shape_dynamism() const {
  return static_cast<TensorShapeDynamism>(tensor_->shape_dynamism());
}

bool TensorInfo::is_memory_planned() const { return tensor_->allocation_info() != nullptr; }

bool TensorInfo::is_constant() const {
  return !is_memory_planned() && (tensor_->data_buffer_idx() != 0 || is_external(*tensor_));
}

size_t TensorInfo::nbytes() const {
  // Verified not to overflow.
  size_t bytes = element_size(scalar_type());
  for (const int32_t size : sizes()) bytes *= static_cast<size_t>(size);
  return bytes;
}

size_t TensorInfo::arena() const {
  // Verified to be at least 1.
  return size_t{tensor_->allocation_info()->memory_id()} - 1;
}

size_t TensorInfo::arena_offset() const {
  const fb::AllocationDetails& details = *tensor_->allocation_info();
  return static_cast<size_t>(uint64_t{details.memory_offset_high()} << 32 |
                             details.memory_offset_low());
}

std::string_view TensorInfo::name() const {
  const fb::ExtraTensorInfo* const extra = tensor_->extra_tensor_info();
  if (extra == nullptr || extra->fully_qualified_name() == nullptr) return {};
  return {extra->fully_qualified_name()->c_str(), extra->fully_qualified_name()->size()};
}

const char* MethodMeta::name() const { return plan_->name()->c_str(); }

size_t MethodMeta::num_inputs() const { return size_of(plan_->inputs()); }

Result<Tag> MethodMeta::input_tag(size_t index) const {
  PETREL_ASSIGN_OR_RETURN(const fb::EValue* value,
                          find_value(*plan_, plan_->inputs(), index, "input"));
  return tag_of(*value);
}

Result<TensorInfo> MethodMeta::input_tensor_meta(size_t index) const {
  PETREL_ASSIGN_OR_RETURN(const fb::EValue* value,
                          find_value(*plan_, plan_->inputs(), index, "input"));
  PETREL_ASSIGN_OR_RETURN(const fb::Tensor* tensor, tensor_of(*value));
  return TensorInfo(tensor);
}

size_t MethodMeta::num_outputs() const { return size_of(plan_->outputs()); }

Result<Tag> MethodMeta::output_tag(size_t index) const {
  PETREL_ASSIGN_OR_RETURN(const fb::EValue* value,
                          find_value(*plan_, plan_->outputs(), index, "output"));
  return tag_of(*value);
}

Result<TensorInfo> MethodMeta::output_tensor_meta(size_t index) const {
  PETREL_ASSIGN_OR_RETURN(const fb::EValue* value,
                          find_value(*plan_, plan_->outputs(), index, "output"));
  PETREL_ASSIGN_OR_RETURN(const fb::Tensor* tensor, tensor_of(*value));
  return TensorInfo(tensor);
}

size_t MethodMeta::num_attributes() const {
  size_t count = 0;
  for (const fb::EValue* value : *plan_->values()) count += attribute_of(*value) != nullptr;
  return count;
}

Result<TensorInfo> MethodMeta::attribute_tensor_meta(size_t index) const {
  size_t count = 0;
  for (const fb::EValue* value : *plan_->values()) {
    const fb::Tensor* const tensor = attribute_of(*value);
    if (tensor == nullptr) continue;
    if (count++ == index) return TensorInfo(tensor);
  }
  PETREL_LOG(Error, "attribute %zu of method \"%.64s\" is asked for, but there are %zu", index,
             name(), count);
  return Error::InvalidArgument;
}

size_t MethodMeta::num_memory_planned_buffers() const {
  const uint32_t count = size_of(plan_->non_const_buffer_sizes());
  return count == 0 ? 0 : count - 1;  // Entry 0 is reserved.
}

Result<size_t> MethodMeta::memory_planned_buffer_size(size_t index) const {
  if (index >= num_memory_planned_buffers()) {
    PETREL_LOG(Error, "arena %zu of method \"%.64s\" is asked for, but there are %zu", index,
               name(), num_memory_planned_buffers());
    return Error::InvalidArgument;
  }
  return static_cast<size_t>(
      plan_->non_const_buffer_sizes()->Get(static_cast<uint32_t>(index + 1)));
}

size_t MethodMeta::num_backends() const { return size_of(plan_->delegates()); }

Result<const char*> MethodMeta::get_backend_name(size_t index) const {
  if (index >= num_backends()) {
    PETREL_LOG(Error, "backend %zu of method \"%.64s\" is asked for, but there are %zu", index,
               name(), num_backends());
    return Error::InvalidArgument;
  }
  return plan_->delegates()->Get(static_cast<uint32_t>(index))->id()->c_str();
}

bool MethodMeta::uses_backend(std::string_view name) const {
  for (uint32_t i = 0; i < size_of(plan_->delegates()); ++i) {
    if (name == plan_->delegates()->Get(i)->id()->c_str()) return true;
  }
  return false;
}

size_t MethodMeta::num_instructions() const {
  size_t count = 0;
  for (const fb::Chain* chain : *plan_->chains()) count += size_of(chain->instructions());
  return count;
}

}  // namespace petrel::runtime
