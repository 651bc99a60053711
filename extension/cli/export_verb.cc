// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/driver/export.h"
#include "exir/ir/text.h"
#include "exir/plan/external/external_planner.h"
#include "exir/plan/search/planner_registry.h"
#include "extension/cli/backend_choice.h"
#include "extension/cli/console.h"
#include "extension/cli/export_recipe.h"
#include "extension/cli/export_report.h"
#include "extension/cli/linked_kernels.h"
#include "extension/cli/verb.h"

namespace petrel::extension {
namespace {

constexpr int64_t kPlannerTimeoutMs = 60'000;

struct Arguments {
  std::string model;
  std::string output;
  BackendArguments backends;
  std::vector<std::string> methods;
  std::string external_weights;
  std::vector<std::string> external;
  uint64_t shard_bytes = 0;
  std::string weight_keys = "content";
  bool bind_data = false;
  std::string dump_after;
  std::string planner = "search";
  std::string planner_command;
  bool reorder = false;
  bool allow_petrel_ops = false;
  bool allow_missing_kernels = false;
  bool report = false;
  bool json = false;
};

int usage(const std::string& problem) {
  std::fprintf(stderr, "petrel export: %s\nTry `petrel export --help`.\n", problem.c_str());
  return kWrongUsage;
}

// Names phases on a terminal once the export has taken two seconds.
class Progress {
 public:
  void start(const std::string& phase) {
    using Seconds = std::chrono::duration<double>;
    const double elapsed = Seconds(std::chrono::steady_clock::now() - begin_).count();
    if (elapsed < 2.0 || isatty(STDERR_FILENO) == 0) return;
    std::fprintf(stderr, "petrel export: %s\n", phase.c_str());
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

int run(const Arguments& arguments) {
  exir::ExportOptions options;
  if (!arguments.model.empty()) options.methods["forward"] = arguments.model;
  for (const std::string& method : arguments.methods) {
    std::string name, path;
    if (!split_pair(method, &name, &path)) {
      return usage(absl::StrCat("--method is '", method, "', must be NAME=FILE.pt2"));
    }
    if (!options.methods.emplace(name, path).second) {
      return usage(absl::StrCat("method '", name, "' is given twice"));
    }
  }
  if (options.methods.empty()) return usage("there is no model: give MODEL.pt2 or --method");
  absl::StatusOr<exir::BackendSelection> backends = select_backends(arguments.backends);
  if (!backends.ok()) return usage(std::string(backends.status().message()));
  options.backends = *std::move(backends);
  for (const std::string& text : arguments.external) {
    exir::ExternalFile file;
    // A name of a weight may have a '=' in it, a file hardly.
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return usage(absl::StrCat("--external is '", text, "', must be GLOB=FILE.ptd"));
    }
    file.glob = text.substr(0, equals);
    file.path = text.substr(equals + 1);
    options.external.push_back(std::move(file));
  }
  options.shard_bytes = arguments.shard_bytes;
  if (arguments.weight_keys == "name") options.weight_keys = exir::WeightKeys::kName;
  options.bind_data = arguments.bind_data;
  options.recipe = make_recipe(arguments.backends, arguments.allow_petrel_ops);
  options.output = arguments.output;
  options.external_weights = arguments.external_weights;
  options.dump_after = arguments.dump_after;
  options.reorder = arguments.reorder;
  options.allow_petrel_ops = arguments.allow_petrel_ops;
  options.has_kernel = is_kernel_linked;
  options.allow_missing_kernels = arguments.allow_missing_kernels;
  if (!arguments.planner_command.empty()) {
    options.planning.planner =
        exir::plan::external_planner(arguments.planner_command, kPlannerTimeoutMs);
    options.planning.planner_name = arguments.planner_command;
  } else if (const absl::Status status = exir::plan::PlannerRegistry::built_in().choose(
                 arguments.planner, &options.planning);
             !status.ok()) {
    return usage(std::string(status.message()));
  }
  options.dump = [](const std::string& pass, const exir::Graph& graph) {
    std::printf("// after %s\n%s\n", pass.c_str(), exir::print_graph(graph).c_str());
  };
  Progress progress;
  options.on_phase = [&](const std::string& phase) { progress.start(phase); };

  const RuntimeMessages messages;  // constant folding runs the runtime
  const absl::StatusOr<exir::ExportReport> report = exir::export_program(options);
  if (!report.ok()) return fail("export", report.status());
  if (!report->emit.missing_kernels.empty()) {
    std::fprintf(stderr, "petrel export: warning: %s\n",
                 exir::describe_missing(report->emit.missing_kernels).c_str());
  }
  if (arguments.json) {
    std::printf("%s\n", format_report_json(*report).c_str());
  } else if (arguments.report) {
    std::printf("%s", format_report_text(*report).c_str());
  }
  return kDone;
}

}  // namespace

void add_export_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("export", "Compile .pt2 archives into a .pte program");
  verb->add_option("model", arguments->model,
                   "MODEL.pt2 of method 'forward'; others with --method");
  verb->add_option("-o,--output", arguments->output, "the program to write")->required();
  add_backend_option(*verb, &arguments->backends);
  verb->add_flag("--whole-methods", arguments->backends.whole_methods,
                 "give the backend whole methods, or fail");
  verb->add_option("--partition", arguments->backends.partition,
                   "cost (default): delegate what kernels do not do faster by a table of measured "
                   "costs; supported: all that the backend takes")
      ->check(CLI::IsMember({"cost", "supported"}));
  verb->add_option("--method", arguments->methods, "NAME=FILE.pt2, once per further method")
      ->take_all();
  verb->add_option("--external-weights", arguments->external_weights,
                   "put all weights into this .ptd file, but for those of --external")
      ->check([](const std::string& file) {
        return file.empty() ? std::string("the name of the file is empty") : std::string();
      });
  verb->add_option("--external", arguments->external,
                   "'GLOB=FILE.ptd': weights whose names match go there, may be repeated;\n"
                   "the first that matches counts")
      ->take_all();
  verb->add_option("--shard-size", arguments->shard_bytes,
                   "cut .ptd files so that none is larger: bytes, or 500MB, 2GB")
      ->transform(CLI::AsSizeValue(true))
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62));
  verb->add_option("--weight-keys", arguments->weight_keys,
                   "content (default), or name: other weights can be given to the program later")
      ->check(CLI::IsMember({"content", "name"}));
  verb->add_flag("--bind-data", arguments->bind_data,
                 "remember digests: the program takes only these bytes from data files");
  verb->add_option("--compile-spec", arguments->backends.compile_specs,
                   "KEY=VALUE for the backend, NAME:KEY=VALUE for one of several")
      ->take_all();
  verb->add_flag("--reorder", arguments->reorder,
                 "run operators in the order that needs least memory");
  verb->add_flag("--allow-petrel-ops", arguments->allow_petrel_ops,
                 "operators that only Petrel's runtime has, where they are faster");
  verb->add_flag("--allow-missing-kernels", arguments->allow_missing_kernels,
                 "write programs that call kernels which this command does not have");
  verb->add_option("--planner", arguments->planner,
                   "of memory: search (default), orderings or unshared");
  verb->add_option("--planner-command", arguments->planner_command,
                   "a command that plans memory, as for `petrel plan`");
  verb->add_option("--dump-after", arguments->dump_after,
                   "print the IR after this pass, or after all");
  verb->add_flag("--report", arguments->report,
                 "print what was delegated, what was not and why, sizes and times");
  verb->add_flag("--json", arguments->json, "the report as JSON");
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
