// SPDX-License-Identifier: Apache-2.0
//
// Metadata, inputs, runs and outputs of the C interface.

#include <cinttypes>
#include <cstring>
#include <optional>
#include <string_view>

#include "extension/c_api/guard.h"
#include "extension/c_api/handles.h"
#include "extension/c_api/values.h"
#include "extension/levels/levels.h"

namespace petrel::extension::c_api {

using runtime::Error;
using runtime::EValue;
using runtime::MethodMeta;
using runtime::Result;
using runtime::Tag;
using runtime::Tensor;

namespace {

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

// The call that output `index` is of.
Result<const Call*> find_call(const petrel_module* module, const char* method, size_t index) {
  PETREL_RETURN_IF_ERROR(meta_of(module, method).error());
  const auto call = module->calls.find(std::string_view(method));
  if (call == module->calls.end() || !call->second.has_run) {
    PETREL_LOG(Error, "method '%s' has not been run, or its last run failed", method);
    return Error::InvalidState;
  }
  PETREL_RETURN_IF_ERROR(check_index("index", index, call->second.outputs.size()));
  return &call->second;
}

// Null for an output that lies in the module.
void* target_of(const Call& call, size_t index) {
  return index < call.targets.size() ? call.targets[index].data : nullptr;
}

Error get_output(const petrel_module* module, const char* method, size_t index, petrel_value* out) {
  PETREL_RETURN_IF_ERROR(check_struct(out, "out"));
  PETREL_ASSIGN_OR_RETURN(const Call* const call, find_call(module, method, index));
  petrel_value value = from_evalue(call->outputs[index]);
  if (void* const target = target_of(*call, index); target != nullptr) value.data = target;
  assign(out, value);
  return Error::Ok;
}

Error output_stays(const petrel_module* module, const char* method, size_t index, int32_t* out) {
  PETREL_RETURN_IF_ERROR(require(out, "out"));
  PETREL_ASSIGN_OR_RETURN(const Call* const call, find_call(module, method, index));
  const EValue& output = call->outputs[index];
  bool stays = true;
  if (output.isTensor() && target_of(*call, index) == nullptr) {
    const Tensor tensor = output.toTensor();
    stays = tensor.nbytes() == 0 || tensor.is_constant() ||
            module->module->keeps(method, tensor.const_data_ptr());
  }
  *out = stays ? 1 : 0;
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

petrel_status petrel_module_output_stays(const petrel_module* module, const char* method,
                                         size_t index, int32_t* out) {
  return guarded([&] { return output_stays(module, method, index, out); });
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
