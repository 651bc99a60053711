// SPDX-License-Identifier: Apache-2.0
//
// The values of a method: numbers and lists from the flatbuffer, tensors with
// their memory.

#include <cstdio>
#include <new>

#include "runtime/core/log.h"
#include "runtime/executor/method_builder.h"

namespace petrel::runtime {
namespace fb = schema::program;

namespace {

bool is_external(const fb::Tensor& tensor) {
  return tensor.extra_tensor_info() != nullptr &&
         tensor.extra_tensor_info()->location() == fb::TensorDataLocation::EXTERNAL;
}

std::string_view name_of(const fb::Tensor& tensor) {
  const flatbuffers::String* const name = tensor.extra_tensor_info()->fully_qualified_name();
  return {name->c_str(), name->size()};
}

// "float32 [2, 3] order [0, 1]", cut if it does not fit.
struct LayoutText {
  LayoutText(ScalarType type, Span<const int32_t> sizes, Span<const uint8_t> dim_order) {
    append("%s [", to_string(type));
    for (size_t i = 0; i < sizes.size(); ++i) append(i == 0 ? "%d" : ", %d", sizes[i]);
    append("] order [");
    for (size_t i = 0; i < dim_order.size(); ++i) append(i == 0 ? "%d" : ", %d", dim_order[i]);
    append("]");
  }
  template <typename... Args>
  void append(const char* format, Args... args) {
    const int added = std::snprintf(text + used, sizeof(text) - used, format, args...);
    if (added > 0) used += static_cast<size_t>(added);
    if (used >= sizeof(text)) used = sizeof(text) - 1;
  }
  char text[160] = "";
  size_t used = 0;
};

}  // namespace

Error MethodBuilder::make_values() {
  const auto& from = *plan_.values();
  size_t num_tensors = 0;
  size_t num_external = 0;
  for (uint32_t i = 0; i < from.size(); ++i) {
    const fb::Tensor* const tensor = from.Get(i)->val_as_Tensor();
    if (tensor == nullptr) continue;
    ++num_tensors;
    num_external += (is_external(*tensor) && tensor->allocation_info() == nullptr) ||
                    !replacement_name(i, *tensor).empty();
  }
  PETREL_ASSIGN_OR_RETURN(tensors_, allocator_->allocate_list<TensorImpl>(num_tensors));
  PETREL_ASSIGN_OR_RETURN(external_data_, allocator_->allocate_list<FreeableBuffer>(num_external));
  PETREL_ASSIGN_OR_RETURN(method_.values_, allocator_->allocate_list<EValue>(from.size()));
  for (EValue& value : method_.values_) new (&value) EValue();
  for (uint32_t i = 0; i < from.size(); ++i) {
    const Error error = make_value(i, &method_.values_[i]);
    if (error != Error::Ok) {
      PETREL_LOG(Error, "method \"%.64s\": value %u cannot be set up", plan_.name()->c_str(), i);
      return error;
    }
  }
  const size_t num_inputs = plan_.inputs() == nullptr ? 0 : plan_.inputs()->size();
  PETREL_ASSIGN_OR_RETURN(method_.input_set_, allocator_->allocate_list<bool>(num_inputs));
  for (bool& set : method_.input_set_) set = false;
  return Error::Ok;
}

Error MethodBuilder::make_value(uint32_t index, EValue* to) {
  const fb::EValue& from = *plan_.values()->Get(index);
  switch (from.val_type()) {
    case fb::KernelTypes::Int:
      *to = EValue(int64_t{from.val_as_Int()->int_val()});
      return Error::Ok;
    case fb::KernelTypes::Bool:
      *to = EValue(from.val_as_Bool()->bool_val());
      return Error::Ok;
    case fb::KernelTypes::Double:
      *to = EValue(from.val_as_Double()->double_val());
      return Error::Ok;
    case fb::KernelTypes::String: {
      const flatbuffers::String* const text = from.val_as_String()->string_val();
      *to = EValue(std::string_view(text->c_str(), text->size()));
      return Error::Ok;
    }
    case fb::KernelTypes::Tensor:
      return make_tensor(index, *from.val_as_Tensor(), to);
    case fb::KernelTypes::BoolList: {
      // Copied: a byte of the file may be neither 0 nor 1.
      const auto* const items = from.val_as_BoolList()->items();
      PETREL_ASSIGN_OR_RETURN(
          Span<bool> list, allocator_->allocate_list<bool>(items == nullptr ? 0 : items->size()));
      for (uint32_t i = 0; i < list.size(); ++i) list[i] = items->Get(i) != 0;
      *to = EValue(Span<const bool>(list));
      return Error::Ok;
    }
    case fb::KernelTypes::DoubleList: {
      const auto* const items = from.val_as_DoubleList()->items();
      *to = EValue(items == nullptr ? Span<const double>()
                                    : Span<const double>(items->data(), items->size()));
      return Error::Ok;
    }
    case fb::KernelTypes::IntList:
      return make_boxed_list<BoxedIntList>(from.val_as_IntList()->items(), to);
    case fb::KernelTypes::TensorList:
      return make_boxed_list<BoxedTensorList>(from.val_as_TensorList()->items(), to);
    case fb::KernelTypes::OptionalTensorList:
      return make_boxed_list<BoxedOptionalTensorList>(from.val_as_OptionalTensorList()->items(),
                                                      to);
    default:
      return Error::Ok;  // None.
  }
}

template <typename Box, typename Item>
Error MethodBuilder::make_boxed_list(const flatbuffers::Vector<Item>* items, EValue* to) {
  using Unboxed = std::remove_pointer_t<decltype(Box::unboxed)>;
  const uint32_t count = items == nullptr ? 0 : items->size();
  PETREL_ASSIGN_OR_RETURN(Span<Box> box, allocator_->allocate_list<Box>(1));
  PETREL_ASSIGN_OR_RETURN(Span<EValue*> entries, allocator_->allocate_list<EValue*>(count));
  PETREL_ASSIGN_OR_RETURN(Span<Unboxed> unboxed, allocator_->allocate_list<Unboxed>(count));
  for (uint32_t i = 0; i < count; ++i) {
    const auto item = static_cast<int64_t>(items->Get(i));
    entries[i] = item < 0 ? nullptr : &method_.values_[static_cast<size_t>(item)];
  }
  *to = EValue(new (box.data()) Box{entries, unboxed.data()});
  return Error::Ok;
}

Error MethodBuilder::make_tensor(uint32_t index, const fb::Tensor& from, EValue* to) {
  const auto rank = static_cast<size_t>(from.sizes()->size());
  const auto dynamism = static_cast<TensorShapeDynamism>(from.shape_dynamism());
  // Never written: TensorImpl leaves dim_order and the sizes of static tensors
  // alone.
  auto* sizes = const_cast<int32_t*>(from.sizes()->data());
  auto* dim_order = const_cast<uint8_t*>(from.dim_order()->data());
  if (dynamism != TensorShapeDynamism::STATIC) {
    PETREL_ASSIGN_OR_RETURN(Span<int32_t> copy, allocator_->allocate_list<int32_t>(rank));
    for (size_t i = 0; i < rank; ++i) copy[i] = sizes[i];
    sizes = copy.data();
  }
  PETREL_ASSIGN_OR_RETURN(Span<int64_t> strides, allocator_->allocate_list<int64_t>(rank));
  TensorImpl* const tensor = new (tensors_.data())
      TensorImpl(static_cast<ScalarType>(from.scalar_type()), static_cast<ssize_t>(rank), sizes,
                 nullptr, dim_order, strides.data(), dynamism);
  tensors_ = tensors_.subspan(1);
  PETREL_RETURN_IF_ERROR(bind_tensor(index, from, tensor));
  *to = EValue(Tensor(tensor));
  return Error::Ok;
}

std::string_view MethodBuilder::replacement_name(uint32_t index, const fb::Tensor& tensor) const {
  if (external_map_ == nullptr ||
      program_.options().data_precedence != DataPrecedence::ExternalFirst ||
      tensor.data_buffer_idx() == 0 || tensor.allocation_info() != nullptr || is_external(tensor)) {
    return {};
  }
  if (tensor.extra_tensor_info() != nullptr &&
      tensor.extra_tensor_info()->fully_qualified_name() != nullptr) {
    return name_of(tensor);
  }
  return program_.additions().constant_name(plan_, index);
}

Error MethodBuilder::bind_tensor(uint32_t index, const fb::Tensor& from, TensorImpl* tensor) {
  const size_t nbytes = tensor->nbytes();
  const bool planned = from.allocation_info() != nullptr;
  void* place = nullptr;
  if (planned) {
    const fb::AllocationDetails& details = *from.allocation_info();
    const uint64_t offset =
        uint64_t{details.memory_offset_high()} << 32 | details.memory_offset_low();
    const HierarchicalAllocator* const arenas = method_.memory_->planned_memory();
    if (arenas == nullptr) {
      PETREL_LOG(Error, "planned memory is needed, but none was given");
      return Error::InvalidArgument;
    }
    // Arenas count from 1 in the file.
    PETREL_ASSIGN_OR_RETURN(place, arenas->get_offset_address(details.memory_id() - 1,
                                                              static_cast<size_t>(offset), nbytes));
  }
  if (is_external(from)) return bind_external_tensor(name_of(from), from, tensor, place);
  if (!planned) {
    if (from.data_buffer_idx() == 0) return Error::Ok;  // The caller's.
    const std::string_view name = replacement_name(index, from);
    if (!name.empty()) {
      const Result<FreeableBuffer> found = external_map_->get_data(name);
      if (found.ok() || found.error() != Error::NotFound) {
        return bind_external_tensor(name, from, tensor, nullptr);
      }
    }
    const void* const data = program_.constant_data(from.data_buffer_idx());
    tensor->set_constant(true);
    return tensor->set_data(const_cast<void*>(data), nbytes);
  }
  PETREL_RETURN_IF_ERROR(tensor->set_data(place, nbytes));
  if (from.data_buffer_idx() == 0) return Error::Ok;
  return program_.load_mutable_data(from.data_buffer_idx(), place, nbytes);
}

Error MethodBuilder::bind_external_tensor(std::string_view name, const fb::Tensor& from,
                                          TensorImpl* tensor, void* place) {
  const auto name_length = static_cast<int>(name.size() < 128 ? name.size() : 128);
  if (external_map_ == nullptr) {
    PETREL_LOG(Error, "external tensor \"%.*s\" needs a data map, but none was given", name_length,
               name.data());
    return Error::InvalidExternalData;
  }
  const Result<TensorLayout> layout = external_map_->get_tensor_layout(name);
  if (layout.ok()) {
    if (layout->scalar_type() != tensor->scalar_type() ||
        !equal(layout->sizes(), tensor->sizes()) ||
        !equal(layout->dim_order(), tensor->dim_order())) {
      const LayoutText found(layout->scalar_type(), layout->sizes(), layout->dim_order());
      const LayoutText wanted(tensor->scalar_type(), tensor->sizes(), tensor->dim_order());
      PETREL_LOG(Error, "external tensor \"%.*s\" is %s, but the program needs %s", name_length,
                 name.data(), found.text, wanted.text);
      return Error::InvalidExternalData;
    }
  } else if (layout.error() != Error::NotImplemented) {
    PETREL_LOG(Error, "external tensor \"%.*s\" cannot be found in the data map: %s", name_length,
               name.data(), to_string(layout.error()));
    return layout.error() == Error::NotFound ? Error::InvalidExternalData : layout.error();
  }
  const size_t nbytes = tensor->nbytes();
  if (from.allocation_info() != nullptr) {
    PETREL_RETURN_IF_ERROR(tensor->set_data(place, nbytes));
    return external_map_->load_data_into(name, place, nbytes);
  }
  Result<FreeableBuffer> data = external_map_->get_data(name);
  if (!data.ok()) {
    PETREL_LOG(Error, "external tensor \"%.*s\" cannot be read: %s", name_length, name.data(),
               to_string(data.error()));
    return data.error() == Error::NotFound ? Error::InvalidExternalData : data.error();
  }
  // A map without layouts must at least have the right number of bytes.
  if (data->size() < nbytes || (!layout.ok() && data->size() != nbytes)) {
    PETREL_LOG(Error, "external tensor \"%.*s\" has %zu bytes, but the program needs %zu",
               name_length, name.data(), data->size(), nbytes);
    return Error::InvalidExternalData;
  }
  tensor->set_constant(true);
  PETREL_RETURN_IF_ERROR(tensor->set_data(const_cast<void*>(data->data()), nbytes));
  const size_t index = method_.external_data_.size();
  new (&external_data_[index]) FreeableBuffer(std::move(*data));
  method_.external_data_ = external_data_.first(index + 1);
  return Error::Ok;
}

}  // namespace petrel::runtime
