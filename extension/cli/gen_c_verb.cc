// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exir/driver/generate.h"
#include "exir/plan/formats/memory_pool.h"
#include "extension/cli/console.h"
#include "extension/cli/export_option_flags.h"
#include "extension/cli/method_files.h"
#include "extension/cli/progress.h"
#include "extension/cli/verb.h"
#include "extension/export/option_words.h"

namespace petrel::extension {
namespace {

struct Arguments {
  MethodFiles files;
  std::string folder;
  std::string name = "model";
  std::vector<std::string> pools;
  std::vector<std::string> pins;
  std::vector<std::string> parameters;
  std::string constants = "auto";
  std::string compile;
  std::string io = "arena";
  std::vector<std::string> group;
  OptionWords given;
};

int usage(const std::string& problem) {
  std::fprintf(stderr, "petrel gen-c: %s\nTry `petrel gen-c --help`.\n", problem.c_str());
  return kWrongUsage;
}

// "GLOB=POOL"; names of values hold no '=', so the last one counts.
std::vector<exir::PoolRule> read_rules(const std::vector<std::string>& words) {
  std::vector<exir::PoolRule> rules;
  for (const std::string& word : words) {
    const size_t equals = word.rfind('=');
    rules.push_back(
        {word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1)});
  }
  return rules;
}

// "" or what is wrong.
std::string read_pools(const Arguments& arguments, exir::GenerateOptions* options) {
  auto pools = exir::plan::parse_memory_pools(arguments.pools);
  if (!pools.ok()) return std::string(pools.status().message());
  options->pools = *std::move(pools);
  options->pins = read_rules(arguments.pins);
  options->parameters = read_rules(arguments.parameters);
  options->caller_io = arguments.io == "caller";
  options->group = arguments.group;
  return std::string(exir::check_pools(*options).message());
}

int run(const Arguments& arguments) {
  exir::GenerateOptions options;
  const std::string wrong = read_method_files(arguments.files, &options.program.methods);
  if (!wrong.empty()) return usage(wrong);
  options.folder = arguments.folder;
  options.name = arguments.name;
  if (arguments.compile == "so") options.compile = exir::Compile::kSharedLibrary;
  if (arguments.compile == "obj") options.compile = exir::Compile::kObject;
  if (arguments.constants == "text") options.constants = exir::ConstantFiles::kText;
  if (arguments.constants == "incbin") options.constants = exir::ConstantFiles::kIncbin;
  const absl::Status named = exir::check_package_name(options.name);
  if (!named.ok()) return usage(std::string(named.message()));
  const std::string unfit = read_pools(arguments, &options);
  if (!unfit.empty()) return usage(unfit);
  apply_options(arguments.given, &options.program);
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

void add_pool_options(CLI::App& verb, Arguments* arguments) {
  const auto add = [&](const char* flag, std::vector<std::string>* words, const char* help) {
    verb.add_option(flag, *words, help)->take_all()->allow_extra_args(false);
  };
  add("--pool", &arguments->pools,
      "a memory: NAME=BYTES or name=NAME,KEY=VALUE..., preferred ones first; keys: kind (rw, or ro "
      "for parameters), size, limit, prefer (a limit that necessity may exceed), align, section, "
      "address, targets. The one called state keeps what outlives a call");
  add("--pin", &arguments->pins, "GLOB=POOL: values of these names lie there; the first counts");
  add("--link-param", &arguments->parameters,
      "GLOB=POOL: parameters of these names lie there, in the first pool with room below prefer");
  add("--group", &arguments->group,
      "manifest.json of a package that never runs at the same time: NAME_group.h has types of "
      "pools that both share");
  verb.add_option(
          "--io", arguments->io,
          "arena: inputs and outputs have places in the memory of the model, and are copied "
          "where they lie elsewhere (default); caller: they lie elsewhere only")
      ->check(CLI::IsMember({"arena", "caller"}));
}

}  // namespace

void add_gen_c_verb(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("gen-c", "Write .pt2 archives as C99 files that need no library");
  add_method_files(*verb, &arguments->files);
  verb->add_option("-o,--output", arguments->folder, "the folder to write to")->required();
  verb->add_option("--name", arguments->name,
                   "begins the names of files and symbols; 'model' if not given");
  add_pool_options(*verb, arguments.get());
  verb->add_option("--constants", arguments->constants,
                   "text: parameters are C; incbin: NAME_params.S, for GNU as or clang, includes "
                   "NAME_params.bin; auto: incbin for more than 1 MiB of them (default)")
      ->check(CLI::IsMember({"auto", "text", "incbin"}));
  verb->add_option(
          "--compile", arguments->compile,
          "so: also libNAME.so, a module to run or open; obj: also NAME.o; with $CC, else cc")
      ->check(CLI::IsMember({"so", "obj"}));
  add_planning_options(*verb, &arguments->given);
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
