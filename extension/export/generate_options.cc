// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "exir/board/board.h"
#include "exir/driver/board_pools.h"
#include "exir/driver/kernel_rules.h"
#include "exir/driver/pool_rules.h"
#include "exir/driver/tuning.h"
#include "exir/emit_c/kernel_options.h"
#include "exir/plan/formats/memory_pool.h"
#include "extension/export/export_option.h"
#include "extension/export/generate_option.h"
#include "extension/export/option_words.h"
#include "runtime/core/version.h"

namespace petrel::extension {
namespace {

using exir::GenerateOptions;

// Of the options of an export those that say how large sizes are, what is delegated, what is
// computed in integers, and how memory is planned.
constexpr const char* kOfExport[] = {
    "backend",  "compile-spec", "max-size",        "whole-methods", "partition",      "int8",
    "io-dtype", "reorder",      "max-arena-bytes", "planner",       "planner-command"};

std::vector<GenerateOption> memory_options() {
  return {
      {{"board",
        OptionKind::kText,
        {},
        "",
        "a board that `petrel project info` lists, or a file BOARD.json: its memories are pools, "
        "and parameters lie in those of kind=ro"},
       // Read last, since it asks for what the others said.
       [](const Words&, GenerateOptions*) { return absl::OkStatus(); }},
      {{"pool",
        OptionKind::kTexts,
        {},
        "",
        "a memory: NAME=BYTES or name=NAME,KEY=VALUE..., preferred ones first; keys: kind (rw, or "
        "ro for parameters), size, limit, prefer (a limit that necessity may exceed), align, "
        "section, address, targets, cached. The one called state keeps what outlives a call"},
       [](const Words& words, GenerateOptions* options) {
         auto pools = exir::plan::parse_memory_pools(words);
         if (pools.ok()) options->pools = *std::move(pools);
         return pools.status();
       }},
      {{"pin",
        OptionKind::kTexts,
        {},
        "",
        "GLOB=POOL: values of these names lie there; the first counts"},
       [](const Words& words, GenerateOptions* options) {
         options->pins = exir::read_pool_rules(words);
         return absl::OkStatus();
       }},
      {{"io",
        OptionKind::kChoice,
        {"arena", "caller"},
        "arena",
        "arena: inputs and outputs have places in the memory of the model, and are copied where "
        "they lie elsewhere; caller: they lie elsewhere only"},
       [](const Words& words, GenerateOptions* options) {
         options->caller_io = words[0] == "caller";
         return absl::OkStatus();
       }},
      {{"io-layout",
        OptionKind::kChoice,
        {"nchw", "nhwc"},
        "nchw",
        "nhwc: inputs and outputs with channels and places have channels innermost, copied but for "
        "those of int8 with --int8 integer; nchw: as in the model"},
       [](const Words& words, GenerateOptions* options) {
         options->kernels.channels_last_io = words[0] == "nhwc";
         return absl::OkStatus();
       }},
      {{"group",
        OptionKind::kTexts,
        {},
        "",
        "manifest.json of another package: NAME_group.h has types of pools that both share"},
       [](const Words& words, GenerateOptions* options) {
         options->group = words;
         return absl::OkStatus();
       }},
      {{"group-mode",
        OptionKind::kChoice,
        {"apart", "together"},
        "apart",
        "apart: packages of the group never run at the same time, and share all of a pool; "
        "together: all are alive, and each has its part"},
       [](const Words& words, GenerateOptions* options) {
         options->group_together = words[0] == "together";
         return absl::OkStatus();
       }},
  };
}

std::vector<GenerateOption> parameter_options() {
  return {
      {{"params",
        OptionKind::kChoice,
        {"linked", "pool", "external"},
        "linked",
        "what becomes of parameters that link-param says nothing of. linked: part of the files; "
        "pool: so, in the pools of kind=ro; external: the application sets pointers"},
       [](const Words& words, GenerateOptions* options) {
         options->other_parameters = words[0] == "pool"       ? exir::Parameters::kPool
                                     : words[0] == "external" ? exir::Parameters::kExternal
                                                              : exir::Parameters::kLinked;
         return absl::OkStatus();
       }},
      {{"link-param",
        OptionKind::kTexts,
        {},
        "",
        "GLOB=POOL: parameters of these names lie there, in the first pool with room below prefer; "
        "a pool of kind=rw is one that a hook loads them into; GLOB=linked, GLOB=external as of "
        "params"},
       [](const Words& words, GenerateOptions* options) {
         options->parameters = exir::read_pool_rules(words);
         return absl::OkStatus();
       }},
      {{"constants",
        OptionKind::kChoice,
        {"auto", "text", "incbin"},
        "auto",
        "text: parameters are C; incbin: NAME_params.S, for GNU as or clang, includes "
        "NAME_params.bin; auto: incbin for more than 1 MiB of them"},
       [](const Words& words, GenerateOptions* options) {
         options->constants = words[0] == "text"     ? exir::ConstantFiles::kText
                              : words[0] == "incbin" ? exir::ConstantFiles::kIncbin
                                                     : exir::ConstantFiles::kAuto;
         return absl::OkStatus();
       }},
  };
}

std::vector<GenerateOption> file_options() {
  return {
      {{"name", OptionKind::kText, {}, "model", "begins the names of files and symbols"},
       [](const Words& words, GenerateOptions* options) {
         options->name = words[0];
         return exir::check_package_name(words[0]);
       }},
      {{"compile",
        OptionKind::kChoice,
        {"none", "so", "obj"},
        "none",
        "so: also libNAME.so, a module to run or open; obj: also NAME.o; with $CC, else cc"},
       [](const Words& words, GenerateOptions* options) {
         options->compile = words[0] == "so"    ? exir::Compile::kSharedLibrary
                            : words[0] == "obj" ? exir::Compile::kObject
                                                : exir::Compile::kNothing;
         return absl::OkStatus();
       }},
      {{"package",
        OptionKind::kText,
        {},
        "",
        "FILE.zip: also one archive for CMake, make, Zephyr, Arduino, PlatformIO and CMSIS"},
       [](const Words& words, GenerateOptions* options) {
         options->package_file = words[0];
         options->version = kVersion;
         return absl::OkStatus();
       }},
      {{"math",
        OptionKind::kChoice,
        {"exact", "fast"},
        "exact",
        "exact: every bit is that of the reference kernels; fast: convolutions and products of "
        "floats are summed in floats"},
       [](const Words& words, GenerateOptions* options) {
         options->fast_math = words[0] == "fast";
         return absl::OkStatus();
       }},
      {{"interface",
        OptionKind::kChoice,
        {"packed", "direct"},
        "packed",
        "packed: models run by functions with structs of typed pointers, and with arrays of "
        "pointers "
        "by the struct of all models too; direct: by the first alone, for less code"},
       [](const Words& words, GenerateOptions* options) {
         options->direct_alone = words[0] == "direct";
         return absl::OkStatus();
       }},
      {{"device-rpc",
        OptionKind::kFlag,
        {},
        "",
        "also NAME_plan.c, and petrel_rpc.c with its parts: with these a host runs and measures "
        "the model on a device"},
       [](const Words&, GenerateOptions* options) {
         options->device_rpc = true;
         return absl::OkStatus();
       }},
  };
}

std::vector<GenerateOption> kernel_options() {
  return {
      {{"target",
        OptionKind::kChoice,
        {"generic", "cortex-m4", "cortex-m55", "rv32", "x86-64", "arm64"},
        "generic",
        "the processor that kernels of integers are fast on; every one computes the same"},
       [](const Words& words, GenerateOptions* options) {
         const auto* const names = std::begin(exir::emit_c::kTargetNames);
         options->kernels.target = static_cast<exir::emit_c::Target>(
             std::find(names, std::end(exir::emit_c::kTargetNames), words[0]) - names);
         return absl::OkStatus();
       }},
      {{"kernel",
        OptionKind::kTexts,
        {},
        "",
        "NODE=VARIANT: nodes of these names, or with weights of modules of these names, have that "
        "variant of their kernel; the first that matches counts. docs/kernels_in_c.md has all"},
       [](const Words& words, GenerateOptions* options) {
         auto rules = exir::read_kernel_rules(words);
         if (rules.ok()) options->kernels.forced = *std::move(rules);
         return rules.status();
       }},
      {{"tuning",
        OptionKind::kText,
        {},
        "",
        "a record of `petrel project tune`, made with this board, model and placement: nodes that "
        "kernel says nothing of have the variants that it found best"},
       // Read last, since what it was measured with is compared with all else.
       [](const Words&, GenerateOptions*) { return absl::OkStatus(); }},
      {{"kernel-source",
        OptionKind::kTexts,
        {},
        "",
        "FILE.c:SYMBOL, FILE.S:SYMBOL or FILE.a:SYMBOL: a function of yours that kernel may name "
        "as "
        "a variant of any node, part of the package then"},
       [](const Words& words, GenerateOptions* options) {
         auto kernels = exir::read_kernel_sources(words);
         if (!kernels.ok()) return kernels.status();
         options->kernels.user = *std::move(kernels);
         for (const std::string& word : words) {
           options->program.other_inputs.push_back(word.substr(0, word.rfind(':')));
         }
         return absl::OkStatus();
       }},
      {{"kernel-flag",
        OptionKind::kTexts,
        {},
        "",
        "-Iinclude and the like, for the compiler of kernel-source files"},
       [](const Words& words, GenerateOptions* options) {
         auto flags = exir::read_kernel_flags(words);
         if (flags.ok()) options->kernels.user_flags = *std::move(flags);
         return flags.status();
       }},
      {{"quantize",
        OptionKind::kText,
        {},
        "",
        "compute as this record of `petrel quantize` says; weights lie there as integers"},
       [](const Words& words, GenerateOptions* options) {
         options->program.quantization_file = words[0];
         return absl::OkStatus();
       }},
  };
}

}  // namespace

const std::vector<GenerateOption>& generate_options() {
  static const auto* const kOptions = [] {
    auto* all = new std::vector<GenerateOption>();
    for (const auto& group :
         {file_options(), kernel_options(), memory_options(), parameter_options()}) {
      all->insert(all->end(), group.begin(), group.end());
    }
    return all;
  }();
  return *kOptions;
}

std::vector<const OptionRow*> generate_rows() {
  std::vector<const OptionRow*> rows;
  for (const GenerateOption& option : generate_options()) rows.push_back(&option);
  for (const char* name : kOfExport) rows.push_back(find_export_option(name));
  return rows;
}

const OptionRow* find_generate_row(absl::string_view name) {
  for (const OptionRow* row : generate_rows()) {
    if (name == row->name) return row;
  }
  return nullptr;
}

absl::Status apply_generate_options(const OptionWords& given, GenerateOptions* options) {
  std::vector<std::string> problems;
  const auto note = [&](const absl::Status& status) {
    if (!status.ok()) problems.emplace_back(status.message());
  };
  for (const GenerateOption& option : generate_options()) {
    const auto words = given.find(option.name);
    if (words != given.end()) {
      note(option.apply(words->second, options));
    } else if (option.default_word[0] != '\0') {
      note(option.apply({option.default_word}, options));
    }
  }
  if (const auto board = given.find("board"); problems.empty() && board != given.end()) {
    const auto read = exir::read_board(board->second[0]);
    options->program.other_inputs.push_back(board->second[0]);
    note(read.status());
    if (read.ok()) exir::use_board(*read, given.count("params") == 0, options);
    const auto tuning = given.find("tuning");
    if (read.ok() && tuning != given.end()) {
      note(exir::use_tuning(tuning->second[0], *read, options));
      options->program.other_inputs.push_back(tuning->second[0]);
    }
  } else if (problems.empty() && given.count("tuning") > 0) {
    problems.emplace_back("--tuning needs --board, which it was measured on");
  }
  // What pools are called is known to be right only where they could be read.
  if (problems.empty()) note(exir::check_pools(*options));
  // Pools of C are described by its own row of that name.
  OptionWords planning = given;
  planning.erase("pool");
  planning.erase("pin");
  apply_options(planning, &options->program);
  return problems.empty() ? absl::OkStatus()
                          : absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

}  // namespace petrel::extension
