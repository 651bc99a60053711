// SPDX-License-Identifier: Apache-2.0
//
// The values of a method: numbers and lists from the flatbuffer, tensors with
// their memory.

#include <new>
#include <optional>

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
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(num_tensors, &tensors_));
  method_.tensors_ = tensors_;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(num_external, &external_tensors_));
  method_.external_tensors_ = external_tensors_;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(count, &method_.values_));
  for (uint32_t i = 0; i < count; ++i) new (&method_.values_[i]) EValue();
  for (uint32_t i = 0; i < count; ++i) {
    const Error error = make_value(i, &method_.values_[i]);
    if (error != Error::Ok) {
      PETREL_LOG(Error, "method \"%.64s\": value %u cannot be set up", declared_.name().data(), i);
      return error;
    }
  }
  PETREL_RETURN_IF_ERROR(bind_external_tensors());
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(declared_.inputs().size(), &method_.input_set_));
  for (bool& set : method_.input_set_) set = false;
  return Error::Ok;
}

Error MethodBuilder::make_value(uint32_t index, EValue* to) {
  const ValueView from = declared_.value(index);
  switch (from.tag()) {
    case Tag::String:
      new (to) EValue(from.as_string());
      return Error::Ok;
    case Tag::Tensor:
      return make_tensor(index, *from.as_tensor(), to);
    case Tag::ListBool: {
      // Copied: a byte of the file may be neither 0 nor 1.
      const Span<const uint8_t> items = from.bool_items();
      Span<bool> list;
      PETREL_RETURN_IF_ERROR(allocator_->allocate_list(items.size(), &list));
      for (size_t i = 0; i < list.size(); ++i) list[i] = items[i] != 0;
      new (to) EValue(Span<const bool>(list));
      return Error::Ok;
    }
    case Tag::ListDouble:
      new (to) EValue(from.double_items());
      return Error::Ok;
    case Tag::ListInt:
    case Tag::ListTensor:
    case Tag::ListOptionalTensor:
      return make_boxed_list(from, to);
    default:
      set_number(from, to);
      return Error::Ok;
  }
}

// The values of a list, null for none, and room for what they hold when it is read.
Error MethodBuilder::make_boxed_list(const ValueView& from, EValue* to) {
  const Tag tag = from.tag();
  const Span<const int64_t> wide = from.int_items();
  const Span<const int32_t> narrow = from.tensor_items();
  const size_t count = wide.size() + narrow.size();
  const size_t item_bytes = tag == Tag::ListInt      ? sizeof(int64_t)
                            : tag == Tag::ListTensor ? sizeof(Tensor)
                                                     : sizeof(std::optional<Tensor>);
  PETREL_ASSIGN_OR_RETURN(
      void* const box, allocator_->allocate_array(1, sizeof(BoxedIntList), alignof(BoxedIntList)));
  Span<EValue*> entries;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(count, &entries));
  PETREL_ASSIGN_OR_RETURN(void* const unboxed,
                          allocator_->allocate_array(count, item_bytes, alignof(EValue)));
  for (size_t i = 0; i < count; ++i) {
    const int64_t item = wide.empty() ? narrow[i] : wide[i];
    entries[i] = item < 0 ? nullptr : &method_.values_[static_cast<size_t>(item)];
  }
  static_assert(sizeof(BoxedIntList) == sizeof(BoxedTensorList) &&
                sizeof(BoxedIntList) == sizeof(BoxedOptionalTensorList));
  if (tag == Tag::ListInt) {
    new (to) EValue(new (box) BoxedIntList{entries, static_cast<int64_t*>(unboxed)});
  } else if (tag == Tag::ListTensor) {
    new (to) EValue(new (box) BoxedTensorList{entries, static_cast<Tensor*>(unboxed)});
  } else {
    auto* const items = static_cast<std::optional<Tensor>*>(unboxed);
    new (to) EValue(new (box) BoxedOptionalTensorList{entries, items});
  }
  return Error::Ok;
}

Error MethodBuilder::make_tensor(uint32_t index, const TensorView& from, EValue* to) {
  const size_t rank = from.sizes.size();
  // Never written: TensorImpl leaves dim_order and the sizes of static tensors
  // alone.
  auto* sizes = const_cast<int32_t*>(from.sizes.data());
  auto* dim_order = const_cast<uint8_t*>(from.dim_order.data());
  if (from.dynamism != TensorShapeDynamism::STATIC) {
    Span<int32_t> copy;
    PETREL_RETURN_IF_ERROR(allocator_->allocate_list(rank, &copy));
    for (size_t i = 0; i < rank; ++i) copy[i] = sizes[i];
    sizes = copy.data();
  }
  Span<int64_t> strides;
  PETREL_RETURN_IF_ERROR(allocator_->allocate_list(rank, &strides));
  TensorImpl* const tensor =
      new (tensors_.data()) TensorImpl(from.scalar_type, static_cast<ssize_t>(rank), sizes, nullptr,
                                       dim_order, strides.data(), from.dynamism);
  tensors_ = tensors_.subspan(1);
  PETREL_RETURN_IF_ERROR(bind_tensor(index, from, tensor));
  new (to) EValue(Tensor(tensor));
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
    const size_t number = method_.tensors_.size() - tensors_.size() - 1;
    new (external_tensors_.data()) MethodExternalTensor{index, static_cast<uint32_t>(number)};
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
