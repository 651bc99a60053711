// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/data_move.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exir/annotate.h"
#include "exir/backend/blob_names.h"
#include "exir/backend/named_blob_store.h"
#include "exir/backend/weight_routes.h"
#include "exir/emit/additions.h"
#include "exir/emit/flat_data_writer.h"
#include "exir/output/output_files.h"
#include "exir/status_macros.h"
#include "extension/relink/data_input.h"
#include "extension/relink/data_program.h"
#include "extension/relink/needed_data.h"
#include "schema/formats.h"

namespace petrel::extension {
namespace {

namespace fb = schema::program_objects;
using exir::NamedBlobStore;

constexpr uint64_t kSegmentAlignment = 128;
constexpr uint64_t kConstantAlignment = 16;

// Adds what is to be moved; a key that is there with other bytes is an error.
absl::Status add(NamedBlobStore& store, const std::string& file, const std::string& key,
                 const exir::Blob& blob, uint64_t alignment,
                 const std::optional<exir::TensorType>& layout) {
  PETREL_ASSIGN_OR_RETURN(const bool stored,
                          store.add_named_blob(key, blob, alignment, file, layout));
  if (stored) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("key '", key, "' has different bytes elsewhere in the program"));
}

// Named data that matches leaves the program. Where names call weights, what is not a
// weight, such as literals of the traced code, stays: no other data has it.
absl::Status take_named_data(DataProgram& program, const std::string& keys, const std::string& file,
                             NamedBlobStore& store) {
  std::set<std::string> weights;
  bool is_by_name = false;
  for (const DataProgram::Named& entry : program.named()) {
    if (entry.key != schema::kAdditionsKey) continue;
    const exir::Additions additions = exir::read_additions(entry.blob);
    is_by_name = additions.structure.has_value();
    for (const exir::WeightAddition& weight : additions.weights) weights.insert(weight.key);
  }
  std::vector<DataProgram::Named> kept;
  for (DataProgram::Named& entry : program.named()) {
    if (entry.key == schema::kAdditionsKey || !exir::matches_glob(keys, entry.key) ||
        (is_by_name && weights.count(entry.key) == 0)) {
      kept.push_back(std::move(entry));
      continue;
    }
    PETREL_RETURN_IF_ERROR(add(store, file, entry.key, entry.blob, entry.alignment, std::nullopt));
  }
  program.named() = std::move(kept);
  return absl::OkStatus();
}

// Constants with names that match become external.
absl::Status take_constants(DataProgram& program, const std::string& keys, const std::string& file,
                            NamedBlobStore& store) {
  // A file has one layout for a name.
  std::map<std::string, exir::TensorType> layouts;
  std::set<std::string> ambiguous;
  program.for_each_tensor([&](DataProgram::Tensor& tensor) {
    const std::string name = DataProgram::name_of(tensor);
    if (!DataProgram::is_constant(tensor) || name.empty()) return;
    const exir::TensorType type = DataProgram::type_of(tensor);
    if (layouts.emplace(name, type).first->second != type) ambiguous.insert(name);
  });
  absl::Status status;
  program.for_each_tensor([&](DataProgram::Tensor& tensor) {
    const std::string name = DataProgram::name_of(tensor);
    if (!DataProgram::is_constant(tensor) || name.empty() || ambiguous.count(name) > 0 ||
        !exir::matches_glob(keys, name)) {
      return;
    }
    status.Update(add(store, file, name, program.constants().at(tensor.data_buffer_idx),
                      kConstantAlignment, layouts.at(name)));
    tensor.extra_tensor_info->location = fb::TensorDataLocation::EXTERNAL;
    tensor.data_buffer_idx = 0;
  });
  return status;
}

// Where an entry came from, for messages.
struct Found {
  DataEntry entry;
  std::string file;
};

bool same_layout(const DataEntry& a, const DataEntry& b) {
  return !a.layout || !b.layout || *a.layout == *b.layout;
}

absl::StatusOr<std::map<std::string, Found>> read_all(const DataMergeOptions& options,
                                                      const DataProgram& program) {
  std::map<std::string, Found> all;
  for (const DataProgram::Named& named : program.named()) {
    DataEntry entry;
    entry.key = named.key;
    entry.blob = named.blob;
    entry.alignment = named.alignment;
    all.emplace(named.key, Found{std::move(entry), options.program});
  }
  for (const std::string& path : options.data_files) {
    PETREL_ASSIGN_OR_RETURN(std::vector<DataEntry> entries, read_data_file(path));
    for (DataEntry& entry : entries) {
      const std::string key = entry.key;
      if (key == schema::kAdditionsKey) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": has key '", key, "', which only a program may have"));
      }
      auto known = all.find(key);
      if (known == all.end()) {
        all.emplace(key, Found{std::move(entry), path});
        continue;
      }
      if (!known->second.entry.blob.equals(entry.blob) ||
          !same_layout(known->second.entry, entry)) {
        return absl::InvalidArgumentError(absl::StrCat("key '", key, "' has different data in '",
                                                       path, "' and in '", known->second.file,
                                                       "'"));
      }
      if (entry.layout) known->second.entry.layout = entry.layout;
    }
  }
  return all;
}

// Gives an external tensor the data that was found for it.
absl::Status take_in(DataProgram& program, DataProgram::Tensor& tensor, const Found& found) {
  const std::string name = DataProgram::name_of(tensor);
  const exir::TensorType type = DataProgram::type_of(tensor);
  const auto bytes = static_cast<uint64_t>(type.nbytes());
  const DataEntry& entry = found.entry;
  if (entry.layout ? *entry.layout != type : entry.blob.size() != bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key '", name, "' is ",
        entry.layout ? exir::to_string(*entry.layout) : absl::StrCat(entry.blob.size(), " bytes"),
        " in '", found.file, "', the program needs ", exir::to_string(type)));
  }
  tensor.extra_tensor_info->location = fb::TensorDataLocation::SEGMENT;
  tensor.data_buffer_idx = tensor.allocation_info == nullptr ? program.add_constant(entry.blob)
                                                             : program.add_state(entry.blob);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MoveReport> split_data(const SplitOptions& options) {
  const std::string name = std::filesystem::path(options.data_file).filename().string();
  PETREL_RETURN_IF_ERROR(exir::check_plain_file_name(name));
  PETREL_RETURN_IF_ERROR(exir::check_is_not(options.data_file, "the program", options.program));
  PETREL_ASSIGN_OR_RETURN(DataProgram program, DataProgram::read(options.program, options.limits));
  NamedBlobStore store;
  absl::Status taken = take_named_data(program, options.keys, name, store);
  taken.Update(take_constants(program, options.keys, name, store));
  if (!taken.ok()) return exir::annotate(taken, options.program);
  const auto found = store.destinations().find(name);
  if (found == store.destinations().end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.program, ": has no key that matches '", options.keys, "'"));
  }
  MoveReport report;
  report.keys = found->second.entries.size();
  report.bytes = store.stored_bytes();
  std::set<std::string> moved;
  for (const NamedBlobStore::Entry& entry : found->second.entries) moved.insert(entry.key);
  for (const std::string& key : needed_data(program).missing()) {
    if (moved.count(key) == 0) report.still_outside.push_back(key);
  }
  exir::OutputFiles files;
  PETREL_ASSIGN_OR_RETURN(const exir::ByteSink program_sink, files.open(options.output));
  PETREL_ASSIGN_OR_RETURN(report.program_bytes, program.write(program_sink));
  PETREL_ASSIGN_OR_RETURN(const exir::ByteSink data_sink, files.open(options.data_file));
  PETREL_ASSIGN_OR_RETURN(report.data_bytes,
                          exir::write_flat_data(found->second, kSegmentAlignment, data_sink));
  PETREL_RETURN_IF_ERROR(files.publish());
  return report;
}

absl::StatusOr<MoveReport> merge_data(const DataMergeOptions& options) {
  for (const std::string& file : options.data_files) {
    PETREL_RETURN_IF_ERROR(exir::check_is_not(options.output, "a data file that is read", file));
  }
  PETREL_ASSIGN_OR_RETURN(DataProgram program, DataProgram::read(options.program, options.limits));
  PETREL_ASSIGN_OR_RETURN(const auto all, read_all(options, program));
  absl::Status status;
  program.for_each_tensor([&](DataProgram::Tensor& tensor) {
    if (!DataProgram::is_external(tensor)) return;
    const auto found = all.find(DataProgram::name_of(tensor));
    if (found != all.end()) status.Update(take_in(program, tensor, found->second));
  });
  if (!status.ok()) return exir::annotate(status, options.program);
  MoveReport report;
  std::set<std::string> inside;
  for (const DataProgram::Named& named : program.named()) inside.insert(named.key);
  NamedBlobStore moved;
  for (const auto& [key, found] : all) {
    if (inside.count(key) > 0) continue;
    const DataEntry& entry = found.entry;
    // Whether a delegate wants it only the delegate knows; next to a constant of
    // the same bytes it costs nothing.
    program.named().push_back({key, entry.blob, entry.alignment});
    PETREL_RETURN_IF_ERROR(moved.add_named_blob(key, entry.blob, 1, "").status());
    ++report.keys;
  }
  report.bytes = moved.stored_bytes();
  report.still_outside = needed_data(program).missing();
  exir::OutputFiles files;
  PETREL_ASSIGN_OR_RETURN(const exir::ByteSink sink, files.open(options.output));
  PETREL_ASSIGN_OR_RETURN(report.program_bytes, program.write(sink));
  PETREL_RETURN_IF_ERROR(files.publish());
  return report;
}

}  // namespace petrel::extension
