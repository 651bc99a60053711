// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/data_build.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/backend/blob_names.h"
#include "exir/backend/named_blob_store.h"
#include "exir/backend/weight_ledger.h"
#include "exir/backend/weight_routes.h"
#include "exir/driver/export.h"
#include "exir/emit/additions.h"
#include "exir/emit/flat_data_writer.h"
#include "exir/output/output_files.h"
#include "exir/quantize/record.h"
#include "exir/status_macros.h"
#include "extension/relink/data_program.h"
#include "extension/export/option_words.h"
#include "extension/relink/derived_weights.h"
#include "extension/relink/file_kind.h"
#include "schema/formats.h"

namespace petrel::extension {
namespace {

using exir::NamedBlobStore;

constexpr uint64_t kSegmentAlignment = 128;
constexpr uint64_t kWeightAlignment = 16;

absl::StatusOr<exir::Additions> remembered(const DataProgram& program, const std::string& path) {
  exir::Additions additions;
  for (const DataProgram::Named& named : program.named()) {
    if (named.key == schema::kAdditionsKey) additions = exir::read_additions(named.blob);
  }
  if (additions.structure && !additions.weights.empty()) return additions;
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": was not exported with --weight-keys name"));
}

std::string layout_text(const std::optional<exir::TensorType>& layout, uint64_t bytes) {
  return layout ? exir::to_string(*layout) : absl::StrCat(bytes, " bytes");
}

// Every weight of one side is on the other, and means the same.
absl::Status check_weights(const BuildOptions& options, const exir::Additions& additions,
                           const exir::WeightLedger& ledger) {
  std::set<std::string> known;
  for (const exir::WeightAddition& weight : additions.weights) {
    const std::string& key = weight.key;
    known.insert(key);
    const auto found = ledger.weights().find(key);
    if (found == ledger.weights().end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the program needs weight '", key, "', which the new model does not have"));
    }
    if (weight.digest) {
      return absl::FailedPreconditionError(absl::StrCat(
          options.program, ": is bound to the bytes of weight '", key, "' and takes no others"));
    }
    if (weight.layout == found->second.layout && weight.bytes == found->second.blob.size())
      continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "weight '", key, "' is ", layout_text(found->second.layout, found->second.blob.size()),
        " in the new model, the program needs ", layout_text(weight.layout, weight.bytes)));
  }
  for (const auto& [key, unused] : ledger.weights()) {
    if (known.count(key) > 0) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the new model has weight '", key, "', which the program does not have"));
  }
  return absl::OkStatus();
}

absl::Status check_structure(const BuildOptions& options, const exir::Additions& additions,
                             const exir::CompiledWeights& compiled) {
  if (additions.structure == compiled.structure) return absl::OkStatus();
  if (!compiled.bypassed.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.program, ": takes no other weight '", compiled.bypassed[0].weight, "': backend '",
        compiled.bypassed[0].backend_id, "' stores it by itself, and it differs in the new model, ",
        "or the new model is a different program"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the new model has the weights of ", options.program,
                   " but is a different program: its operators, literals or initial state differ"));
}

// The record of a quantised program, whose line is taken out; null of others.
absl::StatusOr<std::shared_ptr<const exir::QuantizationRecord>> take_record(
    std::vector<std::string>* recipe) {
  for (auto line = recipe->begin(); line != recipe->end(); ++line) {
    if (!absl::StartsWith(*line, exir::kRecordLine)) continue;
    auto record = exir::parse_record(line->substr(sizeof(exir::kRecordLine) - 1));
    if (!record.ok()) {
      return exir::annotate(record.status(), "the record that the program remembers");
    }
    recipe->erase(line);
    return std::make_shared<const exir::QuantizationRecord>(*std::move(record));
  }
  return nullptr;
}

absl::StatusOr<exir::CompiledWeights> compile(const BuildOptions& options,
                                              const DataProgram& program,
                                              const exir::Additions& additions) {
  exir::ExportOptions compiling;
  std::vector<std::string> recipe = additions.recipe;
  PETREL_ASSIGN_OR_RETURN(compiling.quantization, take_record(&recipe));
  PETREL_ASSIGN_OR_RETURN(const OptionWords given, read_recipe(recipe));
  absl::StatusOr<exir::BackendSelection> backends = options.select_backends(given);
  if (!backends.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program was made with backends that are not linked here: ",
                     backends.status().message()));
  }
  compiling.backends = *std::move(backends);
  apply_options(given, &compiling);
  compiling.weight_keys = exir::WeightKeys::kName;
  compiling.on_phase = options.on_phase;
  for (const auto& plan : program.table().execution_plan) {
    const auto model = options.models.find(plan->name);
    if (model == options.models.end()) {
      return absl::InvalidArgumentError(absl::StrCat(options.program, ": has method '", plan->name,
                                                     "', for which no model is given: --from ",
                                                     plan->name, "=NEW.pt2"));
    }
    compiling.methods[plan->name] = model->second;
  }
  for (const auto& [method, unused] : options.models) {
    if (compiling.methods.count(method) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(options.program, ": has no method '", method, "'"));
  }
  return exir::compile_weights(compiling);
}

// Whether the glob matches what a weight was made of: all of it or nothing.
absl::StatusOr<bool> matches_keys(const std::string& glob, const std::string& key,
                                  const std::vector<std::string>& sources) {
  const auto matches = [&](const std::string& source) {
    return exir::matches_glob(glob, exir::source_name(source));
  };
  const auto no = std::find_if_not(sources.begin(), sources.end(), matches);
  if (no == sources.end()) return true;
  const auto yes = std::find_if(sources.begin(), sources.end(), matches);
  if (yes == sources.end()) return false;
  return absl::InvalidArgumentError(absl::StrCat("'", key, "' is made of weight '", *yes,
                                                 "', which '", glob, "' matches, and of '", *no,
                                                 "', which it does not"));
}

absl::StatusOr<NamedBlobStore> compiled_weights(const BuildOptions& options,
                                                const DataProgram& program,
                                                const exir::Additions& additions,
                                                const std::string& name) {
  BuildOptions given = options;
  // One model needs no method to be named.
  const auto& plans = program.table().execution_plan;
  const auto unnamed = given.models.find("");
  if (unnamed != given.models.end() && plans.size() == 1) {
    given.models[plans[0]->name] = unnamed->second;
    given.models.erase("");
  }
  PETREL_ASSIGN_OR_RETURN(const exir::CompiledWeights compiled, compile(given, program, additions));
  PETREL_RETURN_IF_ERROR(check_weights(given, additions, compiled.ledger));
  PETREL_RETURN_IF_ERROR(check_structure(given, additions, compiled));
  NamedBlobStore data;
  for (const auto& [key, weight] : compiled.ledger.weights()) {
    PETREL_ASSIGN_OR_RETURN(const bool is_wanted, matches_keys(options.keys, key, weight.sources));
    if (!is_wanted) continue;
    PETREL_RETURN_IF_ERROR(
        data.add_named_blob(key, weight.blob, kWeightAlignment, name, weight.layout).status());
  }
  return data;
}

// The one file of tensors that is given instead of models; "" if there is none.
absl::StatusOr<std::string> tensor_file(const BuildOptions& options) {
  for (const auto& [method, path] : options.models) {
    PETREL_ASSIGN_OR_RETURN(const FileKind kind, file_kind(path));
    if (kind != FileKind::kTensors && kind != FileKind::kData) continue;
    if (options.models.size() == 1) return path;
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' holds tensors, which are given alone: not beside models"));
  }
  if (options.renames.empty()) return "";
  return absl::InvalidArgumentError("names are changed of tensors only, not of models");
}

}  // namespace

absl::StatusOr<BuildReport> build_data(const BuildOptions& options) {
  const std::string name = std::filesystem::path(options.output).filename().string();
  PETREL_RETURN_IF_ERROR(exir::check_plain_file_name(name));
  PETREL_RETURN_IF_ERROR(exir::check_is_not(options.output, "the program", options.program));
  for (const auto& [method, model] : options.models) {
    PETREL_RETURN_IF_ERROR(
        exir::check_is_not(options.output, "a file of weights that is read", model));
  }
  PETREL_ASSIGN_OR_RETURN(const DataProgram program,
                          DataProgram::read(options.program, options.limits));
  PETREL_ASSIGN_OR_RETURN(const exir::Additions additions, remembered(program, options.program));
  PETREL_ASSIGN_OR_RETURN(const std::string tensors, tensor_file(options));
  NamedBlobStore data;
  if (tensors.empty()) {
    PETREL_ASSIGN_OR_RETURN(data, compiled_weights(options, program, additions, name));
  } else {
    PETREL_ASSIGN_OR_RETURN(data, derived_weights(additions, options, tensors, name));
  }
  const auto found = data.destinations().find(name);
  if (found == data.destinations().end()) {
    return absl::InvalidArgumentError(absl::StrCat("no weight matches '", options.keys, "'"));
  }
  BuildReport report;
  report.keys = found->second.entries.size();
  exir::OutputFiles files;
  PETREL_ASSIGN_OR_RETURN(const exir::ByteSink sink, files.open(options.output));
  PETREL_ASSIGN_OR_RETURN(report.bytes,
                          exir::write_flat_data(found->second, kSegmentAlignment, sink));
  PETREL_RETURN_IF_ERROR(files.publish());
  return report;
}

}  // namespace petrel::extension
