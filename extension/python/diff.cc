// SPDX-License-Identifier: Apache-2.0
#include "extension/python/diff.h"

#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "exir/status_macros.h"
#include "extension/diff/diff.h"
#include "extension/diff/run_watched.h"
#include "extension/diff/watched_program.h"
#include "extension/module/error_text.h"
#include "extension/npy/npy.h"
#include "extension/python/error.h"
#include "extension/python/gil.h"
#include "extension/python/text.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

// The path of a program or archive, and of its data.
using Side = std::pair<std::string, std::vector<std::string>>;

absl::StatusOr<ValueTrace> run_one(const Side& side, const std::string& method,
                                   const std::map<std::string, std::string>& inputs) {
  std::map<std::string, NpyArray> arrays;
  for (const auto& [name, path] : inputs) {
    PETREL_ASSIGN_OR_RETURN(arrays[name], read_npy(path));
  }
  PETREL_ASSIGN_OR_RETURN(const auto program,
                          WatchedProgram::open(side.first, side.second, method));
  return run_watched(*program, method, std::move(arrays));
}

// Returns the report as JSON and as text. `inputs` are paths of .npy files by name or place.
std::pair<Text, Text> diff_programs(const Side& first, const Side& second, const Text& method,
                                    const std::map<std::string, std::string>& inputs,
                                    std::optional<double> atol, std::optional<double> rtol,
                                    std::optional<double> min_sqnr) {
  const absl::StatusOr<Diff> diff = without_gil([&]() -> absl::StatusOr<Diff> {
    const ErrorText said;
    const auto told = [&](const absl::Status& status) {
      return *said.text() == 0
                 ? status
                 : absl::Status(status.code(), absl::StrCat(said.text(), "\n", status.message()));
    };
    auto a = run_one(first, method, inputs);
    if (!a.ok()) return told(a.status());
    auto b = run_one(second, method, inputs);
    if (!b.ok()) return told(b.status());
    return diff_traces(*std::move(a), *std::move(b), {atol, rtol, min_sqnr});
  });
  if (!diff.ok()) raise_status(diff.status());
  return {Text(to_json(*diff)), Text(extension::to_text(*diff, /*all_rows=*/true))};
}

}  // namespace

void bind_diff(py::module_& module) {
  module.def("diff", &diff_programs, py::kw_only(), py::arg("first"), py::arg("second"),
             py::arg("method"), py::arg("inputs"), py::arg("atol"), py::arg("rtol"),
             py::arg("min_sqnr"));
}

}  // namespace petrel::extension::python
