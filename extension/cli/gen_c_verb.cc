// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "exir/driver/generate.h"
#include "extension/cli/backend_choice.h"
#include "extension/cli/console.h"
#include "extension/cli/export_option_flags.h"
#include "extension/cli/method_files.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/export/generate_option.h"

namespace petrel::extension {
namespace {

struct Arguments {
  MethodFiles files;
  std::string folder;
  OptionWords given;
};

int usage(const std::string& problem) {
  std::fprintf(stderr, "petrel gen-c: %s\nTry `petrel gen-c --help`.\n", problem.c_str());
  return kWrongUsage;
}

int run(const Arguments& arguments) {
  exir::GenerateOptions options;
  const std::string wrong = read_method_files(arguments.files, &options.program.methods);
  if (!wrong.empty()) return usage(wrong);
  options.folder = arguments.folder;
  auto backends = select_given_backends(arguments.given, OtherMethods::kNone);
  if (!backends.ok()) return usage(std::string(backends.status().message()));
  options.program.backends = *std::move(backends);
  const absl::Status applied = apply_generate_options(arguments.given, &options);
  if (!applied.ok()) return usage(std::string(applied.message()));
  Progress progress("gen-c");
  options.program.on_phase = [&](const std::string& phase) { progress.start(phase); };
  const RuntimeMessages messages;  // constant folding and the self-test run the runtime
  const absl::StatusOr<exir::GenerateReport> report = exir::generate_c(options);
  progress.stop();
  if (!report.ok()) return messages.fail("gen-c", report.status());
  for (const std::string& note : report->notes) {
    std::fprintf(stderr, "petrel gen-c: %s\n", note.c_str());
  }
  return kDone;
}

}  // namespace

void add_gen_c_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("gen-c", "Write .pt2 archives as C99 files that need no library");
  add_method_files(*verb, &arguments->files);
  verb->add_option("-o,--output", arguments->folder, "the folder to write to")->required();
  add_generate_options(*verb, &arguments->given);
  verb->footer(
      "Examples:\n"
      "  petrel gen-c kws.pt2 -o kws_c --name kws\n"
      "  petrel gen-c kws.pt2 -o kws_c --name kws --reorder --max-arena-bytes 16384\n"
      "  petrel gen-c kws.pt2 -o kws_c --name kws --pool name=tcm,limit=16K,section=.bss.tcm "
      "--pool sram=256K\n"
      "  petrel gen-c kws.pt2 -o kws_c --name kws --compile so\n"
      "  petrel gen-c --method prefill=p.pt2 --method decode=d.pt2 -o llm_c --name llm");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
