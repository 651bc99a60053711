// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>

#include "exir/driver/export.h"
#include "exir/ir/text.h"
#include "exir/output/output_files.h"
#include "extension/cli/backend_choice.h"
#include "extension/cli/console.h"
#include "extension/cli/export_option_flags.h"
#include "extension/cli/method_files.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/export/export_report.h"
#include "extension/export/export_status.h"
#include "extension/export/linked_kernels.h"
#include "extension/export/option_words.h"
#include "extension/module/error_text.h"

namespace petrel::extension {
namespace {

struct Arguments {
  MethodFiles files;
  std::string output;
  OptionWords given;
  std::string dump_after;
  std::string status;
  bool report = false;
  bool json = false;
};

int usage(const std::string& problem) {
  std::fprintf(stderr, "petrel export: %s\nTry `petrel export --help`.\n",
               printable(problem).c_str());
  return kWrongUsage;
}

// Keeps what became of an export in a file. A failure that is kept is no failure of the command.
int keep_status(const std::string& path, const absl::StatusOr<exir::ExportReport>& report) {
  const absl::Status written = exir::write_output_file(path, format_status_json(report) + "\n");
  return written.ok() ? kDone : fail("export", written);
}

int run(const Arguments& arguments) {
  exir::ExportOptions options;
  const std::string wrong = read_method_files(arguments.files, &options.methods);
  if (!wrong.empty()) return usage(wrong);
  absl::StatusOr<exir::BackendSelection> backends = select_backends(arguments.given);
  if (!backends.ok()) return usage(std::string(backends.status().message()));
  options.backends = *std::move(backends);
  apply_options(arguments.given, &options);
  options.has_kernel = is_kernel_linked;
  options.output = arguments.output;
  options.dump_after = arguments.dump_after;
  options.dump = [](const std::string& pass, const exir::Graph& graph) {
    std::printf("// after %s\n%s\n", pass.c_str(), printable(exir::print_graph(graph)).c_str());
  };
  Progress progress("export");
  options.on_phase = [&](const std::string& phase) { progress.start(phase); };

  const RuntimeMessages messages;  // constant folding runs the runtime
  const absl::StatusOr<exir::ExportReport> report = exir::export_program(options);
  progress.stop();
  if (!report.ok()) {
    const int failed = fail("export", report.status());
    if (arguments.status.empty() || is_of_machine(report.status())) return failed;
    return keep_status(arguments.status, report);
  }
  for (const std::string& warning : export_warnings(*report)) {
    std::fprintf(stderr, "petrel export: warning: %s\n", printable(warning).c_str());
  }
  if (arguments.json) {
    std::printf("%s\n", format_report_json(*report).c_str());
  } else if (arguments.report) {
    std::printf("%s", format_report_text(*report).c_str());
  }
  return arguments.status.empty() ? kDone : keep_status(arguments.status, report);
}

}  // namespace

void add_export_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("export", "Compile .pt2 archives into a .pte program");
  add_method_files(*verb, &arguments->files);
  verb->add_option("-o,--output", arguments->output, "the program to write, a file")->required();
  add_export_options(*verb, &arguments->given);
  verb->add_option("--dump-after", arguments->dump_after,
                   "print the IR after this pass, or after all");
  verb->add_flag("--report", arguments->report,
                 "print what was delegated, what was not and why, sizes and times");
  verb->add_flag("--json", arguments->json, "the report as JSON");
  verb->add_option(
          "--status", arguments->status,
          "write what became of the export to this file, as JSON, and end with 0 also where "
          "an archive cannot be exported; not where the machine fails, as with a full disk")
      ->type_name("FILE.json");
  verb->footer(
      "Examples:\n"
      "  petrel export model.pt2 -o model.pte --report\n"
      "  petrel export model.pt2 -o model.pte --external-weights model.ptd\n"
      "  petrel export model.pt2 -o model.pte --external 'encoder.*=encoder.ptd'\n"
      "  petrel export --method prefill=p.pt2 --method decode=d.pt2 -o llm.pte\n"
      "  petrel export model.pt2 -o model.pte --backend none --dump-after fold_batch_norm");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
