// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/method_meta.h"

#include "runtime/core/log.h"

namespace petrel::runtime {

namespace {

Result<ValueView> find_value(const MethodView& method, Span<const int32_t> indices, size_t index,
                             const char* what) {
  if (index >= indices.size()) {
    PETREL_LOG(Error, "%s %zu of method \"%.64s\" is asked for, but there are %zu", what, index,
               method.name().data(), indices.size());
    return Error::InvalidArgument;
  }
  return method.value(indices[index]);
}

// The tensor, if it has a name and is not a constant of the program: state, or
// data from outside.
}  // namespace

std::optional<TensorView> MethodMeta::attribute_of(const ValueView& value) {
  if (value.tensor_name().empty()) return std::nullopt;
  const std::optional<TensorView> tensor = value.as_tensor();
  return tensor->is_inner_constant() ? std::nullopt : tensor;
}

const char* MethodMeta::name() const { return method_.name().data(); }

size_t MethodMeta::num_inputs() const { return method_.inputs().size(); }

Result<Tag> MethodMeta::input_tag(size_t index) const {
  PETREL_ASSIGN_OR_RETURN(const ValueView value,
                          find_value(method_, method_.inputs(), index, "input"));
  return value.tag();
}

Result<TensorInfo> MethodMeta::input_tensor_meta(size_t index) const {
  PETREL_ASSIGN_OR_RETURN(const ValueView value,
                          find_value(method_, method_.inputs(), index, "input"));
  const std::optional<TensorView> tensor = value.as_tensor();
  if (!tensor.has_value()) return Error::InvalidType;
  return TensorInfo(*tensor);
}

size_t MethodMeta::num_outputs() const { return method_.outputs().size(); }

Result<Tag> MethodMeta::output_tag(size_t index) const {
  PETREL_ASSIGN_OR_RETURN(const ValueView value,
                          find_value(method_, method_.outputs(), index, "output"));
  return value.tag();
}

Result<TensorInfo> MethodMeta::output_tensor_meta(size_t index) const {
  PETREL_ASSIGN_OR_RETURN(const ValueView value,
                          find_value(method_, method_.outputs(), index, "output"));
  const std::optional<TensorView> tensor = value.as_tensor();
  if (!tensor.has_value()) return Error::InvalidType;
  return TensorInfo(*tensor);
}

size_t MethodMeta::num_attributes() const {
  size_t count = 0;
  for (uint32_t i = 0; i < method_.num_values(); ++i) {
    count += attribute_of(method_.value(i)).has_value();
  }
  return count;
}

Result<TensorInfo> MethodMeta::attribute_tensor_meta(size_t index) const {
  size_t count = 0;
  for (uint32_t i = 0; i < method_.num_values(); ++i) {
    const std::optional<TensorView> tensor = attribute_of(method_.value(i));
    if (!tensor.has_value()) continue;
    if (count++ == index) return TensorInfo(*tensor);
  }
  PETREL_LOG(Error, "attribute %zu of method \"%.64s\" is asked for, but there are %zu", index,
             name(), count);
  return Error::InvalidArgument;
}

size_t MethodMeta::num_memory_planned_buffers() const { return method_.num_arenas(); }

Result<int64_t> MethodMeta::memory_planned_buffer_size(size_t index) const {
  if (index >= num_memory_planned_buffers()) {
    PETREL_LOG(Error, "arena %zu of method \"%.64s\" is asked for, but there are %zu", index,
               name(), num_memory_planned_buffers());
    return Error::InvalidArgument;
  }
  return static_cast<int64_t>(method_.arena_bytes(static_cast<uint32_t>(index + 1)));
}

size_t MethodMeta::num_backends() const { return method_.num_delegates(); }

Result<const char*> MethodMeta::get_backend_name(size_t index) const {
  if (index >= num_backends()) {
    PETREL_LOG(Error, "backend %zu of method \"%.64s\" is asked for, but there are %zu", index,
               name(), num_backends());
    return Error::InvalidArgument;
  }
  return method_.delegate(static_cast<uint32_t>(index)).backend().data();
}

bool MethodMeta::uses_backend(std::string_view name) const {
  for (uint32_t i = 0; i < method_.num_delegates(); ++i) {
    if (method_.delegate(i).backend() == name) return true;
  }
  return false;
}

size_t MethodMeta::num_instructions() const {
  size_t count = 0;
  for (uint32_t i = 0; i < method_.num_chains(); ++i) count += method_.chain(i).num_instructions();
  return count;
}

}  // namespace petrel::runtime
