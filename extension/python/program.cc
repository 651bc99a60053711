// SPDX-License-Identifier: Apache-2.0
#include "extension/python/program.h"

#include <pybind11/stl.h>

#include <cstring>
#include <map>
#include <utility>

#include "extension/levels/levels.h"
#include "extension/module/error_text.h"
#include "extension/named_data_map/safetensors_map.h"
#include "extension/python/gil.h"
#include "extension/python/program_collector.h"
#include "extension/python/python_source.h"
#include "extension/python/text.h"
#include "runtime/core/budget.h"
#include "runtime/threads/thread_count.h"

namespace petrel::extension::python {

namespace py = pybind11;
using runtime::DataLoader;
using runtime::Error;
using runtime::EValue;
using runtime::MethodMeta;
using runtime::Result;
using runtime::Span;
using runtime::Tag;
using runtime::TensorInfo;

namespace {

std::shared_ptr<void> copy_of(const runtime::Tensor& tensor) {
  std::shared_ptr<void> memory = aligned_memory(tensor.nbytes());
  if (tensor.nbytes() > 0) {
    std::memcpy(memory.get(), tensor.const_data_ptr(), tensor.nbytes());
  }
  return memory;
}

// An array like `tensor`, but over its own memory.
py::object over_memory(const runtime::Tensor& tensor, std::shared_ptr<void> memory) {
  const std::vector<int64_t> shape(tensor.sizes().begin(), tensor.sizes().end());
  void* const data = memory.get();
  return to_python(dense_array(tensor.scalar_type(), shape, tensor.dim_order(), data,
                               /*is_writable=*/true, std::move(memory)));
}

}  // namespace

LoadedProgram::LoadedProgram()
    : pending_(std::make_shared<Pending>()),
      referents_(std::make_shared<Referents>()),
      generation_(fork_generation()) {}

LoadedProgram::~LoadedProgram() {
  if (generation_ == fork_generation()) return;
  // The threads that the backends would join are those of another process.
  static_cast<void>(module_.release());
  static_cast<void>(registry_.release());
  for (auto& backend : python_backends_) static_cast<void>(backend.release());
}

int LoadedProgram::visit(visitproc visitor, void* context) const {
  return generation_ == fork_generation() ? referents_->visit(visitor, context) : 0;
}

void LoadedProgram::let_go() {
  if (generation_ != fork_generation()) return;
  is_whole_ = false;
  module_.reset();
  registry_.reset();
  libraries_.clear();
  python_backends_.clear();
}

void LoadedProgram::check_is_whole() const {
  if (!is_whole_) raise_error("InvalidState", "the program is being destroyed");
}

std::vector<std::string> LoadedProgram::method_names() const {
  check_is_whole();
  return module_->method_names();
}

template <typename Work>
void LoadedProgram::alone(Work work) {
  check_is_whole();
  if (generation_ != fork_generation()) {
    raise_error("InvalidState",
                "the program was loaded before fork() and cannot be used in the new process; "
                "load it there");
  }
  const Turns::Turn turn(&turns_, "the program");
  std::string text;
  const Error error = without_gil([&] {
    const ErrorText said;
    const Error result = work();
    text = said.text();
    return result;
  });
  const py::object raised = pending_->take();
  if (raised) raise_exception(raised);
  if (error != Error::Ok) raise_runtime(error, text);
}

std::shared_ptr<LoadedProgram> LoadedProgram::load(const py::object& source, const py::list& data,
                                                   const py::list& backends,
                                                   const Options& options) {
  const std::shared_ptr<LoadedProgram> program(new LoadedProgram());
  LoadedProgram* const self = program.get();
  const runtime::Registry& built_in = runtime::default_registry();
  program->libraries_.assign(built_in.backends().begin(), built_in.backends().end());
  for (const py::handle backend : backends) {
    auto made = std::make_unique<PythonRuntimeBackend>(
        py::reinterpret_borrow<py::object>(backend), program->pending_, program->referents_,
        [self](const runtime::Tensor& tensor) { return self->memory_of(tensor); },
        [self](const std::string& key) {
          const ErrorText said;
          const Result<Module::SharedBytes> bytes = self->share_data(key);
          if (!bytes.ok()) raise_runtime(bytes.error(), said.text());
          return *bytes;
        });
    for (const auto& library : program->libraries_) {
      if (made->id() == library().name) {
        raise_error("AlreadyExists", "there are two runtime backends '" + made->id() + "'");
      }
    }
    program->libraries_.push_back(made->library());
    program->python_backends_.push_back(std::move(made));
  }
  const std::vector<runtime::BackendLibrary>& libraries = program->libraries_;
  program->registry_ = std::make_unique<runtime::Registry>(
      built_in.kernels(), Span<const runtime::BackendLibrary>(libraries.data(), libraries.size()));
  program->open(source, data, options);
  return program;
}

void LoadedProgram::open(const py::object& source, const py::list& data, const Options& options) {
  PythonSource opened = open_source(source);
  if (opened.owner != nullptr) held_.push_back(opened.owner);
  Module::Options module_options;
  module_options.load_mode = load_mode_ = options.load_mode;
  module_options.data_order = options.data_order;
  set_backend_options(options);
  module_options.backend_options = &options_by_backend_;
  add_data(data, &module_options);
  module_options.share_memory_arenas = options.share_memory;
  module_options.writable_inputs = options.writable_inputs;
  module_options.limits = options.limits;
  writable_inputs_ = options.writable_inputs;
  module_options.registry = registry_.get();
  module_options.data_precedence = options.precedence;
  module_options.num_threads =
      options.num_threads.value_or(static_cast<int>(runtime::thread_count()));
  alone([&]() -> Error {
    Result<std::unique_ptr<Module>> module =
        opened.loader != nullptr ? Module::load(std::move(opened.loader), module_options)
                                 : Module::load(opened.path, module_options);
    if (!module.ok()) return module.error();
    module_ = std::move(module.get());
    return Error::Ok;
  });
}

void LoadedProgram::set_backend_options(const Options& options) {
  for (const auto& [backend, by_key] : options.backend_options) {
    runtime::BackendOptions<kMostOptions>& of_backend = backend_options_.emplace_back();
    for (const auto& [key, value] : by_key) {
      Error error = Error::Ok;
      if (const auto* text = std::get_if<std::string>(&value)) {
        error = of_backend.set_option(key, text->c_str());
      } else if (const auto* flag = std::get_if<bool>(&value)) {
        error = of_backend.set_option(key, *flag);
      } else {
        error = of_backend.set_option(key, std::get<int>(value));
      }
      if (error == Error::Ok) continue;
      throw py::value_error("option '" + key + "' of backend '" + backend +
                            "' is too long, or one of more than " + std::to_string(kMostOptions));
    }
    if (options_by_backend_.set_options(backend, of_backend.view()) != Error::Ok) {
      throw py::value_error("there are options of more than " +
                            std::to_string(runtime::LoadBackendOptionsMap::kMaxBackends) +
                            " backends, or the name of one is too long");
    }
  }
}

void LoadedProgram::add_data(const py::list& data, DataSources* to) {
  to->other_data = read_safetensors;
  for (const py::handle entry : data) {
    const auto object = py::reinterpret_borrow<py::object>(entry);
    if (py::hasattr(object, "get_data")) {
      to->data_maps.push_back(std::make_shared<PythonDataMap>(object, pending_, referents_));
      continue;
    }
    auto opened = std::make_shared<PythonSource>(open_source(object));
    if (opened->loader != nullptr) {
      to->data_loaders.emplace_back(opened, opened->loader.get());
      continue;
    }
    alone([&]() -> Error {
      PETREL_ASSIGN_OR_RETURN(std::unique_ptr<DataLoader> loader,
                              open_file(opened->path, to->load_mode));
      to->data_loaders.push_back(std::move(loader));
      return Error::Ok;
    });
  }
}

py::dict LoadedProgram::replace_data(const py::list& data, const std::string& keys,
                                     MergeOrder data_order) {
  DataSources sources;
  sources.load_mode = load_mode_;
  sources.data_order = data_order;
  add_data(data, &sources);
  Module::Replaced replaced;
  alone([&]() -> Error {
    PETREL_RETURN_IF_ERROR(check_no_lease(weight_lease_, "the data is not replaced"));
    PETREL_ASSIGN_OR_RETURN(replaced, module_->replace_data(sources, keys));
    return Error::Ok;
  });
  py::dict dict;
  dict["keys"] = replaced.keys;
  dict["changed"] = replaced.changed;
  dict["delegates"] = replaced.delegates;
  dict["tensors"] = replaced.tensors;
  dict["warning"] = to_text(replaced.warning);
  return dict;
}

py::object LoadedProgram::get_attribute(const std::string& method, const std::string& name) {
  py::object array;
  alone([&]() -> Error {
    PETREL_ASSIGN_OR_RETURN(const runtime::Tensor tensor, module_->get_attribute(method, name));
    std::shared_ptr<void> copy = copy_of(tensor);
    const Gil gil;
    array = over_memory(tensor, std::move(copy));
    return Error::Ok;
  });
  return array;
}

void LoadedProgram::unload_method(const std::string& method) {
  meta(method);
  alone([&]() -> Error {
    const auto lease = method_leases_.find(method);
    if (lease != method_leases_.end()) {
      PETREL_RETURN_IF_ERROR(check_no_lease(lease->second, "the method is not unloaded"));
    }
    module_->unload_method(method);
    return Error::Ok;
  });
}

MethodMeta LoadedProgram::meta(const std::string& method) const {
  check_is_whole();
  const ErrorText said;
  const Result<MethodMeta> meta = module_->method_meta(method);
  if (!meta.ok()) raise_runtime(meta.error(), said.text());
  return *meta;
}

void LoadedProgram::load_method(const std::string& method) {
  alone([&] { return module_->load_method(method); });
}

Result<Module::SharedBytes> LoadedProgram::share_data(const std::string& key) const {
  PETREL_ASSIGN_OR_RETURN(Module::SharedBytes bytes, module_->share_data(key));
  // A loader of bytes of Python does not hold them.
  using Owners = std::pair<std::vector<std::shared_ptr<const void>>, std::shared_ptr<const void>>;
  bytes.owner = std::make_shared<Owners>(held_, std::move(bytes.owner));
  return bytes;
}

py::object LoadedProgram::get_data(const std::string& key) {
  Module::SharedBytes bytes;
  alone([&]() -> Error {
    PETREL_ASSIGN_OR_RETURN(bytes, share_data(key));
    return Error::Ok;
  });
  return shared_array(bytes);
}

LoadedProgram::Lease LoadedProgram::lease(std::weak_ptr<const void>* last) const {
  if (Lease alive = last->lock()) return alive;
  const Lease made =
      std::make_shared<const std::shared_ptr<const LoadedProgram>>(shared_from_this());
  *last = made;
  return made;
}

Error LoadedProgram::check_no_lease(const std::weak_ptr<const void>& last,
                                    const char* action) const {
  if (last.expired()) return Error::Ok;
  PETREL_LOG(Error, "%s: arrays that show its memory are still held; drop or copy them", action);
  return Error::InvalidState;
}

Memory LoadedProgram::memory_of(const runtime::Tensor& tensor) {
  if (inputs_ != nullptr) {
    for (const auto& input : *inputs_) {
      if (input->contains(tensor.const_data_ptr())) return {input->owner(), false};
    }
  }
  const Lease of_method = lease(&method_leases_[running_]);
  if (!tensor.is_constant()) return {of_method, true};
  return {std::make_shared<const std::pair<Lease, Lease>>(of_method, lease(&weight_lease_)), false};
}

py::list LoadedProgram::run(const std::string& method, const py::args& args, bool copy_outputs) {
  const MethodMeta declared = meta(method);
  if (args.size() != declared.num_inputs()) {
    raise_error("InvalidArgument", "method '" + method + "' takes " +
                                       std::to_string(declared.num_inputs()) + " inputs, " +
                                       std::to_string(args.size()) + " are given");
  }
  std::vector<std::unique_ptr<Input>> inputs;
  std::vector<EValue> values;
  for (size_t i = 0; i < args.size(); ++i) {
    inputs.push_back(std::make_unique<Input>(args[i], declared, i, writable_inputs_));
    values.push_back(inputs.back()->value());
  }
  py::list results;
  alone([&]() -> Error {
    inputs_ = &inputs;
    running_ = method;
    struct Forget {
      ~Forget() { inputs = nullptr; }
      const std::vector<std::unique_ptr<Input>>*& inputs;
    } const forget{inputs_};
    PETREL_ASSIGN_OR_RETURN(const std::vector<EValue> outputs, module_->execute(method, values));
    // Here, before another thread runs the method again.
    std::vector<std::shared_ptr<void>> copies(outputs.size());
    // A program may have one tensor as many outputs.
    runtime::Budget bytes("max_input_bytes", module_->program().options().limits.max_input_bytes);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].isTensor()) continue;
      const runtime::Tensor tensor = outputs[i].toTensor();
      // What lay in memory of an input is a copy that the next call replaces.
      const bool stays = tensor.is_constant() || module_->keeps(method, tensor.const_data_ptr());
      if (!copy_outputs && stays) continue;
      PETREL_RETURN_IF_ERROR(bytes.take("copying an output", outputs[i].toTensor().nbytes()));
      copies[i] = copy_of(outputs[i].toTensor());
    }
    const Gil gil;
    for (size_t i = 0; i < outputs.size(); ++i) {
      results.append(copies[i] != nullptr
                         ? over_memory(outputs[i].toTensor(), std::move(copies[i]))
                         : value_to_python(outputs[i], [this](const runtime::Tensor& tensor) {
                             return Memory{memory_of(tensor).owner, false};
                           }));
    }
    return Error::Ok;
  });
  return results;
}

namespace {

// (kind, dtype, shape, dim order, is dynamic, scale, zero point) of an input or output.
py::tuple describe(Tag tag, const Result<TensorInfo>& info,
                   const Result<std::optional<Levels>>& levels, const ErrorText& said) {
  if (!levels.ok()) raise_runtime(levels.error(), said.text());
  if (tag != Tag::Tensor || !info.ok()) {
    return py::make_tuple(to_string(tag), py::none(), py::none(), py::none(), false, py::none(),
                          py::none());
  }
  const std::optional<Levels>& known = *levels;
  const std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
  const std::vector<int> order(info->dim_order().begin(), info->dim_order().end());
  return py::make_tuple("Tensor", to_string(info->scalar_type()), py::tuple(py::cast(sizes)),
                        py::tuple(py::cast(order)),
                        info->shape_dynamism() != runtime::TensorShapeDynamism::STATIC,
                        known ? py::object(py::float_(known->scale)) : py::none(),
                        known ? py::object(py::int_(known->zero_point)) : py::none());
}

MergeOrder merge_order(const std::string& word) {
  if (word == "first") return MergeOrder::FirstCounts;
  if (word == "refuse") return MergeOrder::RefuseDifferent;
  throw py::value_error("data_order is '" + word + "', must be 'refuse' or 'first'");
}

std::shared_ptr<LoadedProgram> load(const py::object& source, const py::list& data,
                                    const py::list& backends, std::optional<int> num_threads,
                                    const std::string& load_mode, bool share_memory,
                                    const std::string& precedence, const std::string& data_order,
                                    bool writable_inputs,
                                    const std::map<std::string, uint64_t>& limits,
                                    decltype(LoadedProgram::Options::backend_options) told) {
  LoadedProgram::Options options;
  options.data_order = merge_order(data_order);
  options.backend_options = std::move(told);
  options.num_threads = num_threads;
  options.share_memory = share_memory;
  options.writable_inputs = writable_inputs;
  for (const runtime::LimitRow& row : runtime::kLimitRows) {
    const auto given = limits.find(row.name);
    if (given != limits.end()) options.limits.*row.value = given->second;
  }
  if (load_mode == "mmap") {
    options.load_mode = Module::LoadMode::Mmap;
  } else if (load_mode != "file") {
    throw py::value_error("load_mode is '" + load_mode + "', must be 'file' or 'mmap'");
  }
  if (precedence == "external") {
    options.precedence = runtime::DataPrecedence::ExternalFirst;
  } else if (precedence == "program") {
    options.precedence = runtime::DataPrecedence::ProgramFirst;
  } else if (precedence != "refuse") {
    throw py::value_error("precedence is '" + precedence +
                          "', must be 'refuse', 'external' or 'program'");
  }
  return LoadedProgram::load(source, data, backends, options);
}

}  // namespace

void bind_program(py::module_& module) {
  py::class_<LoadedProgram, std::shared_ptr<LoadedProgram>>(
      module, "LoadedProgram", py::custom_type_setup(&let_collector_see))
      .def("method_names",
           [](const LoadedProgram& program) { return texts(program.method_names()); })
      .def("load_method",
           [](LoadedProgram& program, const Text& method) { program.load_method(method); })
      .def("unload_method",
           [](LoadedProgram& program, const Text& method) { program.unload_method(method); })
      .def("replace_data",
           [](LoadedProgram& program, const py::list& data, const Text& keys,
              const std::string& data_order) {
             return program.replace_data(data, keys, merge_order(data_order));
           })
      .def("get_attribute", [](LoadedProgram& program, const Text& method,
                               const Text& name) { return program.get_attribute(method, name); })
      .def("get_data",
           [](LoadedProgram& program, const Text& key) { return program.get_data(key); })
      .def("inputs",
           [](const LoadedProgram& program, const Text& method) {
             const MethodMeta meta = program.meta(method);
             const ProgramLevels told(program.program());
             py::list all;
             for (size_t i = 0; i < meta.num_inputs(); ++i) {
               const ErrorText said;
               const auto levels = told.input(method.bytes, i);
               all.append(describe(*meta.input_tag(i), meta.input_tensor_meta(i), levels, said));
             }
             return all;
           })
      .def("outputs",
           [](const LoadedProgram& program, const Text& method) {
             const MethodMeta meta = program.meta(method);
             const ProgramLevels told(program.program());
             py::list all;
             for (size_t i = 0; i < meta.num_outputs(); ++i) {
               const ErrorText said;
               const auto levels = told.output(method.bytes, i);
               all.append(describe(*meta.output_tag(i), meta.output_tensor_meta(i), levels, said));
             }
             return all;
           })
      .def("backends",
           [](const LoadedProgram& program, const Text& method) {
             const MethodMeta meta = program.meta(method);
             std::vector<Text> names;
             for (size_t i = 0; i < meta.num_backends(); ++i) {
               names.emplace_back(*meta.get_backend_name(i));
             }
             return names;
           })
      .def("run", [](LoadedProgram& program, const Text& method, const py::tuple& args,
                     bool copy_outputs) {
        return program.run(method, py::reinterpret_borrow<py::args>(args), copy_outputs);
      });
  module.def("load", &load);
}

}  // namespace petrel::extension::python
