// SPDX-License-Identifier: Apache-2.0
//
// The values of a method: numbers and lists from the flatbuffer, tensors with
// their memory.

#include <new>

#include "runtime/core/log.h"
#include "runtime/executor/method_builder.h"

namespace petrel::runtime {

Error MethodBuilder::make_values() {
  const uint32_t count = declared_.num_values();
  size_t num_tensors = 0;
  size_t num_external = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const std::optional<TensorView> tensor = declared_.value(i).as_tensor();
    if (!tensor.has_value()) continue;
    ++num_tensors;
    num_external += tensor->is_external || !replacement_name(i, *tensor).empty();
  }
  PETREL_ASSIGN_OR_RETURN(tensors_, allocator_->allocate_list<TensorImpl>(num_tensors));
  method_.tensors_ = tensors_;
  PETREL_ASSIGN_OR_RETURN(external_tensors_,
                          allocator_->allocate_list<MethodExternalTensor>(num_external));
  method_.external_tensors_ = external_tensors_;
  PETREL_ASSIGN_OR_RETURN(method_.values_, allocator_->allocate_list<EValue>(count));
  for (EValue& value : method_.values_) new (&value) EValue();
  for (uint32_t i = 0; i < count; ++i) {
    const Error error = make_value(i, &method_.values_[i]);
    if (error != Error::Ok) {
      PETREL_LOG(Error, "method \"%.64s\": value %u cannot be set up", declared_.name().data(), i);
      return error;
    }
  }
  PETREL_RETURN_IF_ERROR(bind_external_tensors());
  PETREL_ASSIGN_OR_RETURN(method_.input_set_,
                          allocator_->allocate_list<bool>(declared_.inputs().size()));
  for (bool& set : method_.input_set_) set = false;
  return Error::Ok;
}

Error MethodBuilder::make_value(uint32_t index, EValue* to) {
  const ValueView from = declared_.value(index);
  switch (from.tag()) {
    case Tag::Int:
      *to = EValue(from.as_int());
      return Error::Ok;
    case Tag::Bool:
      *to = EValue(from.as_bool());
      return Error::Ok;
    case Tag::Double:
      *to = EValue(from.as_double());
      return Error::Ok;
    case Tag::String:
      *to = EValue(from.as_string());
      return Error::Ok;
    case Tag::Tensor:
      return make_tensor(index, *from.as_tensor(), to);
    case Tag::ListBool: {
      // Copied: a byte of the file may be neither 0 nor 1.
      const Span<const uint8_t> items = from.bool_items();
      PETREL_ASSIGN_OR_RETURN(Span<bool> list, allocator_->allocate_list<bool>(items.size()));
      for (size_t i = 0; i < list.size(); ++i) list[i] = items[i] != 0;
      *to = EValue(Span<const bool>(list));
      return Error::Ok;
    }
    case Tag::ListDouble:
      *to = EValue(from.double_items());
      return Error::Ok;
    case Tag::ListInt:
      return make_boxed_list<BoxedIntList>(from.int_items(), to);
    case Tag::ListTensor:
      return make_boxed_list<BoxedTensorList>(from.tensor_items(), to);
    case Tag::ListOptionalTensor:
      return make_boxed_list<BoxedOptionalTensorList>(from.tensor_items(), to);
    default:
      return Error::Ok;  // None.
  }
}

template <typename Box, typename Item>
Error MethodBuilder::make_boxed_list(Span<const Item> items, EValue* to) {
  using Unboxed = std::remove_pointer_t<decltype(Box::unboxed)>;
  PETREL_ASSIGN_OR_RETURN(Span<Box> box, allocator_->allocate_list<Box>(1));
  PETREL_ASSIGN_OR_RETURN(Span<EValue*> entries, make_entries(items));
  PETREL_ASSIGN_OR_RETURN(Span<Unboxed> unboxed, allocator_->allocate_list<Unboxed>(items.size()));
  *to = EValue(new (box.data()) Box{entries, unboxed.data()});
  return Error::Ok;
}

// The values of a list; null for none.
template <typename Item>
Result<Span<EValue*>> MethodBuilder::make_entries(Span<const Item> items) {
  PETREL_ASSIGN_OR_RETURN(Span<EValue*> entries, allocator_->allocate_list<EValue*>(items.size()));
  for (size_t i = 0; i < items.size(); ++i) {
    const auto item = static_cast<int64_t>(items[i]);
    entries[i] = item < 0 ? nullptr : &method_.values_[static_cast<size_t>(item)];
  }
  return entries;
}

Error MethodBuilder::make_tensor(uint32_t index, const TensorView& from, EValue* to) {
  const size_t rank = from.sizes.size();
  // Never written: TensorImpl leaves dim_order and the sizes of static tensors
  // alone.
  auto* sizes = const_cast<int32_t*>(from.sizes.data());
  auto* dim_order = const_cast<uint8_t*>(from.dim_order.data());
  if (from.dynamism != TensorShapeDynamism::STATIC) {
    PETREL_ASSIGN_OR_RETURN(Span<int32_t> copy, allocator_->allocate_list<int32_t>(rank));
    for (size_t i = 0; i < rank; ++i) copy[i] = sizes[i];
    sizes = copy.data();
  }
  PETREL_ASSIGN_OR_RETURN(Span<int64_t> strides, allocator_->allocate_list<int64_t>(rank));
  TensorImpl* const tensor =
      new (tensors_.data()) TensorImpl(from.scalar_type, static_cast<ssize_t>(rank), sizes, nullptr,
                                       dim_order, strides.data(), from.dynamism);
  tensors_ = tensors_.subspan(1);
  PETREL_RETURN_IF_ERROR(bind_tensor(index, from, tensor));
  *to = EValue(Tensor(tensor));
  return Error::Ok;
}

std::string_view MethodBuilder::replacement_name(uint32_t index, const TensorView& tensor) const {
  if (external_map_ == nullptr ||
      program_.options().data_precedence != DataPrecedence::ExternalFirst ||
      !tensor.is_inner_constant()) {
    return {};
  }
  return method_.value_name(index);
}

Error MethodBuilder::bind_tensor(uint32_t index, const TensorView& from, TensorImpl* tensor) {
  const size_t nbytes = tensor->nbytes();
  void* place = nullptr;
  if (from.is_planned()) {
    const HierarchicalAllocator* const arenas = method_.memory_->planned_memory();
    if (arenas == nullptr) {
      PETREL_LOG(Error, "planned memory is needed, but none was given");
      return Error::InvalidArgument;
    }
    // Arenas count from 1 in the file.
    PETREL_ASSIGN_OR_RETURN(
        place,
        arenas->get_offset_address(from.arena - 1, static_cast<size_t>(from.arena_offset), nbytes));
  }
  if (from.is_external || !replacement_name(index, from).empty()) {
    // Their data comes once all of them are known.
    const auto number = static_cast<uint32_t>(tensor - method_.tensors_.data());
    new (external_tensors_.data()) MethodExternalTensor{index, number};
    external_tensors_ = external_tensors_.subspan(1);
  }
  if (from.is_planned()) {
    PETREL_RETURN_IF_ERROR(tensor->set_data(place, nbytes));
    if (from.is_external || from.data_index == 0) return Error::Ok;
    return program_.load_mutable_data(from.data_index, place, nbytes);
  }
  if (from.is_external || from.data_index == 0) return Error::Ok;  // Later, or the caller's.
  const void* const data = program_.constant_data(from.data_index);
  tensor->set_constant(true);
  return tensor->set_data(const_cast<void*>(data), nbytes);
}

}  // namespace petrel::runtime
