// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "extension/cli/backend_choice.h"
#include "extension/cli/console.h"
#include "extension/cli/limit_options.h"
#include "extension/relink/data_build.h"
#include "extension/relink/data_list.h"
#include "extension/relink/data_move.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"

namespace petrel::extension {
namespace {

constexpr char kVerb[] = "data";

struct ListArguments {
  std::string file;
  bool json = false;
  runtime::Limits limits;
};

int run_list(const ListArguments& arguments) {
  const RuntimeMessages messages;
  const auto list = list_data(arguments.file, arguments.limits);
  if (!list.ok()) return messages.fail(kVerb, list.status());
  if (arguments.json) {
    std::printf(
        "%s\n",
        list->dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  } else {
    std::printf("%s", render_data_list(*list).c_str());
  }
  return kDone;
}

void print_move(const char* what, const MoveReport& report) {
  std::printf("%s %zu keys, %s\n", what, report.keys, format_bytes(report.bytes).c_str());
  if (report.still_outside.empty()) return;
  std::printf("the program still needs %zu keys from data files:\n", report.still_outside.size());
  for (const std::string& key : report.still_outside) {
    std::printf("  %s\n", absl::CHexEscape(key).c_str());
  }
}

int run_split(const SplitOptions& options) {
  const RuntimeMessages messages;
  Progress progress(kVerb);
  progress.start("split");
  const auto report = split_data(options);
  progress.stop();
  if (!report.ok()) return messages.fail(kVerb, report.status());
  print_move("moved out", *report);
  return kDone;
}

int run_merge(const DataMergeOptions& options) {
  const RuntimeMessages messages;
  Progress progress(kVerb);
  progress.start("merge");
  const auto report = merge_data(options);
  progress.stop();
  if (!report.ok()) return messages.fail(kVerb, report.status());
  print_move("merged", *report);
  return kDone;
}

void add_list(CLI::App& data, int* exit_code) {
  auto arguments = std::make_shared<ListArguments>();
  CLI::App* verb = data.add_subcommand("list", "List the data that a file contains or needs");
  verb->add_option("file", arguments->file, "a .pte, .ptd or .safetensors file")->required();
  verb->add_flag("--json", arguments->json, "as JSON");
  add_limit_options(*verb, LimitsOf::kLoading, &arguments->limits);
  verb->callback([arguments, exit_code] { *exit_code = run_list(*arguments); });
}

void add_split(CLI::App& data, int* exit_code) {
  auto options = std::make_shared<SplitOptions>();
  CLI::App* verb = data.add_subcommand("split", "Move data out of a program");
  verb->add_option("program", options->program, "PROG.pte")->required();
  verb->add_option("-o,--output", options->output, "the program without the data")->required();
  verb->add_option("--to", options->data_file, "FILE.ptd for the data")->required();
  verb->add_option("--keys", options->keys, "GLOB of the keys to move; all by default");
  add_limit_options(*verb, LimitsOf::kLoading, &options->limits);
  verb->callback([options, exit_code] { *exit_code = run_split(*options); });
}

void add_merge(CLI::App& data, int* exit_code) {
  auto options = std::make_shared<DataMergeOptions>();
  CLI::App* verb = data.add_subcommand("merge", "Put data files into a program");
  verb->add_option("program", options->program, "PROG.pte")->required();
  verb->add_option("files", options->data_files, "FILE.ptd or FILE.safetensors ...")->required();
  verb->add_option("-o,--output", options->output, "the program with the data")->required();
  add_limit_options(*verb, LimitsOf::kLoading, &options->limits);
  verb->callback([options, exit_code] { *exit_code = run_merge(*options); });
}

struct BuildArguments {
  BuildOptions options;
  std::vector<std::string> from;
  std::vector<std::string> renames;
};

int run_build(BuildArguments& arguments) {
  for (const std::string& text : arguments.from) {
    // METHOD=FILE.pt2, or the file alone.
    const size_t equals = text.find('=');
    const bool named = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
    const std::string method = named ? text.substr(0, equals) : "";
    if (!arguments.options.models.emplace(method, named ? text.substr(equals + 1) : text).second) {
      return fail(kVerb, absl::StrCat("--from is given twice for method '", method, "'"));
    }
  }
  for (const std::string& text : arguments.renames) {
    auto& [from, to] = arguments.options.renames.emplace_back();
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(kVerb, absl::StrCat("--rename is '", text, "', must be FROM=TO"));
    }
    from = text.substr(0, equals);
    to = text.substr(equals + 1);
  }
  const RuntimeMessages messages;
  Progress progress(kVerb);
  arguments.options.on_phase = [&](const std::string& phase) { progress.start(phase); };
  const auto report = build_data(arguments.options);
  progress.stop();
  if (!report.ok()) return messages.fail(kVerb, report.status());
  std::printf("wrote %zu keys, %s\n", report->keys, format_bytes(report->bytes).c_str());
  return kDone;
}

void add_build(CLI::App& data, int* exit_code) {
  auto arguments = std::make_shared<BuildArguments>();
  arguments->options.select_backends = select_backends;
  CLI::App* verb = data.add_subcommand(
      "build", "Make other weights for a program exported with --weight-keys name");
  verb->add_option("--from", arguments->from,
                   "NEW.pt2, or METHOD=NEW.pt2 for each of several methods;\n"
                   "NEW.safetensors or NEW.ptd, where keys say all about how weights are made")
      ->required()
      ->take_all();
  verb->add_option("--for", arguments->options.program, "PROG.pte")->required();
  verb->add_option("-o,--output", arguments->options.output, "NEW.ptd")->required();
  verb->add_option("--keys", arguments->options.keys,
                   "GLOB of the names of weights to write; all by default");
  verb->add_option("--rename", arguments->renames,
                   "FROM=TO: TO takes the place of the text FROM in names of tensors; in order")
      ->take_all();
  add_limit_options(*verb, LimitsOf::kLoading, &arguments->options.limits);
  verb->callback([arguments, exit_code] { *exit_code = run_build(*arguments); });
}

}  // namespace

void add_data_verb(CLI::App& app, int* exit_code) {
  CLI::App* verb = app.add_subcommand(kVerb, "List, move and build the data of programs");
  verb->require_subcommand(1);
  add_list(*verb, exit_code);
  add_split(*verb, exit_code);
  add_merge(*verb, exit_code);
  add_build(*verb, exit_code);
  verb->footer(
      "Examples:\n"
      "  petrel data list model.ptd --json\n"
      "  petrel data split model.pte -o small.pte --to model.ptd\n"
      "  petrel data split model.pte -o rest.pte --to encoder.ptd --keys 'encoder.*'\n"
      "  petrel data merge small.pte model.ptd -o model.pte\n"
      "  petrel data build --from new.pt2 --for model.pte -o new.ptd\n"
      "  petrel data build --from adapter.safetensors --for model.pte -o new.ptd \\\n"
      "    --keys '*lora*' --rename base_model.model.=");
}

}  // namespace petrel::extension
