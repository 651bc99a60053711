// SPDX-License-Identifier: Apache-2.0
#include "extension/python/export.h"

#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "exir/driver/export.h"
#include "extension/c_api/error_text.h"
#include "extension/cli/export_report.h"
#include "extension/python/aot_backend.h"
#include "extension/python/error.h"
#include "extension/python/gil.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

using CompileSpecs = std::vector<std::pair<std::string, py::bytes>>;

// Returns the report as JSON and as text. `backend` is None, "xnnpack" or a
// petrel.Backend.
std::pair<std::string, std::string> export_files(
    const std::map<std::string, std::string>& methods, const std::string& output,
    const std::string& external_weights, const py::object& backend,
    const CompileSpecs& compile_specs, bool reorder) {
  const auto pending = std::make_shared<Pending>();
  std::unique_ptr<PythonBackend> python_backend;
  exir::ExportOptions options;
  options.methods = methods;
  options.output = output;
  options.external_weights = external_weights;
  options.reorder = reorder;
  exir::BackendUse use;
  for (const auto& [key, value] : compile_specs) {
    use.compile_specs.push_back({key, std::string(value)});
  }
  if (py::isinstance<py::str>(backend)) {
    const auto name = backend.cast<std::string>();
    if (name != "xnnpack") {
      raise_error("NotFound", "backend '" + name +
                                  "' is unknown; there is 'xnnpack', and what subclasses "
                                  "petrel.Backend");
    }
    use.backend = backends::xnnpack::aot::xnnpack_backend();
  } else if (!backend.is_none()) {
    python_backend = std::make_unique<PythonBackend>(backend, pending);
    use.backend = python_backend.get();
  }
  if (use.backend != nullptr) {
    options.backends.for_all.push_back(std::move(use));
  } else if (!compile_specs.empty()) {
    raise_error("InvalidArgument", "there are compile specs, but there is no backend");
  }
  absl::StatusOr<exir::ExportReport> report = without_gil([&] {
    const ErrorText quiet;  // what folding says is part of the status
    return exir::export_program(options);
  });
  pending->rethrow();
  if (!report.ok()) raise_status(report.status());
  return {format_report_json(*report), format_report_text(*report)};
}

}  // namespace

void bind_export(py::module_& module) {
  module.def("export_files", &export_files, py::arg("methods"), py::arg("output"),
             py::arg("external_weights"), py::arg("backend"), py::arg("compile_specs"),
             py::arg("reorder"));
}

}  // namespace petrel::extension::python
