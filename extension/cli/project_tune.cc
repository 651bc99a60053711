// SPDX-License-Identifier: Apache-2.0
#include "extension/cli/project_tune.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "exir/board/board.h"
#include "exir/driver/generate.h"
#include "exir/driver/tuning.h"
#include "exir/output/output_files.h"
#include "exir/status_macros.h"
#include "extension/cli/backend_choice.h"
#include "extension/cli/console.h"
#include "extension/cli/export_option_flags.h"
#include "extension/cli/method_files.h"
#include "extension/cli/number_in.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/export/generate_option.h"
#include "extension/module/error_text.h"
#include "extension/project/project.h"
#include "extension/project/tune.h"

namespace petrel::extension {
namespace {

namespace fs = std::filesystem;

constexpr char kVerb[] = "project";

struct Arguments {
  std::string folder, record, device;
  MethodFiles files;
  OptionWords given;
  double seconds = 60;
};

int usage(const std::string& problem) {
  std::fprintf(stderr, "petrel project tune: %s\nTry `petrel project tune --help`.\n",
               problem.c_str());
  return kWrongUsage;
}

// Options that another one says, or that are not for this; "" or what is wrong.
std::string misplaced(const OptionWords& given) {
  if (given.count("board") > 0) return "the board is that of the project, not --board";
  if (given.count("name") > 0) return "the name is that of the project's model, not --name";
  for (const char* option : {"tuning", "compile", "package"}) {
    if (given.count(option) > 0) return absl::StrCat("--", option, " is an option of gen-c");
  }
  return "";
}

void print_table(const exir::TuningRecord& record) {
  std::printf("%-28s %-20s %14s  %s\n", "node", "variant", "ticks", "");
  for (const exir::TunedNode& node : record.nodes) {
    const std::string shown = printable(node.node);
    const char* name = shown.c_str();
    for (const auto& [variant, ticks] : node.ticks) {
      const bool is_best = variant == node.variant, is_target = variant == node.target_variant;
      std::printf("%-28s %-20s %14llu  %s%s\n", name, variant.c_str(),
                  static_cast<unsigned long long>(ticks), is_best ? "taken" : "",
                  is_target ? (is_best ? ", as by the target" : "by the target") : "");
      name = "";
    }
  }
  const auto other = std::count_if(record.nodes.begin(), record.nodes.end(), [](const auto& node) {
    return node.variant != node.target_variant;
  });
  std::printf(
      "all steps: %llu ticks of %lld Hz with the kernels of the target, %llu tuned; "
      "%zd of %zu nodes have another kernel\n",
      static_cast<unsigned long long>(record.target_ticks), static_cast<long long>(record.hz),
      static_cast<unsigned long long>(record.tuned_ticks), static_cast<ssize_t>(other),
      record.nodes.size());
}

absl::Status write_record(const std::string& path, const exir::TuningRecord& record) {
  exir::OutputFiles outputs;
  PETREL_ASSIGN_OR_RETURN(const exir::ByteSink sink, outputs.open(path));
  const std::string text = exir::tuning_text(record);
  PETREL_RETURN_IF_ERROR(sink({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  return outputs.publish();
}

absl::StatusOr<Tuning> measure(const Project& project, const exir::GenerateOptions& options,
                               const Arguments& arguments) {
  Progress progress(kVerb);
  TuneOptions how;
  how.timeout_ms = static_cast<int64_t>(1000 * arguments.seconds);
  how.on_round = [&](const std::string& what) { progress.start(what); };
  const GenerateModel generate = [&](const std::string& folder, const TunedKernels& tuned) {
    exir::GenerateOptions one = options;
    one.folder = folder;
    one.kernels.tuned = tuned;
    return exir::generate_c(one).status();
  };
  return tune(project, generate, how);
}

int run(const Arguments& arguments) {
  const std::string wrong = misplaced(arguments.given);
  if (!wrong.empty()) return usage(wrong);
  auto project = Project::read(arguments.folder);
  if (!project.ok()) return fail(kVerb, project.status());
  if (!arguments.device.empty()) project->device = arguments.device;
  exir::GenerateOptions options;
  const std::string no_files = read_method_files(arguments.files, &options.program.methods);
  if (!no_files.empty()) return usage(no_files);
  OptionWords given = arguments.given;
  given["board"] = {fs::path(arguments.folder) / "board.json"};
  given["name"] = {project->package.name};
  auto backends = select_given_backends(given, OtherMethods::kNone);
  if (!backends.ok()) return usage(std::string(backends.status().message()));
  options.program.backends = *std::move(backends);
  const absl::Status applied = apply_generate_options(given, &options);
  if (!applied.ok()) return usage(std::string(applied.message()));
  const RuntimeMessages messages;  // constant folding and the self-test run the runtime
  absl::StatusOr<Tuning> tuning = measure(*project, options, arguments);
  if (!tuning.ok()) return messages.fail(kVerb, tuning.status());
  tuning->record.key = exir::tuning_key(project->board, options);
  const absl::Status written = write_record(arguments.record, tuning->record);
  if (!written.ok()) return fail(kVerb, written);
  for (const std::string& note : tuning->notes) {
    std::fprintf(stderr, "petrel project tune: %s\n", note.c_str());
  }
  print_table(tuning->record);
  return kDone;
}

}  // namespace

void add_project_tune(CLI::App& project_verb, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* step = project_verb.add_subcommand(
      "tune", "Measure the variants of kernels on the board, for --tuning of gen-c");
  step->add_option("project", arguments->folder, "the folder of the project")->required();
  add_method_files(*step, &arguments->files);
  step->add_option("-o,--output", arguments->record, "the record to write")->required();
  step->add_option("--device", arguments->device,
                   "serial number or port of one board among several; list-devices has them");
  step->add_option("--seconds", arguments->seconds,
                   "how long the board may take for one measurement; default: 60")
      ->check(number_in(0.1, 3600.0));
  add_generate_options(*step, &arguments->given);
  step->footer(
      "The options are those with which gen-c made the model of the project.\n"
      "Example:\n"
      "  petrel project tune p kws.pt2 --int8 integer --target cortex-m4 -o kws.tuning.json");
  step->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
