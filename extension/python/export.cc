// SPDX-License-Identifier: Apache-2.0
#include "extension/python/export.h"

#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/driver/export.h"
#include "extension/c_api/error_text.h"
#include "extension/cli/export_report.h"
#include "extension/cli/linked_kernels.h"
#include "extension/python/aot_backend.h"
#include "extension/python/error.h"
#include "extension/python/gil.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

using CompileSpecs = std::vector<std::pair<std::string, py::bytes>>;
// "xnnpack" or a petrel.Backend, and what it is told.
using Choice = std::pair<py::object, CompileSpecs>;
using Choices = std::vector<Choice>;

// The backends of one export. An object that is chosen several times is one
// backend.
class Backends {
 public:
  explicit Backends(std::shared_ptr<Pending> pending) : pending_(std::move(pending)) {}

  // `owner` is "method 'x'" or "all methods".
  std::vector<exir::BackendUse> uses(const std::string& owner, const Choices& choices,
                                     bool whole_methods, exir::Delegate delegate) {
    std::vector<exir::BackendUse> list;
    for (const auto& [backend, specs] : choices) {
      exir::BackendUse use;
      use.backend = find(owner, list.size(), backend);
      for (const auto& [key, value] : specs) {
        use.compile_specs.push_back({key, std::string(value)});
      }
      use.whole_method = whole_methods;
      use.delegate = delegate;
      list.push_back(std::move(use));
    }
    return list;
  }

 private:
  const exir::Backend* find(const std::string& owner, size_t index, const py::object& backend) {
    if (py::isinstance<py::str>(backend)) {
      const auto name = backend.cast<std::string>();
      if (name != "xnnpack") {
        raise_error("NotFound", "backend '" + name + "' is unknown, backend " +
                                    std::to_string(index) + " of " + owner +
                                    "; there is 'xnnpack', and what subclasses petrel.Backend");
      }
      return backends::xnnpack::aot::xnnpack_backend();
    }
    std::unique_ptr<PythonBackend>& made = of_python_[backend.ptr()];
    if (made == nullptr) made = std::make_unique<PythonBackend>(backend, pending_);
    return made.get();
  }

  std::shared_ptr<Pending> pending_;
  std::map<PyObject*, std::unique_ptr<PythonBackend>> of_python_;
};

// Returns the report as JSON and as text, and what is missing in words.
std::tuple<std::string, std::string, std::string> export_files(
    const std::map<std::string, std::string>& methods, const std::string& output,
    const std::string& external_weights,
    const std::vector<std::pair<std::string, std::string>>& external, uint64_t shard_bytes,
    const Choices& backends, const std::map<std::string, Choices>& method_backends,
    bool whole_methods, bool delegates_supported, bool weight_names, bool bind_data,
    const std::vector<std::string>& recipe, bool allow_petrel_ops, bool allow_missing_kernels,
    bool reorder) {
  const auto pending = std::make_shared<Pending>();
  Backends chosen(pending);
  const auto delegate = delegates_supported ? exir::Delegate::kSupported : exir::Delegate::kCheaper;
  exir::ExportOptions options;
  options.methods = methods;
  options.output = output;
  options.external_weights = external_weights;
  for (const auto& [glob, path] : external) options.external.push_back({glob, path});
  options.shard_bytes = shard_bytes;
  if (weight_names) options.weight_keys = exir::WeightKeys::kName;
  options.bind_data = bind_data;
  options.recipe = recipe;
  options.allow_petrel_ops = allow_petrel_ops;
  options.has_kernel = is_kernel_linked;
  options.allow_missing_kernels = allow_missing_kernels;
  options.reorder = reorder;
  options.backends.for_all = chosen.uses("all methods", backends, whole_methods, delegate);
  for (const auto& [method, choices] : method_backends) {
    options.backends.for_method[method] =
        chosen.uses("method '" + method + "'", choices, whole_methods, delegate);
  }
  absl::StatusOr<exir::ExportReport> report = without_gil([&] {
    const ErrorText quiet;  // what folding says is part of the status
    return exir::export_program(options);
  });
  pending->rethrow();
  if (!report.ok()) raise_status(report.status());
  const std::vector<exir::MissingKernel>& missing = report->emit.missing_kernels;
  return {format_report_json(*report), format_report_text(*report),
          missing.empty() ? "" : exir::describe_missing(missing)};
}

}  // namespace

void bind_export(py::module_& module) {
  module.def("export_files", &export_files, py::arg("methods"), py::arg("output"), py::kw_only(),
             py::arg("external_weights"), py::arg("external"), py::arg("shard_bytes"),
             py::arg("backends"), py::arg("method_backends"), py::arg("whole_methods"),
             py::arg("delegates_supported"), py::arg("weight_names"), py::arg("bind_data"),
             py::arg("recipe"), py::arg("allow_petrel_ops"), py::arg("allow_missing_kernels"),
             py::arg("reorder"));
}

}  // namespace petrel::extension::python
