// SPDX-License-Identifier: Apache-2.0
#include "extension/python/compiled.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "extension/compiled/compiled_module.h"
#include "extension/module/error_text.h"
#include "extension/python/array.h"
#include "extension/python/error.h"
#include "extension/python/gil.h"

namespace petrel::extension::python {

namespace py = pybind11;
using runtime::Error;
using runtime::Result;
using runtime::ScalarType;
using runtime::Span;
using runtime::TensorImpl;

namespace {

// A tensor over an array, as the runtime wants it.
struct BoundTensor {
  BoundTensor(Array given, const petrel_tensor_info& info)
      : array(std::move(given)),
        sizes(array.shape.begin(), array.shape.end()),
        dim_order(info.dim_order, info.dim_order + info.rank),
        impl(array.dtype, static_cast<ssize_t>(sizes.size()), sizes.data(), array.data,
             dim_order.data()) {}
  BoundTensor(const BoundTensor&) = delete;
  BoundTensor& operator=(const BoundTensor&) = delete;

  Array array;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  TensorImpl impl;
};

std::string text_of(const char* dtype, const std::vector<int64_t>& shape) {
  std::string text = dtype;
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "[" : ",") + std::to_string(shape[i]);
  return shape.empty() ? text + "[]" : text + "]";
}

std::vector<int64_t> shape_of(const petrel_tensor_info& info) {
  return {info.sizes, info.sizes + info.rank};
}

// The argument for one input, copied where it does not lie as the code wants it.
std::unique_ptr<BoundTensor> bind_input(py::handle argument, const petrel_tensor_info& info) {
  const std::string name = "input '" + std::string(info.name) + "'";
  std::optional<Array> array = from_python(argument);
  if (!array.has_value()) {
    raise_error("InvalidArgument",
                name + " is a " +
                    py::str(py::type::of(argument).attr("__name__")).cast<std::string>() +
                    ", must be an array with the buffer protocol or DLPack");
  }
  const auto dtype = static_cast<ScalarType>(info.dtype);
  // Of sizes that vary the module says whether it takes them.
  const bool fits_shape = info.least_sizes == nullptr ? array->shape == shape_of(info)
                                                      : array->shape.size() == info.rank;
  if (array->dtype != dtype || !fits_shape) {
    raise_error("InvalidArgument", name + " is " + text_of(to_string(array->dtype), array->shape) +
                                       ", must be " + text_of(to_string(dtype), shape_of(info)));
  }
  const Span<const uint8_t> order(info.dim_order, info.rank);
  const bool fits = array->lies_in(order) && array->data != nullptr;
  return std::make_unique<BoundTensor>(fits ? *std::move(array) : array->copy_in(order), info);
}

std::unique_ptr<BoundTensor> make_output(const petrel_tensor_info& info) {
  std::shared_ptr<void> memory = aligned_memory(info.bytes);
  void* const data = memory.get();
  const Span<const uint8_t> order(info.dim_order, info.rank);
  return std::make_unique<BoundTensor>(
      dense_array(static_cast<ScalarType>(info.dtype), shape_of(info), order, data,
                  /*is_writable=*/true, std::move(memory)),
      info);
}

// The elements that a run has written, of memory for the largest sizes.
Array with_sizes(Array array, const petrel_tensor_info& info, std::vector<int64_t> shape) {
  if (info.least_sizes == nullptr) return array;
  const Span<const uint8_t> order(info.dim_order, info.rank);
  void* const data = array.data;
  return dense_array(array.dtype, std::move(shape), order, data, /*is_writable=*/true,
                     std::move(array.owner));
}

class LoadedModule {
 public:
  explicit LoadedModule(const py::object& path) {
    const auto file = py::module_::import("os").attr("fsdecode")(path).cast<std::string>();
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

// (name, name in C, dtype, shape, dim order) of each.
py::list describe(const petrel_tensor_info* tensors, size_t count) {
  py::list all;
  for (size_t i = 0; i < count; ++i) {
    const petrel_tensor_info& info = tensors[i];
    const std::vector<int> order(info.dim_order, info.dim_order + info.rank);
    all.append(py::make_tuple(info.name, info.c_name,
                              to_string(static_cast<ScalarType>(info.dtype)),
                              py::tuple(py::cast(shape_of(info))), py::tuple(py::cast(order))));
  }
  return all;
}

}  // namespace

void bind_compiled(py::module_& module) {
  py::class_<LoadedModule>(module, "CompiledModule")
      .def(py::init<const py::object&>())
      .def("name", [](const LoadedModule& loaded) { return loaded.metadata().name; })
      .def("sha256", [](const LoadedModule& loaded) { return loaded.metadata().sha256; })
      .def("method_names", &LoadedModule::method_names)
      .def("inputs",
           [](const LoadedModule& loaded, const std::string& method) {
             const petrel_method_info& info = loaded.method(method).info();
             return describe(info.inputs, info.num_inputs);
           })
      .def("outputs",
           [](const LoadedModule& loaded, const std::string& method) {
             const petrel_method_info& info = loaded.method(method).info();
             return describe(info.outputs, info.num_outputs);
           })
      .def("run", &LoadedModule::run)
      .def("reset_state", &LoadedModule::reset_state);
}

}  // namespace petrel::extension::python
