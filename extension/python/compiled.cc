// SPDX-License-Identifier: Apache-2.0
#include "extension/python/compiled.h"

#include <pybind11/stl.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "extension/compiled/compiled_module.h"
#include "extension/module/error_text.h"
#include "extension/python/array.h"
#include "extension/python/bound_tensor.h"
#include "extension/python/error.h"
#include "extension/python/gil.h"
#include "extension/python/text.h"

namespace petrel::extension::python {

namespace py = pybind11;
using runtime::Error;
using runtime::Result;

namespace {

class LoadedModule {
 public:
  explicit LoadedModule(const std::string& file) {
    alone([&]() -> Error {
      PETREL_ASSIGN_OR_RETURN(module_, CompiledModule::open(file));
      return Error::Ok;
    });
  }

  const petrel_model_metadata& metadata() const { return module_->metadata(); }
  std::vector<std::string> method_names() const { return module_->method_names(); }
  CompiledMethod& method(const std::string& name) const {
    const ErrorText said;
    const Result<CompiledMethod*> method = module_->method(name);
    if (!method.ok()) raise_runtime(method.error(), said.text());
    return **method;
  }

  py::list run(const std::string& name, const py::tuple& arguments) {
    CompiledMethod& called = method(name);
    const petrel_method_info& info = called.info();
    if (arguments.size() != info.num_inputs) {
      raise_error("InvalidArgument", "method '" + name + "' takes " +
                                         std::to_string(info.num_inputs) + " inputs, " +
                                         std::to_string(arguments.size()) + " are given");
    }
    std::vector<std::unique_ptr<BoundTensor>> inputs, outputs;
    std::vector<std::vector<int64_t>> shapes;  // of outputs
    for (size_t i = 0; i < info.num_inputs; ++i) {
      inputs.push_back(bind_input(arguments[i], info.inputs[i]));
    }
    for (size_t i = 0; i < info.num_outputs; ++i) {
      outputs.push_back(make_output(info.outputs[i]));
    }
    alone([&]() -> Error {
      for (size_t i = 0; i < inputs.size(); ++i) {
        PETREL_RETURN_IF_ERROR(called.set_input(i, runtime::Tensor(&inputs[i]->impl)));
      }
      for (size_t i = 0; i < outputs.size(); ++i) {
        PETREL_RETURN_IF_ERROR(called.set_output(i, runtime::Tensor(&outputs[i]->impl)));
      }
      PETREL_RETURN_IF_ERROR(called.run());
      for (size_t i = 0; i < outputs.size(); ++i) {
        PETREL_ASSIGN_OR_RETURN(const runtime::Tensor tensor, called.get_output(i));
        shapes.emplace_back(tensor.sizes().begin(), tensor.sizes().end());
      }
      return Error::Ok;
    });
    py::list results;
    for (size_t i = 0; i < outputs.size(); ++i) {
      results.append(to_python(
          with_sizes(std::move(outputs[i]->array), info.outputs[i], std::move(shapes[i]))));
    }
    return results;
  }

  void reset_state() {
    alone([&] { return module_->reset_state(); });
  }

 private:
  // Does `work`, which returns an Error, alone and without Python's lock.
  template <typename Work>
  void alone(Work work) {
    std::string text;
    const Error error = without_gil([&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      const ErrorText said;
      const Error result = work();
      text = said.text();
      return result;
    });
    if (error != Error::Ok) raise_runtime(error, text);
  }

  std::unique_ptr<CompiledModule> module_;
  std::mutex mutex_;  // held while the module works
};

}  // namespace

void bind_compiled(py::module_& module) {
  py::class_<LoadedModule>(module, "CompiledModule")
      .def("name", [](const LoadedModule& loaded) { return to_text(loaded.metadata().name); })
      .def("sha256", [](const LoadedModule& loaded) { return to_text(loaded.metadata().sha256); })
      .def("method_names", [](const LoadedModule& loaded) { return texts(loaded.method_names()); })
      .def("inputs",
           [](const LoadedModule& loaded, const Text& method) {
             const petrel_method_info& info = loaded.method(method).info();
             return describe(info.inputs, info.num_inputs);
           })
      .def("outputs",
           [](const LoadedModule& loaded, const Text& method) {
             const petrel_method_info& info = loaded.method(method).info();
             return describe(info.outputs, info.num_outputs);
           })
      .def("run", [](LoadedModule& loaded, const Text& method,
                     const py::tuple& arguments) { return loaded.run(method, arguments); })
      .def("reset_state", &LoadedModule::reset_state);
  module.def("open_compiled",
             [](const std::string& path) { return std::make_unique<LoadedModule>(path); });
}

}  // namespace petrel::extension::python
