// SPDX-License-Identifier: Apache-2.0
#include "extension/porting/module.h"

#include <algorithm>
#include <utility>

#include "runtime/core/log.h"

namespace petrel::porting::extension {

using ::petrel::extension::DataSources;
using runtime::Error;
using runtime::EValue;
using runtime::LoadBackendOptionsMap;
using runtime::MethodMeta;
using runtime::Program;
using runtime::Result;
using runtime::Tensor;

namespace {

::petrel::extension::Module::Options options_of(Module::LoadMode load_mode,
                                                std::vector<std::string> data_files,
                                                runtime::EventTracer* event_tracer,
                                                bool share_memory_arenas) {
  ::petrel::extension::Module::Options options;
  options.data_files = std::move(data_files);
  options.load_mode = load_mode == Module::LoadMode::File ? DataSources::LoadMode::File
                                                          : DataSources::LoadMode::Mmap;
  options.event_tracer = event_tracer;
  options.share_memory_arenas = share_memory_arenas;
  return options;
}

}  // namespace

Module::Module(const std::string& path, LoadMode load_mode,
               std::unique_ptr<runtime::EventTracer> event_tracer, NoAllocator /*unused*/,
               NoAllocator /*unused*/, bool share_memory_arenas)
    : Module(path, std::vector<std::string>(), load_mode, std::move(event_tracer), nullptr, nullptr,
             share_memory_arenas) {}

Module::Module(const std::string& path, const std::string& data_path, LoadMode load_mode,
               std::unique_ptr<runtime::EventTracer> event_tracer, NoAllocator /*unused*/,
               NoAllocator /*unused*/, bool share_memory_arenas)
    : Module(path,
             data_path.empty() ? std::vector<std::string>() : std::vector<std::string>{data_path},
             load_mode, std::move(event_tracer), nullptr, nullptr, share_memory_arenas) {}

Module::Module(const std::string& path, std::vector<std::string> data_files, LoadMode load_mode,
               std::unique_ptr<runtime::EventTracer> event_tracer, NoAllocator /*unused*/,
               NoAllocator /*unused*/, bool share_memory_arenas)
    : path_(path),
      event_tracer_(std::move(event_tracer)),
      options_(
          options_of(load_mode, std::move(data_files), event_tracer_.get(), share_memory_arenas)) {}

Module::Module(std::unique_ptr<runtime::DataLoader> loader, NoAllocator /*unused*/,
               NoAllocator /*unused*/, std::unique_ptr<runtime::EventTracer> event_tracer,
               std::unique_ptr<runtime::DataLoader> data_loader, bool share_memory_arenas)
    : loader_(std::move(loader)),
      event_tracer_(std::move(event_tracer)),
      options_(options_of(LoadMode::File, {}, event_tracer_.get(), share_memory_arenas)) {
  if (data_loader != nullptr) options_.data_loaders.push_back(std::move(data_loader));
}

Module::~Module() = default;

Error Module::load(Program::Verification /*unused*/) { return load(nullptr); }

Error Module::load(const LoadBackendOptionsMap& options, Program::Verification /*unused*/) {
  return load(&options);
}

Error Module::load(const LoadBackendOptionsMap* options) {
  if (module_ != nullptr) return Error::Ok;
  options_.backend_options = options;
  Result<std::unique_ptr<::petrel::extension::Module>> loaded =
      loader_ == nullptr ? ::petrel::extension::Module::load(path_, options_)
                         : ::petrel::extension::Module::load(std::move(loader_), options_);
  if (!loaded.ok()) return loaded.error();
  module_ = std::move(*loaded);
  return Error::Ok;
}

Result<const Program*> Module::program() const {
  if (module_ == nullptr) return Error::InvalidState;
  return &module_->program();
}

Result<size_t> Module::num_methods() {
  PETREL_RETURN_IF_ERROR(load());
  return module_->program().num_methods();
}

Result<std::unordered_set<std::string>> Module::method_names() {
  PETREL_RETURN_IF_ERROR(load());
  const std::vector<std::string> names = module_->method_names();
  return std::unordered_set<std::string>(names.begin(), names.end());
}

Result<MethodMeta> Module::method_meta(const std::string& method) {
  PETREL_RETURN_IF_ERROR(load());
  return module_->method_meta(method);
}

Error Module::load_method(const std::string& method, NoAllocator /*unused*/,
                          std::nullptr_t /*unused*/) {
  PETREL_RETURN_IF_ERROR(load());
  PETREL_RETURN_IF_ERROR(module_->load_method(method));
  calls_[method];
  return Error::Ok;
}

bool Module::unload_method(const std::string& method) {
  if (calls_.erase(method) == 0) return false;
  module_->unload_method(method);
  return true;
}

Result<Module::Call*> Module::call_of(const std::string& method) {
  PETREL_RETURN_IF_ERROR(load_method(method));
  return &calls_[method];
}

Result<std::vector<EValue>> Module::execute(const std::string& method,
                                            const std::vector<EValue>& inputs) {
  PETREL_ASSIGN_OR_RETURN(Call * call, call_of(method));
  std::vector<EValue> all = inputs;
  for (auto next = call->inputs.find(all.size());
       next != call->inputs.end() && next->first == all.size(); ++next) {
    all.push_back(next->second);
  }
  Result<std::vector<EValue>> outputs = module_->execute(method, all);
  call->has_run = outputs.ok();
  if (!outputs.ok()) return outputs.error();
  call->outputs = std::move(*outputs);
  const Error error = copy_outputs(call);
  call->has_run = error == Error::Ok;
  if (error != Error::Ok) return error;
  return call->outputs;
}

Error Module::copy_outputs(Call* call) {
  for (auto& [index, to] : call->outputs_to) {
    if (index >= call->outputs.size() || !call->outputs[index].isTensor()) {
      PETREL_LOG(Error, "output %zu of a method with %zu outputs is no tensor", index,
                 call->outputs.size());
      return Error::InvalidArgument;
    }
    const Tensor from = call->outputs[index].toTensor();
    if (from.scalar_type() != to.scalar_type() || from.dim() != to.dim() ||
        !equal(from.dim_order(), to.dim_order())) {
      PETREL_LOG(Error, "output %zu has another type, rank or dim order than its tensor", index);
      return Error::InvalidArgument;
    }
    PETREL_RETURN_IF_ERROR(to.impl()->resize(from.sizes()));
    PETREL_RETURN_IF_ERROR(copy_bytes(from, to));
    call->outputs[index] = EValue(to);
  }
  return Error::Ok;
}

Result<EValue> Module::get(const std::string& method, const std::vector<EValue>& inputs) {
  Result<std::vector<EValue>> outputs = execute(method, inputs);
  if (!outputs.ok()) return outputs.error();
  if (outputs->empty()) return Error::InvalidArgument;
  return outputs->at(0);
}

Error Module::set_input(const std::string& method, const EValue& value, size_t index) {
  PETREL_ASSIGN_OR_RETURN(Call * call, call_of(method));
  PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, module_->method_meta(method));
  if (index >= meta.num_inputs()) {
    PETREL_LOG(Error, "method '%s' has %zu inputs, none with index %zu", method.c_str(),
               meta.num_inputs(), index);
    return Error::InvalidArgument;
  }
  call->copied_inputs.erase(index);
  call->inputs[index] = value;
  if (!value.isTensor()) return Error::Ok;
  ::petrel::extension::TensorPtr copy = ::petrel::extension::clone_tensor_ptr(value.toTensor());
  if (copy == nullptr) {
    call->inputs.erase(index);
    return Error::InvalidArgument;
  }
  call->inputs[index] = EValue(copy);
  call->copied_inputs[index] = std::move(copy);
  return Error::Ok;
}

Error Module::set_inputs(const std::string& method, const std::vector<EValue>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    PETREL_RETURN_IF_ERROR(set_input(method, values[i], i));
  }
  return Error::Ok;
}

Error Module::set_output(const std::string& method, EValue value, size_t index) {
  PETREL_ASSIGN_OR_RETURN(Call * call, call_of(method));
  PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, module_->method_meta(method));
  PETREL_ASSIGN_OR_RETURN(const Tensor tensor, value.tryToTensor());
  if (index >= meta.num_outputs()) {
    PETREL_LOG(Error, "method '%s' has %zu outputs, none with index %zu", method.c_str(),
               meta.num_outputs(), index);
    return Error::InvalidArgument;
  }
  call->outputs_to.erase(index);
  call->outputs_to.emplace(index, tensor);
  return Error::Ok;
}

Error Module::set_outputs(const std::string& method, const std::vector<EValue>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    PETREL_RETURN_IF_ERROR(set_output(method, values[i], i));
  }
  return Error::Ok;
}

Result<std::vector<EValue>> Module::get_outputs(const std::string& method) {
  PETREL_ASSIGN_OR_RETURN(Call * call, call_of(method));
  if (!call->has_run) {
    PETREL_LOG(Error, "method '%s' has not run", method.c_str());
    return Error::InvalidState;
  }
  return call->outputs;
}

Result<EValue> Module::get_output(const std::string& method, size_t index) {
  Result<std::vector<EValue>> outputs = get_outputs(method);
  if (!outputs.ok()) return outputs.error();
  if (index >= outputs->size()) {
    PETREL_LOG(Error, "method '%s' has %zu outputs, none with index %zu", method.c_str(),
               outputs->size(), index);
    return Error::InvalidArgument;
  }
  return outputs->at(index);
}

}  // namespace petrel::porting::extension
