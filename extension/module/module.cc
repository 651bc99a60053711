// SPDX-License-Identifier: Apache-2.0
#include "extension/module/module.h"

#include <algorithm>
#include <utility>

#include "extension/data_loader/memory.h"
#include "extension/data_loader/spare_memory.h"
#include "extension/module/loaded_method.h"
#include "runtime/core/log.h"
#include "runtime/threads/thread_count.h"

namespace petrel::extension {

using runtime::DataLoader;
using runtime::Error;
using runtime::EValue;
using runtime::FreeableBuffer;
using runtime::Method;
using runtime::MethodMeta;
using runtime::NamedDataMap;
using runtime::Program;
using runtime::Registry;
using runtime::Result;
using runtime::Tensor;

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

// What weights were read through is no use to a module that has them.
struct Loading {
  ~Loading() { SpareMemory::clear(); }
};

}  // namespace

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
  return load(open_memory(data, size), options);
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

  PETREL_ASSIGN_OR_RETURN(std::unique_ptr<LoadedData> data,
                          LoadedData::load(options, *module->program_));
  PETREL_RETURN_IF_ERROR(data->check_layouts());
  PETREL_RETURN_IF_ERROR(data->check_related(*module->program_));
  PETREL_ASSIGN_OR_RETURN(module->data_, ModuleData::create(std::move(data)));
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

Result<LoadedMethod*> Module::loaded(const std::string& method) {
  for (const auto& known : methods_) {
    if (known->name == method) return known.get();
  }
  PETREL_ASSIGN_OR_RETURN(const MethodMeta meta, program_->method_meta(method));
  const Loading loading;
  auto made = std::make_unique<LoadedMethod>();
  made->name = method;
  PETREL_RETURN_IF_ERROR(made->allocate_arenas(meta, shared_arenas_));
  std::vector<MethodMeta> others;
  for (const auto& known : methods_) others.push_back(known->method->method_meta());
  {
    PETREL_ASSIGN_OR_RETURN(const KeptState kept,
                            KeptState::of(shared_arenas_, meta, made->arenas, others,
                                          program_->options().limits.max_arena_bytes));
    Result<Method> result = program_->load_method(method, made->memory.get(), event_tracer_,
                                                  data_.get(), backend_options_);
    if (!result.ok()) return result.error();
    made->method = std::make_unique<Method>(std::move(result.get()));
  }
  PETREL_RETURN_IF_ERROR(made->provide_outputs(meta, program_->options().limits));
  made->touch_arenas();
  methods_.push_back(std::move(made));
  return methods_.back().get();
}

Result<Module::Replaced> Module::replace_data(const NamedDataMap& map, const std::string& keys) {
  DataSources data;
  data.named_data_map = &map;
  return replace_data(data, keys);
}

Result<Module::Replaced> Module::replace_data(const DataSources& data, const std::string& keys) {
  const Loading loading;
  Result<std::unique_ptr<LoadedData>> opened = LoadedData::load(data, *program_);
  if (!opened.ok()) return opened.error();
  const bool is_complete = methods_.size() == program_->num_methods();
  PETREL_ASSIGN_OR_RETURN(const DataChange change,
                          data_->compare(std::move(*opened), keys, *program_, is_complete));
  Replaced replaced;
  replaced.keys = change.num_matches;
  replaced.changed = change.keys.size();
  if (change.keys.empty()) {
    replaced.warning = "the data changes no weight: all " + std::to_string(change.num_matches) +
                       " that \"" + keys + "\" matches are equal";
    PETREL_LOG(Warning, "%s", replaced.warning.c_str());
    return replaced;
  }
  const std::vector<std::string_view> changed(change.keys.begin(), change.keys.end());
  // What is made of the data of either goes before it: swaps after sources.
  ReplacedSources sources(data_.get());
  std::vector<std::unique_ptr<MethodSwap>> swaps;
  PETREL_RETURN_IF_ERROR(sources.replace(change));
  for (const auto& method : methods_) {
    swaps.push_back(
        std::make_unique<MethodSwap>(method.get(), ++num_replacements_, backend_options_));
    const Error error = swaps.back()->prepare({changed.data(), changed.size()});
    if (error == Error::Ok) continue;
    PETREL_LOG(Error, "method '%s' cannot have the data", method->name.c_str());
    return error;
  }
  // From here on nothing may fail before the sources are kept.
  for (const auto& swap : swaps) {
    swap->commit();
    replaced.delegates += swap->num_delegates();
    replaced.tensors += swap->num_tensors();
  }
  swaps.clear();
  sources.keep();
  const bool has_effect = replaced.delegates + replaced.tensors > 0;
  if (!has_effect && is_complete) {
    replaced.warning = "no method uses what changes, such as \"" + change.keys[0] + "\"";
  } else if (!has_effect && change.num_unknown == change.num_matches) {
    replaced.warning = "no loaded method is known to need what changes, such as \"" +
                       change.keys[0] + "\"; methods that are loaded later may";
  }
  if (!replaced.warning.empty()) PETREL_LOG(Warning, "%s", replaced.warning.c_str());
  return replaced;
}

Result<Tensor> Module::get_attribute(const std::string& method, const std::string& name) {
  PETREL_ASSIGN_OR_RETURN(LoadedMethod * made, loaded(method));
  return made->method->get_attribute(name);
}

Result<FreeableBuffer> Module::get_data(const std::string& key) const {
  return runtime::MethodDataMap(*data_, program_->named_data(), program_->options().data_precedence)
      .get_data(key);
}

bool Module::keeps(const std::string& method, const void* address) const {
  for (const auto& known : methods_) {
    if (known->name == method) return known->owns(address);
  }
  return false;
}

Result<Module::SharedBytes> Module::share_data(const std::string& key) const {
  // Of members the last goes first: the bytes before what they lie in.
  struct Held {
    std::shared_ptr<const void> lie_in;
    FreeableBuffer data;
  };
  auto held = std::make_shared<Held>();
  const auto precedence = program_->options().data_precedence;
  if (precedence == runtime::DataPrecedence::RefuseDifferent) {
    PETREL_RETURN_IF_ERROR(get_data(key).error());
  }
  const NamedDataMap* maps[] = {nullptr, &program_->named_data()};
  std::shared_ptr<const void> owners[] = {nullptr, loader_};
  if (const auto source = data_->source_of(key); source != nullptr) {
    maps[0] = source->map();
    owners[0] = source;
  }
  const size_t first = precedence == runtime::DataPrecedence::ProgramFirst ? 1 : 0;
  for (const size_t i : {first, 1 - first}) {
    if (maps[i] == nullptr) continue;
    Result<FreeableBuffer> data = maps[i]->get_data(key);
    if (data.error() == Error::NotFound) continue;
    if (!data.ok()) return data.error();
    held->lie_in = owners[i];
    held->data = std::move(*data);
    return SharedBytes{held->data.data(), held->data.size(), held};
  }
  return Error::NotFound;
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
  std::vector<std::unique_ptr<TensorCopy>> copies;
  std::vector<EValue> safe = inputs;
  for (EValue& input : safe) {
    if (!input.isTensor() || !made->owns(input.toTensor().const_data_ptr())) continue;
    const Tensor tensor = input.toTensor();
    PETREL_ASSIGN_OR_RETURN(std::unique_ptr<TensorCopy> copy,
                            TensorCopy::make(tensor, tensor.const_data_ptr()));
    copies.push_back(std::move(copy));
    input = EValue(Tensor(&copies.back()->impl));
  }
  struct Unbind {
    ~Unbind() { method.unbind_inputs(); }
    Method& method;
  } const unbind{runnable};
  for (size_t i = 0; i < safe.size(); ++i) {
    PETREL_RETURN_IF_ERROR(runnable.set_input(safe[i], i));
  }
  PETREL_RETURN_IF_ERROR(runnable.execute());
  PETREL_ASSIGN_OR_RETURN(std::vector<EValue> outputs,
                          made->take_outputs(program_->options().limits));
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
