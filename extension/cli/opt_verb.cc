// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "extension/cli/backend_choice.h"
#include "extension/cli/console.h"
#include "extension/cli/export_option_flags.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "exir/driver/export.h"
#include "exir/import/import.h"
#include "exir/import/size_limits.h"
#include "exir/ir/text.h"
#include "exir/pass/pipeline.h"
#include "extension/export/option_words.h"
#include "extension/module/error_text.h"

namespace petrel::extension {
namespace {

struct Arguments {
  std::string model;
  std::string after;
  OptionWords given;
  bool list = false;
};

void list_passes() {
  for (const auto passes :
       {exir::passes_before_partitioning(), exir::passes_after_partitioning()}) {
    for (const exir::Pass& pass : passes) std::printf("%-28s %s\n", pass.name, pass.reason);
  }
}

bool is_pass(absl::Span<const exir::Pass> passes, const std::string& name) {
  for (const exir::Pass& pass : passes) {
    if (name == pass.name) return true;
  }
  return false;
}

// The text after each pass that `after` names; before any when it is
// "import"; at the end when it is empty. Nothing is delegated.
int run(const Arguments& arguments) {
  if (arguments.list) {
    list_passes();
    return kDone;
  }
  if (arguments.model.empty()) {
    std::fprintf(stderr, "petrel opt: there is no model: give MODEL.pt2 or --list\n");
    return kWrongUsage;
  }
  const auto before = exir::passes_before_partitioning();
  const auto later = exir::passes_after_partitioning();
  if (!arguments.after.empty() && arguments.after != "all" && arguments.after != "import" &&
      !is_pass(before, arguments.after) && !is_pass(later, arguments.after)) {
    std::fprintf(stderr, "petrel opt: there is no pass '%s'; see petrel opt --list\n",
                 arguments.after.c_str());
    return kWrongUsage;
  }
  const RuntimeMessages messages;  // constant folding runs the runtime
  Progress progress("opt");
  const auto print = [&](const std::string& pass, const exir::Graph& graph) {
    progress.start("");
    std::printf("// after %s\n%s\n", pass.c_str(), printable(exir::print_graph(graph)).c_str());
    progress.start("passes");
  };
  progress.start("import");
  exir::ExportOptions options;
  apply_options(arguments.given, &options);
  const auto limits = exir::SizeLimits::read(options.max_sizes);
  if (!limits.ok()) return fail("opt", limits.status());
  auto method = exir::import_pt2(arguments.model, "forward", *limits);
  if (!method.ok()) return fail("opt", method.status());
  exir::Program program;
  program.methods["forward"] = *std::move(method);
  const exir::Graph& graph = *program.methods["forward"].graph;
  if (arguments.after == "import" || arguments.after == "all") print("import", graph);
  if (arguments.after == "import") return kDone;
  const auto backends = select_backends(arguments.given);
  if (!backends.ok()) {
    std::fprintf(stderr, "petrel opt: %s\n", std::string(backends.status().message()).c_str());
    return kWrongUsage;
  }
  progress.start("passes");
  exir::PassContext context;
  context.keep_whole = [&](const exir::OpInfo& op) { return backends->keeps("forward", op); };
  absl::Status status = exir::run_passes(program, before, context, arguments.after, print);
  const bool wants_later = arguments.after == "all" || is_pass(later, arguments.after);
  if (status.ok() && wants_later) {
    status = exir::run_passes(program, later, exir::PassContext(), arguments.after, print);
  }
  if (!status.ok()) return fail("opt", status);
  progress.stop();
  if (arguments.after.empty()) std::printf("%s", printable(exir::print_graph(graph)).c_str());
  return kDone;
}

}  // namespace

void add_opt_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("opt", "Show the IR of a .pt2 archive after a pass");
  verb->add_option("model", arguments->model, "MODEL.pt2");
  verb->add_option("--after", arguments->after,
                   "a pass, all, or import (before any pass); by default, what backends see");
  add_backend_option(*verb, &arguments->given);
  add_export_option(*verb, "max-size", &arguments->given);
  verb->add_flag("--list", arguments->list, "list the passes and the reasons for their order");
  verb->footer(
      "Examples:\n"
      "  petrel opt model.pt2\n"
      "  petrel opt model.pt2 --after fold_batch_norm\n"
      "  petrel opt --list");
  verb->callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace petrel::extension
