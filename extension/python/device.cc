// SPDX-License-Identifier: Apache-2.0
#include "extension/python/device.h"

#include <pybind11/stl.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exir/status_macros.h"
#include "extension/device/device.h"
#include "extension/device/device_method.h"
#include "extension/python/bound_tensor.h"
#include "extension/python/error.h"
#include "extension/python/gil.h"
#include "extension/python/text.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

// What generated code would say of the same tensors. Refers to them.
std::vector<petrel_tensor_info> infos_of(const std::vector<DeviceTensor>& tensors) {
  std::vector<petrel_tensor_info> infos;
  for (const DeviceTensor& tensor : tensors) {
    petrel_tensor_info info = {};
    info.name = tensor.name.c_str();
    info.c_name = tensor.c_name.c_str();
    info.dtype = static_cast<int32_t>(tensor.type);
    info.rank = static_cast<uint32_t>(tensor.sizes.size());
    info.sizes = tensor.sizes.data();
    info.dim_order = tensor.dim_order.data();
    info.bytes = tensor.bytes;
    info.least_sizes = tensor.varies ? tensor.least_sizes.data() : nullptr;
    infos.push_back(info);
  }
  return infos;
}

class OpenedDevice {
 public:
  OpenedDevice(const std::string& spec, double patience, std::optional<uint64_t> max_input_bytes) {
    SessionOptions options;
    options.max_input_bytes = max_input_bytes.value_or(options.max_input_bytes);
    options.run_patience = std::chrono::milliseconds(static_cast<int64_t>(1000 * patience));
    alone([&]() -> absl::Status {
      PETREL_ASSIGN_OR_RETURN(device_, Device::open(spec, options));
      return absl::OkStatus();
    });
  }

  const DeviceInfo& info() const { return device_->info(); }
  std::vector<std::string> method_names() const {
    std::vector<std::string> names;
    for (const DeviceMethodInfo& method : info().methods) names.push_back(method.name);
    return names;
  }
  DeviceMethod& method(const std::string& name) const {
    const auto method = device_->method(name);
    if (!method.ok()) raise_status(method.status());
    return **method;
  }

  py::list run(const std::string& name, const py::tuple& arguments) {
    DeviceMethod& called = method(name);
    if (arguments.size() != called.num_inputs()) {
      raise_error("InvalidArgument", "method '" + name + "' takes " +
                                         std::to_string(called.num_inputs()) + " inputs, " +
                                         std::to_string(arguments.size()) + " are given");
    }
    const auto wanted = infos_of(called.info().inputs), given = infos_of(called.info().outputs);
    std::vector<std::unique_ptr<BoundTensor>> inputs, outputs;
    std::vector<std::vector<int64_t>> shapes;  // of outputs
    for (size_t i = 0; i < wanted.size(); ++i) {
      inputs.push_back(bind_input(arguments[i], wanted[i]));
    }
    for (const petrel_tensor_info& info : given) outputs.push_back(make_output(info));
    alone([&]() -> absl::Status {
      for (size_t i = 0; i < inputs.size(); ++i) {
        PETREL_RETURN_IF_ERROR(called.set_input(i, runtime::Tensor(&inputs[i]->impl)));
      }
      PETREL_RETURN_IF_ERROR(called.execute());
      for (size_t i = 0; i < outputs.size(); ++i) {
        PETREL_ASSIGN_OR_RETURN(const runtime::Tensor tensor, called.get_output(i));
        shapes.emplace_back(tensor.sizes().begin(), tensor.sizes().end());
        if (tensor.nbytes() == 0) continue;
        std::memcpy(outputs[i]->array.data, tensor.const_data_ptr(), tensor.nbytes());
      }
      return absl::OkStatus();
    });
    py::list results;
    for (size_t i = 0; i < outputs.size(); ++i) {
      results.append(
          to_python(with_sizes(std::move(outputs[i]->array), given[i], std::move(shapes[i]))));
    }
    return results;
  }

  void reset_state() {
    alone([&] { return device_->reset_state(); });
  }

 private:
  // Does `work`, which returns a status, alone and without Python's lock.
  template <typename Work>
  void alone(Work work) {
    const absl::Status status = without_gil([&] {
      const std::lock_guard<std::mutex> lock(mutex_);
      return work();
    });
    if (!status.ok()) raise_status(status);
  }

  std::unique_ptr<Device> device_;
  std::mutex mutex_;  // held while the device works
};

}  // namespace

void bind_device(py::module_& module) {
  py::class_<OpenedDevice>(module, "Device")
      .def("name", [](const OpenedDevice& opened) { return to_text(opened.info().model); })
      .def("board", [](const OpenedDevice& opened) { return to_text(opened.info().board); })
      .def("sha256", [](const OpenedDevice& opened) { return to_text(opened.info().sha256); })
      .def("method_names", [](const OpenedDevice& opened) { return texts(opened.method_names()); })
      .def("inputs",
           [](const OpenedDevice& opened, const Text& method) {
             const auto infos = infos_of(opened.method(method).info().inputs);
             return describe(infos.data(), infos.size());
           })
      .def("outputs",
           [](const OpenedDevice& opened, const Text& method) {
             const auto infos = infos_of(opened.method(method).info().outputs);
             return describe(infos.data(), infos.size());
           })
      .def("run", [](OpenedDevice& opened, const Text& method,
                     const py::tuple& arguments) { return opened.run(method, arguments); })
      .def("reset_state", &OpenedDevice::reset_state);
  module.def("open_device",
             [](const std::string& spec, double patience, std::optional<uint64_t> max_input_bytes) {
               return std::make_unique<OpenedDevice>(spec, patience, max_input_bytes);
             });
}

}  // namespace petrel::extension::python
