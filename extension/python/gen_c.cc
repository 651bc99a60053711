// SPDX-License-Identifier: Apache-2.0
#include "extension/python/gen_c.h"

#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/driver/generate.h"
#include "extension/export/generate_option.h"
#include "extension/module/error_text.h"
#include "extension/python/chosen_backends.h"
#include "extension/python/error.h"
#include "extension/python/gil.h"
#include "extension/python/text.h"
#include "extension/python/python_planner.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

// Returns notes for the user. Words that are not values of their options are ValueErrors.
std::vector<Text> gen_c_files(const std::map<std::string, std::string>& methods,
                              const std::string& output, const Choices& backends,
                              const std::map<std::string, Choices>& method_backends,
                              const OptionWords& given, const py::object& planner) {
  for (const auto& [name, words] : given) {
    const OptionRow* row = find_generate_row(name);
    if (row == nullptr) throw py::value_error("there is no option '" + name + "'");
    const std::string wrong = check_words(*row, words);
    if (!wrong.empty()) throw py::value_error(identifier_of(*row) + " " + wrong);
  }
  const auto pending = std::make_shared<Pending>();
  ChosenBackends chosen(pending);
  exir::GenerateOptions options;
  options.program.backends = chosen.select(backends, method_backends);
  options.program.methods = methods;
  options.folder = output;
  const absl::Status applied = apply_generate_options(given, &options);
  if (!applied.ok()) throw py::value_error(std::string(applied.message()));
  choose_python_planner(planner, pending, &options.program.planning);
  const absl::StatusOr<exir::GenerateReport> report = without_gil([&] {
    const ErrorText quiet;  // what folding says is part of the status
    return exir::generate_c(options);
  });
  pending->rethrow();
  if (!report.ok()) raise_status(report.status());
  return texts(report->notes);
}

}  // namespace

void bind_gen_c(py::module_& module) {
  module.def("gen_c_files", &gen_c_files, py::kw_only(), py::arg("methods"), py::arg("output"),
             py::arg("backends"), py::arg("method_backends"), py::arg("options"),
             py::arg("planner") = py::none());
}

}  // namespace petrel::extension::python
