// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/driver/export.h"
#include "exir/status_macros.h"
#include "extension/cli/backend_choice.h"
#include "extension/cli/console.h"
#include "extension/cli/export_option_flags.h"
#include "extension/cli/method_files.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/export/export_report.h"
#include "extension/export/linked_kernels.h"
#include "extension/export/option_words.h"
#include "extension/quantize/calibrate.h"
#include "extension/quantize/compare_outputs.h"

namespace petrel::extension {
namespace {

struct Arguments {
  MethodFiles files;
  std::vector<std::string> samples;
  std::vector<std::string> keep_float;
  std::string output;
  std::string record;
  std::string ranges = "min-max";
  std::string scheme = "static-int8";
  int64_t group = exir::kDefaultGroup;
  OptionWords given;
};

int usage(const std::string& problem) {
  std::fprintf(stderr, "petrel quantize: %s\nTry `petrel quantize --help`.\n", problem.c_str());
  return kWrongUsage;
}

// "METHOD=FILE" or a file of the only method; "" or what is wrong.
std::string add_samples(const std::string& word, CalibrateOptions* options) {
  const size_t equals = word.find('=');
  if (equals != std::string::npos) {
    const std::string method = word.substr(0, equals);
    if (options->model.methods.count(method) != 0) {
      options->samples[method].push_back(word.substr(equals + 1));
      options->order.push_back(method);
      return "";
    }
  }
  if (options->model.methods.size() != 1) {
    return absl::StrCat("--calibrate ", word, ": there are several methods: give METHOD=FILE");
  }
  options->samples[options->model.methods.begin()->first].push_back(word);
  return "";
}

std::string counted(size_t count, const char* one, const char* many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

void print_noise(const std::vector<OutputNoise>& outputs) {
  for (const OutputNoise& output : outputs) {
    if (output.largest == 0) {
      std::printf("  output %zu: exact\n", output.output);
      continue;
    }
    std::printf("  output %zu: signal to noise %s dB, largest difference %s\n", output.output,
                absl::StrFormat("%.1f", output.decibels).c_str(),
                absl::StrFormat("%.3g", output.largest).c_str());
  }
}

void print_report(const Calibration& calibration, const exir::ExportReport& report,
                  const std::map<std::string, std::vector<OutputNoise>>& noise) {
  for (const auto& [method, left] : report.left_float) {
    const auto samples = calibration.samples.find(method);
    const std::string seen = samples == calibration.samples.end()
                                 ? ""
                                 : counted(samples->second, "sample, ", "samples, ");
    std::printf("method '%s': %s%s float\n", method.c_str(), seen.c_str(),
                counted(left.size(), "node stays", "nodes stay").c_str());
    for (const exir::LeftFloat& node : left) {
      const std::string place = node.location.empty() ? "" : absl::StrCat("; ", node.location);
      std::printf("  %s (%s): %s%s\n", node.node.c_str(), node.op.c_str(), node.reason.c_str(),
                  place.c_str());
    }
    const auto outputs = noise.find(method);
    if (outputs != noise.end()) print_noise(outputs->second);
  }
}

// "" or what does not go together.
std::string read_scheme(const Arguments& arguments, CalibrateOptions* options) {
  const auto scheme = exir::parse_scheme(arguments.scheme);
  if (!scheme.ok()) return std::string(scheme.status().message());
  options->scheme = *scheme;
  options->group = arguments.group;
  const absl::Status group = exir::check_group(arguments.group);
  if (!group.ok()) return absl::StrCat("--", group.message());
  if (*scheme == exir::QuantScheme::kStaticInt8 && arguments.samples.empty()) {
    return "--calibrate is required: the scheme static-int8 takes scales from samples";
  }
  return "";
}

int run(Arguments& arguments) {
  CalibrateOptions options;
  exir::ExportOptions& model = options.model;
  const std::string wrong = read_method_files(arguments.files, &model.methods);
  if (!wrong.empty()) return usage(wrong);
  for (const std::string& word : arguments.samples) {
    const std::string problem = add_samples(word, &options);
    if (!problem.empty()) return usage(problem);
  }
  if (arguments.given.count("quantize") != 0) {
    return usage("--quantize is for petrel export; the record is written to --record");
  }
  const std::string scheme_problem = read_scheme(arguments, &options);
  if (!scheme_problem.empty()) return usage(scheme_problem);
  auto backends = select_backends(arguments.given);
  if (!backends.ok()) return usage(std::string(backends.status().message()));
  model.backends = *std::move(backends);
  apply_options(arguments.given, &model);
  model.has_kernel = is_kernel_linked;
  model.output = arguments.output;
  options.keep_float = arguments.keep_float;
  if (arguments.ranges == "least-error") options.ranges = RangeChoice::kLeastError;
  model.quantization_output = arguments.record;
  for (const auto& [method, files] : options.samples) {
    model.other_inputs.insert(model.other_inputs.end(), files.begin(), files.end());
  }
  // Calibrating takes long, and what is wrong with files is known now.
  const absl::Status checked = exir::check_options(model);
  if (!checked.ok()) return fail("quantize", checked);
  Progress progress("quantize");
  model.on_phase = [&](const std::string& phase) { progress.start(phase); };

  const RuntimeMessages messages;
  const auto failed = [&](const absl::Status& status) {
    progress.stop();
    return messages.fail("quantize", status);
  };
  progress.start("calibrate");
  const auto calibration = calibrate(options);
  if (!calibration.ok()) return failed(calibration.status());
  model.quantization = std::make_shared<exir::QuantizationRecord>(calibration->record);
  std::map<std::string, std::vector<OutputNoise>> noise;
  model.before_publishing = [&](const std::map<std::string, std::string>& written) -> absl::Status {
    progress.start("compare");
    QuantisedFiles files = {written.at(model.output), {}};
    for (const auto& [path, place] : written) {
      if (path != model.output && path != arguments.record) files.data.push_back(place);
    }
    PETREL_ASSIGN_OR_RETURN(noise, compare_outputs(options, calibration->floats, files));
    return absl::OkStatus();
  };
  const auto report = exir::export_program(model);
  if (!report.ok()) return failed(report.status());
  progress.stop();
  for (const std::string& warning : export_warnings(*report)) {
    std::fprintf(stderr, "petrel quantize: warning: %s\n", warning.c_str());
  }
  print_report(*calibration, *report, noise);
  return kDone;
}

}  // namespace

void add_quantize_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("quantize", "Compile float .pt2 archives into a .pte program of integers");
  add_method_files(*verb, &arguments->files);
  verb->add_option("--calibrate", arguments->samples,
                   "[METHOD=]FILE.npz with inputs by name, or .npy of the only input; with one "
                   "dimension more in front, as many samples; may be repeated")
      ->take_all();
  verb->add_option("--scheme", arguments->scheme,
                   "static-int8: scales from samples; dynamic-int8, dynamic-int4: linear layers "
                   "only, rows get scales at run time, weights have 8 or 4 bits")
      ->check(CLI::IsMember({"static-int8", "dynamic-int8", "dynamic-int4"}))
      ->capture_default_str();
  verb->add_option("--group", arguments->group,
                   "elements of a row that share a scale in weights of 4 bits")
      ->capture_default_str();
  verb->add_option("-o,--output", arguments->output, "the program to write")->required();
  verb->add_option("--record", arguments->record,
                   "write all that was chosen to this JSON file, for export --quantize");
  verb->add_option("--ranges", arguments->ranges,
                   "min-max: show all that was seen; least-error: cut numbers far out where that "
                   "costs less than the levels they take")
      ->check(CLI::IsMember({"min-max", "least-error"}))
      ->capture_default_str();
  verb->add_option("--keep-float", arguments->keep_float,
                   "nodes that stay float, by name or pattern; may be repeated")
      ->take_all();
  add_export_options(*verb, &arguments->given);
  verb->footer(
      "Examples:\n"
      "  petrel quantize model.pt2 --calibrate images.npy -o model_int8.pte\n"
      "  petrel quantize model.pt2 --calibrate inputs.npz -o model_int8.pte --record model.q.json\n"
      "  petrel export model.pt2 --quantize model.q.json -o model_int8.pte\n"
      "  petrel quantize encoder.pt2 --scheme dynamic-int4 --group 64 -o encoder_int4.pte");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
