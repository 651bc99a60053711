// SPDX-License-Identifier: Apache-2.0
#include "exir/driver/export.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exir/backend/blob_names.h"
#include "exir/backend/routed_blob_store.h"
#include "exir/backend/shards.h"
#include "exir/driver/compile.h"
#include "exir/driver/pool_rules.h"
#include "exir/emit/number_outputs.h"
#include "exir/memory/pools.h"
#include "exir/output/output_files.h"
#include "exir/plan/formats/memory_pool.h"
#include "exir/status_macros.h"

namespace petrel::exir {
namespace {

namespace fs = std::filesystem;

// The files of one export: what is called how, and where it goes.
class Outputs {
 public:
  explicit Outputs(const ExportOptions& options) : options_(options) {}

  // Where the bytes of `destination` belong: a shard lies where the whole file
  // would.
  std::string path_of(const std::string& destination) const {
    if (destination.empty()) return options_.output;
    const std::string whole = name_without_shard(destination);
    std::string beside = options_.output;
    for (const std::string& path : external_paths()) {
      if (name_of(path) == destination) return path;
      if (name_of(path) == whole) beside = path;
    }
    return fs::path(beside).replace_filename(destination).string();
  }

  // The destination that stands for options.external_weights.
  std::string weights_name() const { return name_of(options_.external_weights); }

  // Of all external files that the options name.
  std::vector<std::string> external_paths() const {
    std::vector<std::string> paths;
    if (!options_.external_weights.empty()) {
      paths.push_back(options_.external_weights);
    }
    for (const ExternalFile& file : options_.external) {
      paths.push_back(file.path);
    }
    return paths;
  }

  WeightRoutes routes() const {
    WeightRoutes routes;
    routes.default_file = weights_name();
    for (const ExternalFile& file : options_.external) {
      routes.rules.push_back({file.glob, name_of(file.path)});
    }
    routes.keys = options_.weight_keys;
    return routes;
  }

  // The name by which the store knows the file at `path`.
  static std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

  absl::StatusOr<ByteSink> open(const std::string& destination) {
    const bool replace = options_.replace_data || is_named(destination);
    return files_.open(path_of(destination), replace ? OutputFiles::WhenOther::kReplace
                                                     : OutputFiles::WhenOther::kRefuse);
  }

  absl::Status write_record() {
    if (options_.quantization == nullptr || options_.quantization_output.empty()) {
      return absl::OkStatus();
    }
    return write_text(options_.quantization_output, format_record(*options_.quantization));
  }

  absl::Status show() {
    if (options_.before_publishing == nullptr) return absl::OkStatus();
    PETREL_ASSIGN_OR_RETURN(const auto written, files_.finish());
    return options_.before_publishing(written);
  }

  absl::Status write_texts() {
    for (const std::string& path : options_.text_outputs) {
      PETREL_ASSIGN_OR_RETURN(const std::string text, options_.make_text(path));
      PETREL_RETURN_IF_ERROR(write_text(path, text));
    }
    return absl::OkStatus();
  }

  absl::Status publish() {
    const absl::Status status = files_.publish();
    if (!absl::IsAlreadyExists(status)) return status;
    return absl::AlreadyExistsError(
        absl::StrCat("a backend names a data file: ", status.message(),
                     ", which may be those of another export; name it with --external-weights or "
                     "--external, or allow it with --replace-data"));
  }

 private:
  absl::Status write_text(const std::string& path, const std::string& text) {
    PETREL_ASSIGN_OR_RETURN(const ByteSink sink, files_.open(path));
    return sink({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }

  // Whether whoever exports chose the file; the others are what a backend chose.
  bool is_named(const std::string& destination) const {
    const std::string whole = name_without_shard(destination);
    const std::vector<std::string> paths = external_paths();
    return destination.empty() || std::any_of(paths.begin(), paths.end(), [&](const auto& path) {
             return name_of(path) == destination || name_of(path) == whole;
           });
  }

  const ExportOptions& options_;
  OutputFiles files_;
};

// `what` is written to no other output.
absl::Status add_output(const std::string& what, const std::string& path,
                        std::vector<std::string>* files) {
  for (const std::string& file : *files) {
    if (canonical_path(file) != canonical_path(path)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(what, " would be written to '", file, "', as another file"));
  }
  files->push_back(path);
  return absl::OkStatus();
}

// The memories of a program: arenas that the runtime allocates.
absl::StatusOr<std::vector<plan::MemoryPool>> read_pools(const ExportOptions& options) {
  PETREL_ASSIGN_OR_RETURN(std::vector<plan::MemoryPool> pools,
                          plan::parse_memory_pools(options.pools));
  std::vector<std::string> problems;
  for (const plan::MemoryPool& pool : pools) {
    const auto refuse = [&](bool is_given, const char* key) {
      if (!is_given) return;
      problems.push_back(absl::StrCat("--pool '", pool.name, "': ", key,
                                      " is for gen-c; arenas of a .pte have none"));
    };
    refuse(pool.kind == plan::PoolKind::kReadOnly, "kind=ro");
    refuse(!pool.section.empty(), "section");
    refuse(pool.address.has_value(), "address");
    refuse(!pool.targets.empty(), "targets");
    refuse(pool.cached, "cached");
  }
  for (const PoolRule& pin : read_pool_rules(options.pins)) {
    if (pin.glob.empty() || pin.pool.empty()) {
      problems.push_back(text_of("--pin", pin) + ": must be GLOB=POOL");
      continue;
    }
    if (index_of(pools, pin.pool) < pools.size()) continue;
    problems.push_back(text_of("--pin", pin) + ": there is no --pool of that name");
  }
  if (problems.empty()) return pools;
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

absl::StatusOr<PlannedProgram> plan_arenas(const Program& program, const WeightRoutes& routes,
                                           const ExportOptions& options) {
  MemoryPools pools;
  PETREL_ASSIGN_OR_RETURN(pools.list, read_pools(options));
  Pins pins(read_pool_rules(options.pins), pools.list);
  pools.allowed = pins.allowed();
  PETREL_ASSIGN_OR_RETURN(PlannedProgram planned,
                          plan_to_emit(program, routes, options.planning, pools));
  PETREL_RETURN_IF_ERROR(pins.check({}));
  PETREL_RETURN_IF_ERROR(check_arenas(planned, options.max_arena_bytes));
  return planned;
}

absl::Status check_options(const ExportOptions& options, const Outputs& outputs) {
  if (options.methods.empty()) {
    return absl::InvalidArgumentError("there is no method to export");
  }
  PETREL_RETURN_IF_ERROR(check_pass_name(options.dump_after));
  PETREL_RETURN_IF_ERROR(check_border_words(options.io_dtype));
  if (options.integers && options.weight_keys == WeightKeys::kName) {
    return absl::InvalidArgumentError(
        "int8 integer makes factors and biases of the weights, which do not go with weights by "
        "name");
  }
  PETREL_RETURN_IF_ERROR(read_pools(options).status());
  std::set<std::string> methods;
  for (const auto& [method, unused] : options.methods) methods.insert(method);
  PETREL_RETURN_IF_ERROR(options.backends.check(methods));
  PETREL_RETURN_IF_ERROR(outputs.routes().check());
  std::map<std::string, std::string> by_name;
  std::vector<std::string> files = {options.output};
  for (const std::string& path : outputs.external_paths()) {
    const std::string name = Outputs::name_of(path);
    PETREL_RETURN_IF_ERROR(check_plain_file_name(name));
    if (canonical_path(options.output) == canonical_path(path)) {
      return absl::InvalidArgumentError(
          absl::StrCat("program and weights would both be written to '", options.output, "'"));
    }
    const std::string& other = by_name.emplace(name, path).first->second;
    if (canonical_path(other) != canonical_path(path)) {
      return absl::InvalidArgumentError(
          absl::StrCat("external files '", other, "' and '", path, "' have one name"));
    }
    files.push_back(path);
  }
  if (!options.quantization_output.empty()) {
    PETREL_RETURN_IF_ERROR(add_output("the record", options.quantization_output, &files));
  }
  for (const std::string& path : options.text_outputs) {
    PETREL_RETURN_IF_ERROR(add_output("a report", path, &files));
  }
  for (const std::string& file : files) {
    for (const auto& [method, input] : options.methods) {
      PETREL_RETURN_IF_ERROR(
          check_is_not(file, absl::StrCat("the input of method '", method, "'"), input));
    }
    std::vector<std::string> inputs = options.other_inputs;
    if (!options.quantization_file.empty() && options.quantization == nullptr &&
        options.quantization_output.empty()) {
      inputs.push_back(options.quantization_file);
    }
    for (const std::string& input : inputs) {
      if (canonical_path(file) != canonical_path(input)) continue;
      return absl::InvalidArgumentError(absl::StrCat("output '", file, "' is a file that is read"));
    }
    // Tried now, because a folder that takes no files is better known before
    // the work than after it.
    PETREL_RETURN_IF_ERROR(check_output_path(file));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_options(const ExportOptions& options) {
  return check_options(options, Outputs(options));
}

absl::StatusOr<ExportReport> export_program(const ExportOptions& options) {
  Outputs outputs(options);
  PETREL_RETURN_IF_ERROR(check_options(options, outputs));
  ExportReport report;
  Phases phases(options, &report);
  RoutedBlobStore store(outputs.routes());
  PETREL_ASSIGN_OR_RETURN(Program program, compile_program(options, phases, report, store));
  show_numbers(program);
  PETREL_RETURN_IF_ERROR(add_border_methods(program, report.borders));
  PlannedProgram planned;
  PETREL_RETURN_IF_ERROR(phases.run("plan", [&]() -> absl::Status {
    PETREL_ASSIGN_OR_RETURN(planned, plan_arenas(program, store.routes(), options));
    return absl::OkStatus();
  }));
  PETREL_RETURN_IF_ERROR(phases.run("emit", [&]() -> absl::Status {
    EmitOptions emit_options;
    emit_options.external_weights = outputs.weights_name();
    emit_options.shard_bytes = options.shard_bytes;
    emit_options.bind_data = options.bind_data;
    emit_options.recipe = options.recipe;
    if (report.quantization != nullptr) {
      emit_options.recipe.push_back(absl::StrCat(kRecordLine, format_record(*report.quantization)));
    }
    emit_options.structure = report.structure;
    emit_options.has_kernel = options.has_kernel;
    emit_options.allow_missing_kernels = options.allow_missing_kernels;
    PETREL_ASSIGN_OR_RETURN(report.emit, emit_planned(planned, store, emit_options,
                                                      [&](const std::string& destination) {
                                                        return outputs.open(destination);
                                                      }));
    PETREL_RETURN_IF_ERROR(outputs.write_record());
    PETREL_RETURN_IF_ERROR(outputs.show());
    PETREL_RETURN_IF_ERROR(outputs.write_texts());
    return outputs.publish();
  }));
  report.kernels = report.emit.kernels;
  report.weight_bytes = report.emit.weight_bytes;
  report.shared_weight_bytes = report.emit.shared_weight_bytes;
  report.weights_elsewhere = store.elsewhere();
  for (const BypassedWeight& one : store.bypassed()) {
    if (options.weight_keys == WeightKeys::kName || !one.wanted.empty()) {
      report.bypassed_weights.push_back(one);
    }
  }
  return report;
}

absl::StatusOr<CompiledWeights> compile_weights(const ExportOptions& options) {
  ExportReport report;
  Phases phases(options, &report);
  CompiledWeights compiled;
  WeightRoutes routes;
  routes.keys = WeightKeys::kName;
  RoutedBlobStore store(routes);
  PETREL_ASSIGN_OR_RETURN(const Program program, compile_program(options, phases, report, store));
  compiled.structure = report.structure;
  // Emitting tells which weights kernels read.
  EmitOptions emit_options;
  emit_options.planning.node_budget = 0;
  PETREL_RETURN_IF_ERROR(
      emit_program(program, store, emit_options,
                   [](const std::string&) -> absl::StatusOr<ByteSink> {
                     return ByteSink([](absl::Span<const uint8_t>) { return absl::OkStatus(); });
                   })
          .status());
  compiled.ledger = store.ledger();
  compiled.bypassed = store.bypassed();
  return compiled;
}

}  // namespace petrel::exir
