// SPDX-License-Identifier: Apache-2.0
//
// Metadata, inputs, runs and outputs of the C interface.

#include <cinttypes>
#include <cstring>
#include <optional>
#include <string_view>

#include "extension/c_api/guard.h"
#include "extension/c_api/handles.h"
#include "extension/levels/levels.h"
#include "runtime/core/checked_math.h"

namespace petrel::extension::c_api {

using runtime::Error;
using runtime::EValue;
using runtime::MethodMeta;
using runtime::Result;
using runtime::ScalarType;
using runtime::Span;
using runtime::Tag;
using runtime::Tensor;
using runtime::TensorImpl;
using runtime::TensorInfo;

namespace {

static_assert(PETREL_MAX_RANK == runtime::kTensorDimensionLimit);

int32_t kind_of(Tag tag) {
  switch (tag) {
    case Tag::None:
      return PETREL_KIND_NONE;
    case Tag::Tensor:
      return PETREL_KIND_TENSOR;
    case Tag::String:
      return PETREL_KIND_STRING;
    case Tag::Double:
      return PETREL_KIND_DOUBLE;
    case Tag::Int:
      return PETREL_KIND_INT;
    case Tag::Bool:
      return PETREL_KIND_BOOL;
    default:
      return PETREL_KIND_OTHER;
  }
}

Error check_index(const char* what, size_t index, size_t count) {
  if (index < count) return Error::Ok;
  PETREL_LOG(Error, "%s is %zu, must be less than %zu", what, index, count);
  return Error::InvalidArgument;
}

Error check_struct(const petrel_value* value, const char* name) {
  PETREL_RETURN_IF_ERROR(require(value, name));
  if (value->struct_size >= sizeof(petrel_value)) return Error::Ok;
  PETREL_LOG(Error, "%s->struct_size is %zu, must be at least %zu", name, value->struct_size,
             sizeof(petrel_value));
  return Error::InvalidArgument;
}

// Writes what this version of the interface knows of, and keeps struct_size.
void assign(petrel_value* out, const petrel_value& value) {
  const size_t struct_size = out->struct_size;
  std::memcpy(out, &value, sizeof(value));
  out->struct_size = struct_size;
}

void describe(Span<const int32_t> sizes, Span<const uint8_t> dim_order, ScalarType dtype,
              petrel_value* value) {
  value->dtype = static_cast<int32_t>(dtype);
  value->rank = static_cast<uint32_t>(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    value->sizes[d] = sizes[d];
    value->dim_order[d] = dim_order.empty() ? static_cast<uint8_t>(d) : dim_order[d];
  }
}

Result<petrel_value> info_of(Tag tag, const Result<TensorInfo>& tensor) {
  petrel_value value;
  PETREL_VALUE_INIT(&value);
  value.kind = kind_of(tag);
  if (tag != Tag::Tensor) return value;
  if (!tensor.ok()) return tensor.error();
  describe(tensor->sizes(), tensor->dim_order(), tensor->scalar_type(), &value);
  value.nbytes = tensor->nbytes();
  value.is_dynamic = tensor->shape_dynamism() != runtime::TensorShapeDynamism::STATIC;
  return value;
}

Error check_names(const petrel_module* module, const char* method) {
  PETREL_RETURN_IF_ERROR(require(module, "module"));
  return require(method, "method");
}

Error put_levels(const Result<std::optional<extension::Levels>>& levels, petrel_levels* out) {
  PETREL_RETURN_IF_ERROR(require(out, "out"));
  if (out->struct_size < sizeof(petrel_levels)) {
    PETREL_LOG(Error, "out->struct_size is %zu, must be at least %zu", out->struct_size,
               sizeof(petrel_levels));
    return Error::InvalidArgument;
  }
  if (!levels.ok()) return levels.error();
  if (!levels->has_value()) {
    PETREL_LOG(Error, "the program does not tell what integers there stand for");
    return Error::NotFound;
  }
  const extension::Levels& known = **levels;
  out->dtype = static_cast<int32_t>(known.type);
  out->zero_point = known.zero_point;
  out->quant_min = known.least;
  out->quant_max = known.most;
  out->scale = known.scale;
  return Error::Ok;
}

Result<MethodMeta> meta_of(const petrel_module* module, const char* method) {
  PETREL_RETURN_IF_ERROR(check_names(module, method));
  return module->module->method_meta(method);
}

// The tensor of an input, over arrays that Tensor only points at.
struct InputTensor {
  int32_t sizes[PETREL_MAX_RANK];
  uint8_t dim_order[PETREL_MAX_RANK];
  TensorImpl impl;
};

Error check_tensor(const petrel_value& value, size_t index) {
  const size_t item = petrel_dtype_size(value.dtype);
  if (item == 0) {
    PETREL_LOG(Error, "input %zu: dtype is %" PRId32 ", which is not an element type", index,
               value.dtype);
    return Error::InvalidArgument;
  }
  if (value.rank > PETREL_MAX_RANK) {
    PETREL_LOG(Error, "input %zu: rank is %" PRIu32 ", must be at most %d", index, value.rank,
               PETREL_MAX_RANK);
    return Error::InvalidArgument;
  }
  size_t bytes = item;
  for (uint32_t d = 0; d < value.rank; ++d) {
    if (value.sizes[d] < 0 || value.sizes[d] > INT32_MAX) {
      PETREL_LOG(Error, "input %zu: dim %" PRIu32 " is %" PRId64 ", must be in [0, 2^31)", index, d,
                 value.sizes[d]);
      return Error::InvalidArgument;
    }
    if (!runtime::checked_mul(bytes, static_cast<size_t>(value.sizes[d]), &bytes)) {
      PETREL_LOG(Error, "input %zu: its sizes need more bytes than there are addresses", index);
      return Error::InvalidArgument;
    }
  }
  if (!runtime::is_permutation({value.dim_order, value.rank})) {
    PETREL_LOG(Error, "input %zu: dim_order is not a permutation of %" PRIu32 " dimensions", index,
               value.rank);
    return Error::InvalidArgument;
  }
  if (value.nbytes != bytes) {
    PETREL_LOG(Error, "input %zu: nbytes is %zu, its sizes need %zu", index, value.nbytes, bytes);
    return Error::InvalidArgument;
  }
  if (bytes > 0 && value.data == nullptr) {
    PETREL_LOG(Error, "input %zu: data is NULL, must not be", index);
    return Error::InvalidArgument;
  }
  return Error::Ok;
}

Error check_input(const petrel_value& value, size_t index) {
  switch (value.kind) {
    case PETREL_KIND_TENSOR:
      return check_tensor(value, index);
    case PETREL_KIND_STRING:
      return value.string_size > 0 ? require(value.string, "value->string") : Error::Ok;
    case PETREL_KIND_BOOL:
      if (value.int_value == 0 || value.int_value == 1) return Error::Ok;
      PETREL_LOG(Error, "input %zu: int_value of a bool is %" PRId64 ", must be 0 or 1", index,
                 value.int_value);
      return Error::InvalidArgument;
    case PETREL_KIND_NONE:
    case PETREL_KIND_DOUBLE:
    case PETREL_KIND_INT:
      return Error::Ok;
    default:
      PETREL_LOG(Error, "input %zu: kind is %" PRId32 ", must be in [0, %d]", index, value.kind,
                 PETREL_KIND_BOOL);
      return Error::InvalidArgument;
  }
}

// Precondition: check_input() passed. The value points into `place`.
EValue to_evalue(const petrel_value& value, InputTensor* place) {
  switch (value.kind) {
    case PETREL_KIND_TENSOR:
      for (uint32_t d = 0; d < value.rank; ++d) {
        place->sizes[d] = static_cast<int32_t>(value.sizes[d]);
        place->dim_order[d] = value.dim_order[d];
      }
      place->impl =
          TensorImpl(static_cast<ScalarType>(value.dtype), static_cast<ssize_t>(value.rank),
                     place->sizes, value.data, place->dim_order);
      return EValue(Tensor(&place->impl));
    case PETREL_KIND_STRING:
      return EValue(std::string_view(value.string, value.string_size));
    case PETREL_KIND_DOUBLE:
      return EValue(value.double_value);
    case PETREL_KIND_INT:
      return EValue(value.int_value);
    case PETREL_KIND_BOOL:
      return EValue(value.int_value != 0);
    default:
      return EValue();
  }
}

petrel_value from_evalue(const EValue& from) {
  petrel_value value;
  PETREL_VALUE_INIT(&value);
  value.kind = kind_of(from.tag);
  if (from.isTensor()) {
    const Tensor tensor = from.toTensor();
    describe(tensor.sizes(), tensor.dim_order(), tensor.scalar_type(), &value);
    value.data = tensor.mutable_data_ptr();
    value.nbytes = tensor.nbytes();
  } else if (from.isString()) {
    value.string = from.toString().data();
    value.string_size = from.toString().size();
  } else if (from.isDouble()) {
    value.double_value = from.toDouble();
  } else if (from.isInt()) {
    value.int_value = from.toInt();
  } else if (from.isBool()) {
    value.int_value = from.toBool();
  }
  return value;
}

// To where the caller wants them.
Error copy_outputs(const Call& call, const char* method) {
  for (size_t i = 0; i < call.targets.size() && i < call.outputs.size(); ++i) {
    const Target& target = call.targets[i];
    if (target.data == nullptr) continue;
    if (!call.outputs[i].isTensor() || call.outputs[i].toTensor().nbytes() > target.size) {
      PETREL_LOG(Error, "output %zu of method '%s' is not a tensor of at most %zu bytes", i, method,
                 target.size);
      return Error::InvalidArgument;
    }
    const Tensor tensor = call.outputs[i].toTensor();
    // It may lie there already: an input that the method returns.
    if (tensor.nbytes() > 0) {
      std::memmove(target.data, tensor.const_data_ptr(), tensor.nbytes());
    }
  }
  return Error::Ok;
}

Error run(petrel_module* module, const char* method) {
  PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, meta_of(module, method));
  Call& call = module->calls[method];
  call.inputs.resize(meta.num_inputs());
  const std::vector<std::optional<petrel_value>> inputs = std::move(call.inputs);
  call.inputs.clear();
  call.outputs.clear();
  call.has_run = false;
  std::vector<InputTensor> places(inputs.size());
  std::vector<EValue> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].has_value()) {
      PETREL_LOG(Error, "input %zu of method '%s' has not been set", i, method);
      return Error::InvalidState;
    }
    values.push_back(to_evalue(*inputs[i], &places[i]));
  }
  PETREL_ASSIGN_OR_RETURN(call.outputs, module->module->execute(method, values));
  PETREL_RETURN_IF_ERROR(copy_outputs(call, method));
  call.has_run = true;
  return Error::Ok;
}

Error get_output(const petrel_module* module, const char* method, size_t index, petrel_value* out) {
  PETREL_RETURN_IF_ERROR(check_struct(out, "out"));
  PETREL_RETURN_IF_ERROR(meta_of(module, method).error());
  const auto call = module->calls.find(std::string_view(method));
  if (call == module->calls.end() || !call->second.has_run) {
    PETREL_LOG(Error, "method '%s' has not been run, or its last run failed", method);
    return Error::InvalidState;
  }
  PETREL_RETURN_IF_ERROR(check_index("index", index, call->second.outputs.size()));
  petrel_value value = from_evalue(call->second.outputs[index]);
  const std::vector<Target>& targets = call->second.targets;
  if (index < targets.size() && targets[index].data != nullptr) value.data = targets[index].data;
  assign(out, value);
  return Error::Ok;
}

}  // namespace
}  // namespace petrel::extension::c_api

using namespace petrel::extension::c_api;  // NOLINT: the C names are global
using petrel::runtime::Error;
using petrel::runtime::EValue;
using petrel::runtime::MethodMeta;
using petrel::runtime::Tag;
using petrel::runtime::Tensor;

extern "C" {

petrel_status petrel_module_num_methods(const petrel_module* module, size_t* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(module, "module"));
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    *out = module->names.size();
    return Error::Ok;
  });
}

petrel_status petrel_module_method_name(const petrel_module* module, size_t index,
                                        const char** out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(module, "module"));
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    PETREL_RETURN_IF_ERROR(check_index("index", index, module->names.size()));
    *out = module->names[index].c_str();
    return Error::Ok;
  });
}

petrel_status petrel_module_num_inputs(const petrel_module* module, const char* method,
                                       size_t* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, meta_of(module, method));
    *out = meta.num_inputs();
    return Error::Ok;
  });
}

petrel_status petrel_module_num_outputs(const petrel_module* module, const char* method,
                                        size_t* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, meta_of(module, method));
    *out = meta.num_outputs();
    return Error::Ok;
  });
}

petrel_status petrel_module_input_info(const petrel_module* module, const char* method,
                                       size_t index, petrel_value* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_struct(out, "out"));
    PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, meta_of(module, method));
    PETREL_RETURN_IF_ERROR(check_index("index", index, meta.num_inputs()));
    PETREL_ASSIGN_OR_RETURN(const Tag tag, meta.input_tag(index));
    PETREL_ASSIGN_OR_RETURN(const petrel_value value, info_of(tag, meta.input_tensor_meta(index)));
    assign(out, value);
    return Error::Ok;
  });
}

petrel_status petrel_module_input_levels(const petrel_module* module, const char* method,
                                         size_t index, petrel_levels* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_names(module, method));
    return put_levels(petrel::extension::input_levels(module->module->program(), method, index),
                      out);
  });
}

petrel_status petrel_module_output_levels(const petrel_module* module, const char* method,
                                          size_t index, petrel_levels* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_names(module, method));
    return put_levels(petrel::extension::output_levels(module->module->program(), method, index),
                      out);
  });
}

petrel_status petrel_module_output_info(const petrel_module* module, const char* method,
                                        size_t index, petrel_value* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_struct(out, "out"));
    PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, meta_of(module, method));
    PETREL_RETURN_IF_ERROR(check_index("index", index, meta.num_outputs()));
    PETREL_ASSIGN_OR_RETURN(const Tag tag, meta.output_tag(index));
    PETREL_ASSIGN_OR_RETURN(const petrel_value value, info_of(tag, meta.output_tensor_meta(index)));
    assign(out, value);
    return Error::Ok;
  });
}

petrel_status petrel_module_load_method(petrel_module* module, const char* method) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_names(module, method));
    return module->module->load_method(method);
  });
}

petrel_status petrel_module_unload_method(petrel_module* module, const char* method) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(meta_of(module, method).error());
    module->calls.erase(method);
    module->module->unload_method(method);
    return Error::Ok;
  });
}

petrel_status petrel_module_get_attribute(petrel_module* module, const char* method,
                                          const char* name, petrel_value* out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_struct(out, "out"));
    PETREL_RETURN_IF_ERROR(check_names(module, method));
    PETREL_RETURN_IF_ERROR(require(name, "name"));
    PETREL_ASSIGN_OR_RETURN(const Tensor tensor, module->module->get_attribute(method, name));
    assign(out, from_evalue(EValue(tensor)));
    return Error::Ok;
  });
}

petrel_status petrel_module_set_input(petrel_module* module, const char* method, size_t index,
                                      const petrel_value* value) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_struct(value, "value"));
    PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, meta_of(module, method));
    PETREL_RETURN_IF_ERROR(check_index("index", index, meta.num_inputs()));
    PETREL_RETURN_IF_ERROR(check_input(*value, index));
    Call& call = module->calls[method];
    call.inputs.resize(meta.num_inputs());
    call.inputs[index] = *value;
    return Error::Ok;
  });
}

petrel_status petrel_module_run(petrel_module* module, const char* method) {
  return guarded([&] { return run(module, method); });
}

petrel_status petrel_module_set_output(petrel_module* module, const char* method, size_t index,
                                       void* data, size_t size) {
  return guarded([&]() -> Error {
    PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, meta_of(module, method));
    PETREL_RETURN_IF_ERROR(check_index("index", index, meta.num_outputs()));
    Call& call = module->calls[method];
    call.targets.resize(meta.num_outputs());
    call.targets[index] = {data, size};
    return Error::Ok;
  });
}

petrel_status petrel_module_get_output(const petrel_module* module, const char* method,
                                       size_t index, petrel_value* out) {
  return guarded([&] { return get_output(module, method, index, out); });
}

petrel_status petrel_module_method(petrel_module* module, const char* method, petrel_method** out) {
  return guarded([&]() -> Error {
    PETREL_RETURN_IF_ERROR(require(out, "out"));
    PETREL_RETURN_IF_ERROR(meta_of(module, method).error());
    std::unique_ptr<petrel_method>& made = module->methods[method];
    if (made == nullptr) made.reset(new petrel_method{module, method});
    *out = made.get();
    return Error::Ok;
  });
}

petrel_status petrel_method_set_input(petrel_method* method, size_t index,
                                      const petrel_value* value) {
  const petrel_status status = guarded([&] { return require(method, "method"); });
  if (status != PETREL_OK) return status;
  return petrel_module_set_input(method->module, method->name.c_str(), index, value);
}

petrel_status petrel_method_set_output(petrel_method* method, size_t index, void* data,
                                       size_t size) {
  const petrel_status status = guarded([&] { return require(method, "method"); });
  if (status != PETREL_OK) return status;
  return petrel_module_set_output(method->module, method->name.c_str(), index, data, size);
}

petrel_status petrel_method_run(petrel_method* method) {
  const petrel_status status = guarded([&] { return require(method, "method"); });
  if (status != PETREL_OK) return status;
  return petrel_module_run(method->module, method->name.c_str());
}

petrel_status petrel_method_get_output(const petrel_method* method, size_t index,
                                       petrel_value* out) {
  const petrel_status status = guarded([&] { return require(method, "method"); });
  if (status != PETREL_OK) return status;
  return petrel_module_get_output(method->module, method->name.c_str(), index, out);
}

}  // extern "C"
