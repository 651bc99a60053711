// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/quantize_verb.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "exir/driver/export.h"
#include "exir/quantize/range_choice.h"
#include "exir/status_macros.h"
#include "extension/cli/backend_choice.h"
#include "extension/cli/console.h"
#include "extension/cli/export_option_flags.h"
#include "extension/cli/isa_option.h"
#include "extension/cli/method_files.h"
#include "extension/cli/number_in.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/export/export_report.h"
#include "extension/export/linked_kernels.h"
#include "extension/export/option_words.h"
#include "extension/module/error_text.h"
#include "extension/quantize/calibrate.h"
#include "extension/quantize/compare_outputs.h"
#include "extension/quantize/quantization_report.h"

namespace petrel::extension {
namespace {

struct Arguments {
  MethodFiles files;
  std::vector<std::string> samples;
  std::vector<std::string> keep_float;
  KeepBudget budget;
  std::string output;
  std::string record;
  std::vector<std::string> reports;
  std::string ranges = "by-outputs";
  std::string scheme = "static-int8";
  int64_t group = exir::kDefaultGroup;
  std::string rounding = "nearest";
  bool equalise = false;
  bool correct_bias = false;
  bool has_max_drop = false;
  bool has_group = false;
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
    const auto name_of = [](std::string* out, const auto& method) { *out += method.first; };
    return absl::StrCat("--calibrate ", word, ": there are several methods: give METHOD=FILE of ",
                        absl::StrJoin(options->model.methods, ", ", name_of));
  }
  options->samples[options->model.methods.begin()->first].push_back(word);
  return "";
}

std::string counted(size_t count, const char* one, const char* many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

// `samples` are those that there are.
void print_noise(const std::vector<OutputNoise>& outputs, size_t samples) {
  for (const OutputNoise& output : outputs) {
    const std::string part =
        output.samples < samples ? absl::StrCat(" on ", output.samples, " of the samples") : "";
    if (output.largest == 0) {
      std::printf("  output %zu: exact%s\n", output.output, part.c_str());
      continue;
    }
    std::printf("  output %zu: signal to noise %s dB, largest difference %s%s\n", output.output,
                absl::StrFormat("%.1f", output.decibels).c_str(),
                absl::StrFormat("%.3g", output.largest).c_str(), part.c_str());
  }
}

// Who asked for integers learns where there are none.
void print_border(const exir::Border& border) {
  for (const exir::BorderValue& value : border) {
    if (value.reason.empty()) continue;
    std::printf("  %s stays f32: %s\n", printable(value.describe()).c_str(),
                printable(value.reason).c_str());
  }
}

// One line for nodes of one place and reason: unrolled loops have many.
void print_left(const std::vector<exir::LeftFloat>& left) {
  std::map<std::string, size_t> counts;
  const auto text_of = [](const exir::LeftFloat& node) {
    const std::string place = node.location.empty() ? "" : absl::StrCat("; ", node.location);
    return absl::StrCat(" (", node.op, "): ", printable(node.reason), printable(place));
  };
  for (const exir::LeftFloat& node : left) ++counts[text_of(node)];
  for (const exir::LeftFloat& node : left) {
    size_t& count = counts[text_of(node)];
    if (count == 0) continue;
    const std::string others = count > 1 ? absl::StrCat(" and ", count - 1, " more") : "";
    std::printf("  %s%s%s\n", printable(node.node).c_str(), others.c_str(), text_of(node).c_str());
    count = 0;
  }
}

void print_report(const Calibration& calibration, const exir::ExportReport& report,
                  const NoiseByMethod& noise) {
  for (const auto& [method, left] : report.left_float) {
    const auto samples = calibration.samples.find(method);
    const std::string seen = samples == calibration.samples.end()
                                 ? ""
                                 : counted(samples->second, "sample, ", "samples, ");
    std::printf("method '%s': %s%s float\n", printable(method).c_str(), seen.c_str(),
                counted(left.size(), "node stays", "nodes stay").c_str());
    print_left(left);
    const auto border = report.borders.find(method);
    if (border != report.borders.end()) print_border(border->second);
    const auto outputs = noise.find(method);
    if (outputs == noise.end()) continue;
    print_noise(outputs->second, samples == calibration.samples.end() ? 0 : samples->second);
  }
}

// Where several kinds were tried: that which was taken.
void print_ranges(const CalibrateOptions& options, const exir::RangeChoice& taken) {
  using Kind = exir::RangeChoice::Kind;
  const bool tried =
      options.ranges.kind == Kind::kByOutputs && options.scheme == exir::QuantScheme::kStaticInt8;
  if (!tried) return;
  const std::string word = taken.kind == Kind::kPercentile
                               ? absl::StrCat("percentile=", taken.percent)
                           : taken.kind == Kind::kLeastError ? "least-error"
                                                             : "min-max";
  std::printf("ranges: %s, with which outputs err least\n", word.c_str());
}

void print_told(const LabelsTold& told) {
  const auto percent = [&told](size_t right) {
    return absl::StrFormat("%.4g", 100 * static_cast<double>(right) /
                                       static_cast<double>(std::max<size_t>(told.labels, 1)));
  };
  std::printf("accuracy: %s %% of %zu labels, in floats %s %%\n", percent(told.quantised).c_str(),
              told.labels, percent(told.in_floats).c_str());
}

void print_cells(CellForm cells) {
  constexpr std::pair<CellForm, const char*> kTexts[] = {
      {CellForm::kLevels, "integers of one scale, as all products"},
      {CellForm::kRows, "rows get scales at run time, which errs less"},
      {CellForm::kAllRows, "rows of all products of matrices get scales at run time"},
      {CellForm::kFloat, "floats, as with integers outputs err more"},
  };
  for (const auto& [form, text] : kTexts) {
    if (form == cells) std::printf("recurrent cells: %s\n", text);
  }
}

// The first of the options that only scales from samples follow; "" for none.
std::string given_for_static(const Arguments& arguments) {
  const bool is_default = arguments.ranges == "by-outputs" || arguments.ranges == "min-max";
  if (!is_default) return absl::StrCat("--ranges ", arguments.ranges);
  if (arguments.equalise) return "--equalise";
  return arguments.correct_bias ? "--correct-bias" : "";
}

// "" or what does not go together.
std::string read_scheme(const Arguments& arguments, CalibrateOptions* options) {
  const auto scheme = exir::parse_scheme(arguments.scheme);
  if (!scheme.ok()) return std::string(scheme.status().message());
  options->scheme = *scheme;
  options->group = arguments.group;
  const absl::Status group = exir::check_group(arguments.group);
  if (!group.ok()) return absl::StrCat("--", group.message());
  const auto ranges = exir::parse_range_choice(arguments.ranges);
  if (!ranges.ok()) return absl::StrCat("--", ranges.status().message());
  options->ranges = *ranges;
  if (*scheme == exir::QuantScheme::kStaticInt8 && arguments.samples.empty()) {
    return "--calibrate is required: the scheme static-int8 takes scales from samples";
  }
  options->equalise = arguments.equalise;
  options->correct_bias = arguments.correct_bias;
  const std::string other = given_for_static(arguments);
  if (*scheme != exir::QuantScheme::kStaticInt8 && !other.empty()) {
    return absl::StrCat(other, " is for --scheme static-int8, not for ", arguments.scheme);
  }
  if (*scheme != exir::QuantScheme::kDynamicInt4 && arguments.has_group) {
    return absl::StrCat("--group is for --scheme dynamic-int4, not for ", arguments.scheme);
  }
  options->round_with_samples = arguments.rounding == "least-error";
  if (options->round_with_samples && *scheme != exir::QuantScheme::kDynamicInt4) {
    return "--rounding least-error is for --scheme dynamic-int4";
  }
  if (options->round_with_samples && arguments.samples.empty()) {
    return "--rounding least-error needs samples: --calibrate";
  }
  return "";
}

// "" or what does not go together.
std::string read_budget(const Arguments& arguments, CalibrateOptions* options) {
  KeepBudget& budget = options->budget;
  budget = arguments.budget;
  if (budget.is_empty()) return arguments.has_max_drop ? "--max-drop is for --accuracy" : "";
  if (arguments.samples.empty()) return "--min-sqnr and --accuracy need samples: --calibrate";
  const absl::Status kept = check_budget(budget);
  if (!kept.ok()) return absl::StrCat("--", kept.message());
  if (budget.labels.empty()) return "";
  const size_t equals = budget.labels.find('=');
  const std::string method = budget.labels.substr(0, equals);
  if (equals != std::string::npos && options->model.methods.count(method) != 0) {
    budget.labels_method = method;
    budget.labels = budget.labels.substr(equals + 1);
  } else if (options->model.methods.size() == 1) {
    budget.labels_method = options->model.methods.begin()->first;
  } else {
    return absl::StrCat("--accuracy ", budget.labels,
                        ": there are several methods: give METHOD=FILE");
  }
  options->model.other_inputs.push_back(budget.labels);
  return "";
}

// "" or the model among the words of an option, which takes all words behind it.
std::string find_model(const char* option, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (!absl::EndsWith(word, ".pt2")) continue;
    return absl::StrCat(option, " takes all words behind it, also '", word,
                        "': put the model in front");
  }
  return "";
}

// "" or what is wrong with the words.
std::string read_options(const Arguments& arguments, CalibrateOptions* options) {
  exir::ExportOptions& model = options->model;
  std::string wrong = find_model("--calibrate", arguments.samples);
  if (wrong.empty()) wrong = find_model("--keep-float", arguments.keep_float);
  if (wrong.empty()) wrong = read_method_files(arguments.files, &model.methods);
  if (!wrong.empty()) return wrong;
  for (const std::string& word : arguments.samples) {
    wrong = add_samples(word, options);
    if (!wrong.empty()) return wrong;
  }
  if (arguments.given.count("quantize") != 0) {
    return "--quantize is for petrel export; the record is written to --record";
  }
  wrong = read_scheme(arguments, options);
  if (!wrong.empty()) return wrong;
  wrong = read_budget(arguments, options);
  if (!wrong.empty()) return wrong;
  for (const std::string& path : arguments.reports) {
    const absl::Status known = check_report_path(path);
    if (!known.ok()) return absl::StrCat("--", known.message());
  }
  auto backends = select_backends(arguments.given);
  if (!backends.ok()) return std::string(backends.status().message());
  model.backends = *std::move(backends);
  apply_options(arguments.given, &model);
  model.has_kernel = is_kernel_linked;
  model.output = arguments.output;
  model.quantization_output = arguments.record;
  model.text_outputs = arguments.reports;
  options->keep_float = arguments.keep_float;
  for (const auto& [method, files] : options->samples) {
    model.other_inputs.insert(model.other_inputs.end(), files.begin(), files.end());
  }
  return "";
}

uint64_t size_of(const std::string& path) {
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path, unknown);
  return unknown ? 0 : size;
}

// Compiles with the choices of a calibration, runs what was written and reports on it.
class Writer {
 public:
  Writer(const CalibrateOptions& options, const Calibration& calibration, Progress* progress)
      : options_(options), calibration_(calibration), progress_(*progress) {}

  absl::StatusOr<exir::ExportReport> write() {
    exir::ExportOptions model = options_.model;
    model.quantization = std::make_shared<exir::QuantizationRecord>(calibration_.record);
    model.before_publishing = [this](const std::map<std::string, std::string>& written) {
      return compare(written);
    };
    model.make_text = [this](const std::string& path) -> absl::StatusOr<std::string> {
      return format_report(report_, path);
    };
    return exir::export_program(model);
  }

  const NoiseByMethod& noise() const { return noise_; }

 private:
  absl::Status compare(const std::map<std::string, std::string>& written) {
    progress_.start("compare");
    const exir::ExportOptions& model = options_.model;
    QuantisedFiles files = {model.output, written.at(model.output), {}};
    for (const auto& [path, place] : written) {
      if (path != model.output && path != model.quantization_output) files.data.push_back(place);
    }
    // Who asks for a report or has a budget wants to know it of all samples.
    const bool is_whole = !model.text_outputs.empty() || !options_.budget.is_empty();
    PETREL_ASSIGN_OR_RETURN(
        noise_, compare_outputs(options_, calibration_.floats, files,
                                is_whole ? ComparedSamples() : samples_to_compare(calibration_)));
    if (model.text_outputs.empty()) return absl::OkStatus();
    progress_.start("report");
    PETREL_ASSIGN_OR_RETURN(report_, measure_quantization(options_, calibration_.record));
    for (auto& [method, report] : report_.methods) {
      const auto measured = noise_.find(method);
      if (measured != noise_.end()) report.outputs = measured->second;
    }
    report_.quantised_bytes = size_of(files.program);
    for (const std::string& place : files.data) report_.quantised_bytes += size_of(place);
    return absl::OkStatus();
  }

  const CalibrateOptions& options_;
  const Calibration& calibration_;
  Progress& progress_;
  NoiseByMethod noise_;
  QuantizationReport report_;
};

// The budget was kept on the samples that were judged, not on all of many.
void warn_of_noise(const KeepBudget& budget, const NoiseByMethod& noise) {
  if (!budget.min_sqnr) return;
  for (const auto& [method, outputs] : noise) {
    for (const OutputNoise& output : outputs) {
      if (output.decibels >= *budget.min_sqnr) continue;
      std::fprintf(stderr,
                   "petrel quantize: warning: method '%s': output %zu has %s dB over all samples, "
                   "--min-sqnr is %g\n",
                   method.c_str(), output.output, absl::StrFormat("%.1f", output.decibels).c_str(),
                   *budget.min_sqnr);
    }
  }
}

// Who does not know of --equalise learns of it where it helps.
void advise(const Calibration& calibration) {
  for (const auto& [method, products] : calibration.uneven) {
    std::fprintf(stderr,
                 "petrel quantize: method '%s': channels of %s are far apart; --equalise may gain "
                 "much\n",
                 method.c_str(), absl::StrJoin(products, ", ").c_str());
  }
}

void add_budget_options(CLI::App& verb, const std::shared_ptr<Arguments>& arguments) {
  verb.add_option("--min-sqnr", arguments->budget.min_sqnr,
                  "keep layers float until every output has at least this signal to noise, in dB");
  verb.add_option("--accuracy", arguments->budget.labels,
                  "[METHOD=]FILE.npy with the label of each sample, the place of the largest "
                  "element of output 0: keep layers float until accuracy falls by no more than "
                  "--max-drop");
  verb.add_option_function<double>(
          "--max-drop",
          [arguments](double drop) {
            arguments->budget.max_drop = drop;
            arguments->has_max_drop = true;
          },
          "percent of the samples (default 0.5)")
      ->check(number_in(0.0, 100.0));
}

int run(const Arguments& arguments) {
  CalibrateOptions options;
  const std::string wrong = read_options(arguments, &options);
  if (!wrong.empty()) return usage(wrong);
  // Calibrating takes long, and what is wrong with files is known now.
  const absl::Status checked = exir::check_options(options.model);
  if (!checked.ok()) return fail("quantize", checked);
  Progress progress("quantize");
  options.model.on_phase = [&](const std::string& phase) { progress.start(phase); };

  const RuntimeMessages messages;
  const auto failed = [&](const absl::Status& status) {
    progress.stop();
    return messages.fail("quantize", status);
  };
  progress.start("calibrate");
  const auto calibration = calibrate(options);
  if (!calibration.ok()) return failed(calibration.status());
  Writer writer(options, *calibration, &progress);
  const auto report = writer.write();
  if (!report.ok()) return failed(report.status());
  progress.stop();
  for (const std::string& warning : export_warnings(*report)) {
    std::fprintf(stderr, "petrel quantize: warning: %s\n", warning.c_str());
  }
  print_ranges(options, calibration->ranges);
  print_cells(calibration->cells);
  if (calibration->told) print_told(*calibration->told);
  print_report(*calibration, *report, writer.noise());
  warn_of_noise(options.budget, writer.noise());
  advise(*calibration);
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
                   "only, rows get scales at run time, weights have 8 or 4 bits; half: products "
                   "and what lies between them in half precision")
      ->check(CLI::IsMember({"static-int8", "dynamic-int8", "dynamic-int4", "half"}))
      ->capture_default_str();
  CLI::Option* const group =
      verb->add_option("--group", arguments->group,
                       "elements of a row that share a scale in weights of 4 bits")
          ->capture_default_str();
  verb->add_option("--rounding", arguments->rounding,
                   "of weights of 4 bits: nearest, or least-error: so that layers err least on the "
                   "samples")
      ->check(CLI::IsMember({"nearest", "least-error"}))
      ->capture_default_str();
  verb->add_option("-o,--output", arguments->output, "the program to write, a file")->required();
  verb->add_option("--record", arguments->record,
                   "write all that was chosen to this JSON file, for export --quantize");
  verb->add_option(
          "--report", arguments->reports,
          "write what became of each layer to FILE.txt, .json or .svg: its noise, range and "
          "bytes, and why it stays float; may be repeated")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option(
          "--ranges", arguments->ranges,
          "min-max: show all that was seen; least-error: cut numbers far out where that "
          "costs less than the levels they take; percentile[=99.99]: show that many "
          "percent of the numbers above 0, and of those below; by-outputs: that of these with "
          "which outputs err least on some samples")
      ->type_name("by-outputs|min-max|least-error|percentile")
      ->capture_default_str();
  verb->add_flag("--equalise", arguments->equalise,
                 "bring the ranges of channels together where two products stand behind each "
                 "other, which leaves the float model as it is");
  verb->add_flag("--correct-bias", arguments->correct_bias,
                 "take back by biases what integers shift the channels of products by, on the "
                 "samples");
  verb->add_option("--keep-float", arguments->keep_float,
                   "nodes that stay float, by name or pattern; may be repeated")
      ->take_all();
  add_budget_options(*verb, arguments);
  add_export_options(*verb, &arguments->given);
  add_isa_option(*verb);
  verb->footer(
      "Examples:\n"
      "  petrel quantize model.pt2 --calibrate images.npy -o model_int8.pte\n"
      "  petrel quantize model.pt2 --calibrate inputs.npz -o model_int8.pte --record model.q.json\n"
      "  petrel quantize model.pt2 --calibrate images.npy -o m.pte --report m.txt --report m.svg\n"
      "  petrel export model.pt2 --quantize model.q.json -o model_int8.pte\n"
      "  petrel quantize encoder.pt2 --scheme dynamic-int4 --group 64 -o encoder_int4.pte");
  verb->callback([arguments, group, exit_code] {
    arguments->has_group = group->count() > 0;
    *exit_code = run(*arguments);
  });
}

}  // namespace petrel::extension
