// SPDX-License-Identifier: Apache-2.0
#include "extension/module/module.h"

#include <algorithm>
#include <utility>

#include "extension/data_loader/buffer_data_loader.h"
#include "extension/module/heap_allocator.h"
#include "runtime/core/budget.h"
#include "runtime/core/log.h"
#include "runtime/threads/thread_count.h"

namespace petrel::extension {

using runtime::DataLoader;
using runtime::Error;
using runtime::EValue;
using runtime::Method;
using runtime::MethodMeta;
using runtime::Program;
using runtime::Registry;
using runtime::Result;
using runtime::Span;
using runtime::Tensor;
using runtime::TensorInfo;

namespace {

// Of kernels and of backends. Backends without threads do not know the option,
// which is not an error.
Error set_num_threads(const Registry& registry, int num_threads) {
  if (num_threads < 0) {
    PETREL_LOG(Error, "num_threads is %d, must not be negative", num_threads);
    return Error::InvalidArgument;
  }
  PETREL_RETURN_IF_ERROR(runtime::set_thread_count(static_cast<size_t>(num_threads)));
  for (const auto& library : registry.backends()) {
    runtime::BackendOptions<1> options;
    PETREL_RETURN_IF_ERROR(options.set_option("num_threads", num_threads));
    const runtime::Backend backend = library();
    const Error error = backend.backend->set_option(options.view());
    if (error == Error::NotImplemented || error == Error::NotFound) continue;
    if (error != Error::Ok) {
      PETREL_LOG(Error, "backend %s cannot use %d threads", backend.name, num_threads);
      return error;
    }
  }
  return Error::Ok;
}

// A tensor with the elements of another, which says how they lie.
struct TensorCopy {
  explicit TensorCopy(const Tensor& from) : TensorCopy(from, from.const_data_ptr()) {}
  TensorCopy(const Tensor& from, const void* data)
      : bytes(static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + from.nbytes()),
        impl(*from.impl()) {
    // As many bytes as before, so it cannot fail.
    static_cast<void>(impl.set_data(bytes.data(), bytes.size()));
  }

  std::vector<uint8_t> bytes;
  runtime::TensorImpl impl;
};

}  // namespace

struct Module::LoadedMethod {
  std::string name;
  HeapAllocator method_allocator;
  HeapAllocator temp_allocator;
  std::vector<std::shared_ptr<Arena>> arenas;
  std::vector<Span<uint8_t>> spans;
  std::unique_ptr<runtime::HierarchicalAllocator> planned;
  std::unique_ptr<runtime::MemoryManager> memory;
  std::vector<Arena> outputs;  // of outputs that the program does not plan
  // Outputs of the last run that lay in memory of the caller.
  std::vector<std::unique_ptr<TensorCopy>> copied_outputs;
  std::unique_ptr<Method> method;

  Error allocate_arenas(const MethodMeta& meta, SharedArenas& shared) {
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      PETREL_ASSIGN_OR_RETURN(const size_t size, meta.memory_planned_buffer_size(i));
      PETREL_ASSIGN_OR_RETURN(std::shared_ptr<Arena> arena, shared.get(i, size));
      spans.push_back(arena->span().first(size));
      arenas.push_back(std::move(arena));
    }
    planned = std::make_unique<runtime::HierarchicalAllocator>(
        Span<Span<uint8_t>>(spans.data(), spans.size()));
    memory =
        std::make_unique<runtime::MemoryManager>(&method_allocator, planned.get(), &temp_allocator);
    return Error::Ok;
  }

  // True for addresses that a run can overwrite.
  bool owns(const void* address) const {
    return std::any_of(arenas.begin(), arenas.end(),
                       [&](const auto& arena) { return arena->contains(address); }) ||
           std::any_of(outputs.begin(), outputs.end(),
                       [&](const Arena& arena) { return arena.contains(address); });
  }

  // Forgets the inputs; what outputs have of them is copied.
  std::vector<EValue> take_outputs() {
    std::vector<EValue> taken(method->outputs_size());
    for (size_t i = 0; i < taken.size(); ++i) taken[i] = method->get_output(i);
    if (!method->points_at_inputs()) return taken;
    std::vector<const void*> data(taken.size());
    for (size_t i = 0; i < taken.size(); ++i) {
      if (taken[i].isTensor()) data[i] = taken[i].toTensor().const_data_ptr();
    }
    method->unbind_inputs();
    std::vector<std::unique_ptr<TensorCopy>> copies;
    for (size_t i = 0; i < taken.size(); ++i) {
      if (data[i] == nullptr || taken[i].toTensor().const_data_ptr() != nullptr) continue;
      copies.push_back(std::make_unique<TensorCopy>(taken[i].toTensor(), data[i]));
      taken[i] = EValue(Tensor(&copies.back()->impl));
    }
    // Not earlier: an input may have been a copy of the last run.
    copied_outputs = std::move(copies);
    return taken;
  }

  Error provide_outputs(const MethodMeta& meta, const runtime::Limits& limits) {
    runtime::Budget bytes("max_input_bytes", limits.max_input_bytes);
    for (size_t i = 0; i < meta.num_outputs(); ++i) {
      const Result<TensorInfo> info = meta.output_tensor_meta(i);
      if (!info.ok() || info->is_memory_planned() || info->is_constant()) continue;
      PETREL_RETURN_IF_ERROR(bytes.take("an output that is not planned", info->nbytes()));
      outputs.emplace_back();
      PETREL_RETURN_IF_ERROR(outputs.back().allocate(info->nbytes()));
      PETREL_RETURN_IF_ERROR(method->set_output_data_ptr(outputs.back().span().data(),
                                                         outputs.back().span().size(), i));
    }
    return Error::Ok;
  }
};

Module::Module() = default;
Module::~Module() = default;

Result<std::unique_ptr<Module>> Module::load(const std::string& path) {
  return load(path, Options());
}

Result<std::unique_ptr<Module>> Module::load(const std::string& path, const Options& options) {
  PETREL_ASSIGN_OR_RETURN(std::unique_ptr<DataLoader> loader, open_file(path, options.load_mode));
  return load(std::move(loader), options);
}

Result<std::unique_ptr<Module>> Module::load(const void* data, size_t size,
                                             const Options& options) {
  return load(std::make_unique<BufferDataLoader>(data, size), options);
}

Result<std::unique_ptr<Module>> Module::load(std::unique_ptr<DataLoader> loader,
                                             const Options& options) {
  std::unique_ptr<Module> module(new Module());
  module->loader_ = std::move(loader);
  return finish(std::move(module), options);
}

Result<std::unique_ptr<Module>> Module::finish(std::unique_ptr<Module> module,
                                               const Options& options) {
  const Registry& registry =
      options.registry != nullptr ? *options.registry : runtime::default_registry();
  PETREL_RETURN_IF_ERROR(set_num_threads(registry, options.num_threads));

  runtime::ProgramOptions program_options;
  program_options.registry = &registry;
  program_options.data_precedence = options.data_precedence;
  program_options.writable_inputs = options.writable_inputs;
  program_options.limits = options.limits;
  program_options.data_is_held = true;
  Result<Program> program = Program::load(module->loader_.get(), program_options);
  if (!program.ok()) return program.error();
  module->program_ = std::make_unique<Program>(std::move(program.get()));
  module->event_tracer_ = options.event_tracer;
  module->backend_options_ = options.backend_options;
  PETREL_ASSIGN_OR_RETURN(module->shared_arenas_,
                          SharedArenas::find(*module->program_, options.share_memory_arenas));

  PETREL_ASSIGN_OR_RETURN(module->data_, LoadedData::load(options, *module->program_));
  return module;
}

std::vector<std::string> Module::method_names() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < program_->num_methods(); ++i) {
    names.push_back(program_->get_method_name(i).get());
  }
  return names;
}

Result<MethodMeta> Module::method_meta(const std::string& method) const {
  return program_->method_meta(method);
}

Error Module::load_method(const std::string& method) {
  const Result<LoadedMethod*> result = loaded(method);
  return result.ok() ? Error::Ok : result.error();
}

void Module::unload_method(const std::string& method) {
  for (size_t i = 0; i < methods_.size(); ++i) {
    if (methods_[i]->name != method) continue;
    methods_.erase(methods_.begin() + static_cast<ptrdiff_t>(i));
    return;
  }
}

Result<Module::LoadedMethod*> Module::loaded(const std::string& method) {
  for (const auto& known : methods_) {
    if (known->name == method) return known.get();
  }
  PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, program_->method_meta(method));
  auto made = std::make_unique<LoadedMethod>();
  made->name = method;
  PETREL_RETURN_IF_ERROR(made->allocate_arenas(meta, shared_arenas_));
  std::vector<MethodMeta> others;
  for (const auto& known : methods_) others.push_back(known->method->method_meta());
  const KeptState kept(shared_arenas_, meta, made->arenas, others);
  Result<Method> result = program_->load_method(method, made->memory.get(), event_tracer_,
                                                data_->map(), backend_options_);
  kept.restore();
  if (!result.ok()) return result.error();
  made->method = std::make_unique<Method>(std::move(result.get()));
  PETREL_RETURN_IF_ERROR(made->provide_outputs(meta, program_->options().limits));
  methods_.push_back(std::move(made));
  return methods_.back().get();
}

EValue Module::get_input(const std::string& method, size_t index) {
  const Result<LoadedMethod*> made = loaded(method);
  return made.ok() ? (*made)->method->get_input(index) : EValue();
}

Result<std::vector<EValue>> Module::execute(const std::string& method,
                                            const std::vector<EValue>& inputs) {
  PETREL_ASSIGN_OR_RETURN(LoadedMethod * made, loaded(method));
  Method& runnable = *made->method;
  if (inputs.size() != runnable.inputs_size()) {
    PETREL_LOG(Error, "method '%s' takes %zu inputs, %zu are given", method.c_str(),
               runnable.inputs_size(), inputs.size());
    return Error::InvalidArgument;
  }
  // An output of an earlier call may lie where an input goes.
  std::vector<TensorCopy> copies;
  copies.reserve(inputs.size());  // they are pointed at
  std::vector<EValue> safe = inputs;
  for (EValue& input : safe) {
    if (!input.isTensor() || !made->owns(input.toTensor().const_data_ptr())) continue;
    copies.emplace_back(input.toTensor());
    input = EValue(Tensor(&copies.back().impl));
  }
  struct Unbind {
    ~Unbind() { method.unbind_inputs(); }
    Method& method;
  } const unbind{runnable};
  for (size_t i = 0; i < safe.size(); ++i) {
    PETREL_RETURN_IF_ERROR(runnable.set_input(safe[i], i));
  }
  PETREL_RETURN_IF_ERROR(runnable.execute());
  std::vector<EValue> outputs = made->take_outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    // A tensor may have been moved here to which nobody gave memory.
    if (outputs[i].isTensor() && outputs[i].toTensor().nbytes() != 0 &&
        outputs[i].toTensor().const_data_ptr() == nullptr) {
      PETREL_LOG(Error, "output %zu of method '%s' is a tensor without memory", i, method.c_str());
      return Error::InvalidProgram;
    }
  }
  return outputs;
}

}  // namespace petrel::extension
