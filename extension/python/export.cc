// SPDX-License-Identifier: Apache-2.0
#include "extension/python/export.h"

#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/driver/export.h"
#include "exir/quantize/range_choice.h"
#include "extension/module/error_text.h"
#include "exir/status_macros.h"
#include "extension/export/export_report.h"
#include "extension/export/linked_kernels.h"
#include "extension/export/option_words.h"
#include "extension/python/aot_backend.h"
#include "extension/python/chosen_backends.h"
#include "extension/python/error.h"
#include "extension/python/gil.h"
#include "extension/python/text.h"
#include "extension/python/python_planner.h"
#include "extension/quantize/calibrate.h"
#include "extension/quantize/quantization_report.h"
#include "extension/relink/data_build.h"

namespace petrel::extension::python {

namespace py = pybind11;

namespace {

// Words that are not values of their options are ValueErrors.
void check_words(const OptionWords& given) {
  for (const auto& [name, words] : given) {
    const ExportOption* option = find_export_option(name);
    if (option == nullptr) throw py::value_error("there is no option '" + name + "'");
    const std::string wrong = check_words(*option, words);
    if (!wrong.empty()) throw py::value_error(identifier_of(*option) + " " + wrong);
  }
}

// What is compiled, and by whom.
exir::ExportOptions options_of(const std::map<std::string, std::string>& methods,
                               const Choices& backends,
                               const std::map<std::string, Choices>& method_backends,
                               const OptionWords& given, ChosenBackends* chosen) {
  check_words(given);
  exir::ExportOptions options;
  options.methods = methods;
  options.backends = chosen->select(backends, method_backends);
  apply_options(given, &options);
  options.has_kernel = is_kernel_linked;
  return options;
}

// Returns the report as JSON and as text, and warnings.
std::tuple<Text, Text, std::vector<Text>> export_files(
    const std::map<std::string, std::string>& methods, const std::string& output,
    const Choices& backends, const std::map<std::string, Choices>& method_backends,
    const OptionWords& given, const py::object& planner) {
  const auto pending = std::make_shared<Pending>();
  ChosenBackends chosen(pending);
  exir::ExportOptions options = options_of(methods, backends, method_backends, given, &chosen);
  choose_python_planner(planner, pending, &options.planning);
  options.output = output;
  absl::StatusOr<exir::ExportReport> report = without_gil([&] {
    const ErrorText quiet;  // what folding says is part of the status
    return exir::export_program(options);
  });
  pending->rethrow();
  if (!report.ok()) raise_status(report.status());
  return {Text(format_report_json(*report)), Text(format_report_text(*report)),
          texts(export_warnings(*report))};
}

// Files by method, in the order in which methods run.
using Samples = std::vector<std::pair<std::string, std::vector<std::string>>>;

// How quantize() was called, in its words.
struct QuantizeWords {
  std::map<std::string, std::string> methods;
  Samples samples;
  Choices backends;
  std::map<std::string, Choices> method_backends;
  OptionWords given;
  std::vector<std::string> keep_float;
  std::string ranges;
  std::string scheme;
  int64_t group;
  std::string rounding;
  bool equalise;
  bool correct_bias;
  KeepBudget budget;
};

CalibrateOptions calibrate_options_of(const QuantizeWords& words, ChosenBackends* chosen) {
  const auto ranges = exir::parse_range_choice(words.ranges);
  if (!ranges.ok()) throw py::value_error(std::string(ranges.status().message()));
  CalibrateOptions options;
  options.model =
      options_of(words.methods, words.backends, words.method_backends, words.given, chosen);
  for (const auto& [method, files] : words.samples) {
    options.samples[method] = files;
    options.order.push_back(method);
  }
  options.keep_float = words.keep_float;
  const auto known = exir::parse_scheme(words.scheme);
  if (!known.ok()) throw py::value_error(std::string(known.status().message()));
  options.scheme = *known;
  options.group = words.group;
  options.budget = words.budget;
  if (words.rounding != "nearest" && words.rounding != "least-error") {
    throw py::value_error("rounding is '" + words.rounding +
                          "', must be 'nearest' or 'least-error'");
  }
  options.round_with_samples = words.rounding == "least-error";
  options.ranges = *ranges;
  options.equalise = words.equalise;
  options.correct_bias = words.correct_bias;
  return options;
}

// Returns the record as JSON.
Text calibrate_files(const QuantizeWords& words) {
  const auto pending = std::make_shared<Pending>();
  ChosenBackends chosen(pending);
  const CalibrateOptions options = calibrate_options_of(words, &chosen);
  const absl::StatusOr<Calibration> calibration = without_gil([&] {
    const ErrorText quiet;
    return calibrate(options);
  });
  pending->rethrow();
  if (!calibration.ok()) raise_status(calibration.status());
  return Text(exir::format_record(calibration->record));
}

// Returns the report on a record in the form of each path, of which none is opened.
std::vector<Text> report_quantization(const QuantizeWords& words, const std::string& record,
                                      uint64_t written_bytes,
                                      const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const absl::Status known = check_report_path(path);
    if (!known.ok()) throw py::value_error(std::string(known.message()));
  }
  if (record.empty()) return {};
  const auto pending = std::make_shared<Pending>();
  ChosenBackends chosen(pending);
  const CalibrateOptions options = calibrate_options_of(words, &chosen);
  absl::StatusOr<QuantizationReport> report =
      without_gil([&]() -> absl::StatusOr<QuantizationReport> {
        const ErrorText quiet;
        PETREL_ASSIGN_OR_RETURN(const exir::QuantizationRecord choices, exir::parse_record(record));
        return measure_quantization(options, choices);
      });
  pending->rethrow();
  if (!report.ok()) raise_status(report.status());
  report->quantised_bytes = written_bytes;
  std::vector<Text> reports;
  for (const std::string& path : paths) reports.emplace_back(format_report(*report, path));
  return reports;
}

// The words of one option; those of an export that named none are the default's.
Words words_of(const OptionWords& given, const std::string& name) {
  const auto found = given.find(name);
  if (found != given.end() && !found->second.empty()) return found->second;
  return name == "backend" ? Words{"xnnpack"} : Words{};
}

// `words` say in the words of the command which backends are given.
py::dict build_data_file(const std::map<std::string, std::string>& methods,
                         const std::string& program, const std::string& output, const Text& keys,
                         std::vector<std::pair<std::string, std::string>> renames,
                         const Choices& backends,
                         const std::map<std::string, Choices>& method_backends,
                         const OptionWords& words, std::optional<uint64_t> max_arena_bytes) {
  const auto pending = std::make_shared<Pending>();
  ChosenBackends chosen(pending);
  exir::BackendSelection selection;
  selection.for_all = chosen.uses("all methods", backends);
  for (const auto& [method, choices] : method_backends) {
    selection.for_method[method] = chosen.uses("method '" + method + "'", choices);
  }
  BuildOptions options;
  options.models = methods;
  options.program = program;
  options.output = output;
  options.keys = keys;
  options.renames = std::move(renames);
  options.limits.max_arena_bytes = max_arena_bytes.value_or(options.limits.max_arena_bytes);
  options.select_backends =
      [&](const OptionWords& given) -> absl::StatusOr<exir::BackendSelection> {
    for (const char* name : {"backend", "compile-spec"}) {
      const Words needed = words_of(given, name), here = words_of(words, name);
      if (needed == here) continue;
      return absl::FailedPreconditionError(absl::StrCat(name, " is '", absl::StrJoin(here, "', '"),
                                                        "' here and '",
                                                        absl::StrJoin(needed, "', '"), "' there"));
    }
    return selection;
  };
  std::string said;
  const absl::StatusOr<BuildReport> report = without_gil([&] {
    const ErrorText text;
    auto made = build_data(options);
    said = text.text();
    return made;
  });
  pending->rethrow();
  if (!report.ok()) {
    raise_status(
        absl::Status(report.status().code(),
                     absl::StrCat(report.status().message(), said.empty() ? "" : "\n", said)));
  }
  py::dict dict;
  dict["keys"] = report->keys;
  dict["bytes"] = report->bytes;
  return dict;
}

}  // namespace

void bind_export(py::module_& module) {
  module.def("export_files", &export_files, py::arg("methods"), py::arg("output"), py::kw_only(),
             py::arg("backends"), py::arg("method_backends"), py::arg("options"),
             py::arg("planner") = py::none());
  py::class_<QuantizeWords>(module, "QuantizeWords");
  module.def(
      "quantize_words",
      [](std::map<std::string, std::string> methods, Samples samples, Choices backends,
         std::map<std::string, Choices> method_backends, OptionWords options,
         std::vector<std::string> keep_float, std::string ranges, std::string scheme, int64_t group,
         std::string rounding, bool equalise, bool correct_bias, std::optional<double> min_sqnr,
         std::string labels, std::string labels_method, double max_drop) {
        return QuantizeWords{std::move(methods),
                             std::move(samples),
                             std::move(backends),
                             std::move(method_backends),
                             std::move(options),
                             std::move(keep_float),
                             std::move(ranges),
                             std::move(scheme),
                             group,
                             std::move(rounding),
                             equalise,
                             correct_bias,
                             {min_sqnr, std::move(labels), std::move(labels_method), max_drop}};
      },
      py::kw_only(), py::arg("methods"), py::arg("samples"), py::arg("backends"),
      py::arg("method_backends"), py::arg("options"), py::arg("keep_float"), py::arg("ranges"),
      py::arg("scheme"), py::arg("group"), py::arg("rounding"), py::arg("equalise"),
      py::arg("correct_bias"), py::arg("min_sqnr"), py::arg("labels"), py::arg("labels_method"),
      py::arg("max_drop"));
  module.def("calibrate", &calibrate_files);
  module.def("report_quantization", &report_quantization);
  module.def("build_data", &build_data_file, py::kw_only(), py::arg("methods"), py::arg("program"),
             py::arg("output"), py::arg("keys"), py::arg("renames"), py::arg("backends"),
             py::arg("method_backends"), py::arg("words"), py::arg("max_arena_bytes"));
}

}  // namespace petrel::extension::python
