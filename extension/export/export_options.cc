// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "exir/plan/external/external_planner.h"
#include "exir/plan/search/planner_registry.h"
#include "extension/export/export_option.h"
#include "extension/export/option_words.h"

namespace petrel::extension {
namespace {

using exir::ExportOptions;

constexpr bool kChangesGraph = true;
constexpr bool kKeepsGraph = false;
constexpr int64_t kPlannerTimeoutMs = 60'000;

template <typename Change>
void for_each_use(ExportOptions* options, Change change) {
  for (exir::BackendUse& use : options->backends.for_all) change(use);
  for (auto& [method, uses] : options->backends.for_method) {
    for (exir::BackendUse& use : uses) change(use);
  }
}

using Apply = decltype(ExportOption::apply);

ExportOption flag(const char* name, bool changes_graph, const char* help, Apply apply) {
  return {{name, OptionKind::kFlag, {}, "", help}, changes_graph, apply};
}

ExportOption choice(const char* name, std::vector<std::string> choices, const char* default_word,
                    bool changes_graph, const char* help, Apply apply) {
  return {
      {name, OptionKind::kChoice, std::move(choices), default_word, help}, changes_graph, apply};
}

ExportOption value(const char* name, OptionKind kind, bool changes_graph, const char* help,
                   Apply apply) {
  return {{name, kind, {}, "", help}, changes_graph, apply};
}

// What becomes of the graph, and what it may call.
std::vector<ExportOption> graph_options() {
  return {
      value("backend", OptionKind::kTexts, kChangesGraph,
            "backends in order of priority; METHOD=NAME for one method, none for kernels alone",
            nullptr),
      value("compile-spec", OptionKind::kTexts, kChangesGraph,
            "KEY=VALUE for the backend, NAME:KEY=VALUE for one of several", nullptr),
      value("max-size", OptionKind::kTexts, kChangesGraph,
            "NAME=N: the largest value of a size that varies without an upper bound, where torch "
            "calls it NAME; *=N for all others",
            [](const Words& words, ExportOptions* options) { options->max_sizes = words; }),
      flag("whole-methods", kChangesGraph, "give the backend whole methods, or fail",
           [](const Words&, ExportOptions* options) {
             for_each_use(options, [](exir::BackendUse& use) { use.whole_method = true; });
           }),
      choice("partition", {"cost", "supported"}, "cost", kChangesGraph,
             "cost leaves to kernels what they do faster by a table of measured costs, "
             "supported delegates all that the backend takes",
             [](const Words& words, ExportOptions* options) {
               const auto delegate =
                   words[0] == "supported" ? exir::Delegate::kSupported : exir::Delegate::kCheaper;
               for_each_use(options, [&](exir::BackendUse& use) { use.delegate = delegate; });
             }),
      // Changes the graph, but a recipe names no file: the driver remembers the record itself.
      value("quantize", OptionKind::kText, kKeepsGraph,
            "compute with integers as this record of `petrel quantize` says",
            [](const Words& words, ExportOptions* options) {
              options->quantization_file = words[0];
            }),
      value("io-dtype", OptionKind::kTexts, kChangesGraph,
            "int8: inputs and outputs that are quantised are integers of 8 bits, with their scales "
            "as metadata; GLOB=int8 for those of these names, which must be",
            [](const Words& words, ExportOptions* options) { options->io_dtype = words; }),
      // Refused with weights by name, so no recipe needs to remember it.
      choice("int8", {"float", "integer"}, "float", kKeepsGraph,
             "integer: what is quantised computes with integers alone, in operators that only "
             "Petrel's runtime and generated C have, as docs/int8.md says; no backend gets any of "
             "it. All else is an error",
             [](const Words& words, ExportOptions* options) {
               options->integers = words[0] == "integer";
             }),
      flag("allow-petrel-ops", kChangesGraph,
           "use operators that only Petrel's runtime has, where they are faster",
           [](const Words&, ExportOptions* options) { options->allow_petrel_ops = true; }),
      flag("allow-missing-kernels", kKeepsGraph,
           "write programs that call kernels which are not here, with a warning",
           [](const Words&, ExportOptions* options) { options->allow_missing_kernels = true; }),
  };
}

// Where weights go and what they are called.
std::vector<ExportOption> weight_options() {
  return {
      value(
          "external-weights", OptionKind::kDataFile, kKeepsGraph,
          "put all weights into this .ptd file, except those of external",
          [](const Words& words, ExportOptions* options) { options->external_weights = words[0]; }),
      value("external", OptionKind::kDataFiles, kKeepsGraph,
            "put weights whose names match a pattern into a .ptd file; the first pattern that "
            "matches counts",
            [](const Words& words, ExportOptions* options) {
              for (const std::string& word : words) {
                auto [glob, file] = split_data_file(word);
                options->external.push_back({std::move(glob), std::move(file)});
              }
            }),
      value("shard-size", OptionKind::kBytes, kKeepsGraph, "cut .ptd files so that none is larger",
            [](const Words& words, ExportOptions* options) {
              options->shard_bytes = *bytes_of(words[0]);
            }),
      choice("weight-keys", {"content", "name"}, "content", kKeepsGraph,
             "with name, other weights can be given to the program later",
             [](const Words& words, ExportOptions* options) {
               options->weight_keys =
                   words[0] == "name" ? exir::WeightKeys::kName : exir::WeightKeys::kContent;
             }),
      flag("replace-data", kKeepsGraph,
           "replace .ptd files that a backend names, even if they are there with other contents",
           [](const Words&, ExportOptions* options) { options->replace_data = true; }),
      flag("bind-data", kKeepsGraph,
           "store digests: the program accepts only these bytes from data files",
           [](const Words&, ExportOptions* options) { options->bind_data = true; }),
  };
}

// How memory is planned.
std::vector<ExportOption> memory_options() {
  return {
      value("pool", OptionKind::kTexts, kKeepsGraph,
            "a memory for activations, an arena of the program: NAME=BYTES or "
            "name=NAME,KEY=VALUE..., "
            "preferred ones first; keys: size, limit, prefer, align",
            [](const Words& words, ExportOptions* options) { options->pools = words; }),
      value("pin", OptionKind::kTexts, kKeepsGraph,
            "GLOB=POOL: values of these names lie there; the first counts",
            [](const Words& words, ExportOptions* options) { options->pins = words; }),
      flag("reorder", kKeepsGraph, "run operators in the order that needs the least memory",
           [](const Words&, ExportOptions* options) { options->reorder = true; }),
      value("max-arena-bytes", OptionKind::kBytes, kKeepsGraph,
            "fail if the arenas of a method need more than this",
            [](const Words& words, ExportOptions* options) {
              options->max_arena_bytes = *bytes_of(words[0]);
            }),
      choice("planner", exir::plan::PlannerRegistry::built_in().names(), "search", kKeepsGraph,
             "how buffers get their places in memory",
             [](const Words& words, ExportOptions* options) {
               // The name is one of the choices, so this cannot fail.
               exir::plan::PlannerRegistry::built_in()
                   .choose(words[0], &options->planning)
                   .IgnoreError();
             }),
      value("planner-command", OptionKind::kText, kKeepsGraph,
            "a command that plans memory instead, as for `petrel plan`",
            [](const Words& words, ExportOptions* options) {
              options->planning.planner = exir::plan::external_planner(words[0], kPlannerTimeoutMs);
              options->planning.planner_name = words[0];
            }),
  };
}

}  // namespace

const std::vector<ExportOption>& export_options() {
  static const auto* const kOptions = [] {
    auto* all = new std::vector<ExportOption>();
    for (const auto& group : {graph_options(), weight_options(), memory_options()}) {
      all->insert(all->end(), group.begin(), group.end());
    }
    return all;
  }();
  return *kOptions;
}

const ExportOption* find_export_option(absl::string_view name) {
  for (const ExportOption& option : export_options()) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

}  // namespace petrel::extension
