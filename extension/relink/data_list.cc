// SPDX-License-Identifier: Apache-2.0
#include "extension/relink/data_list.h"

#include <optional>
#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exir/status_macros.h"
#include "extension/export/quantity.h"
#include "extension/relink/data_input.h"
#include "extension/relink/data_program.h"
#include "extension/relink/file_kind.h"
#include "extension/relink/needed_data.h"
#include "runtime/core/scalar_type.h"
#include "schema/formats.h"

namespace petrel::extension {

using nlohmann::ordered_json;

namespace {

ordered_json entry_json(const std::string& key, uint64_t bytes, const char* place,
                        const std::optional<exir::TensorType>& layout) {
  ordered_json entry = {{"key", key}, {"bytes", bytes}, {"place", place}};
  if (layout) {
    entry["layout"] = {
        {"dtype", runtime::to_string(static_cast<runtime::ScalarType>(layout->dtype))},
        {"sizes", layout->sizes},
        {"dim_order", std::vector<int>(layout->dim_order.begin(), layout->dim_order.end())}};
  }
  return entry;
}

ordered_json users_json(const std::set<DataUser>& users) {
  ordered_json list = ordered_json::array();
  for (const DataUser& user : users) {
    list.push_back({{"method", user.method}, {"backend", user.backend}});
  }
  return list;
}

absl::StatusOr<ordered_json> list_program(const std::string& path, const runtime::Limits& limits) {
  PETREL_ASSIGN_OR_RETURN(const DataProgram program, DataProgram::read(path, limits));
  const NeededData needed = needed_data(program);
  std::set<std::string> named;
  for (const DataProgram::Named& entry : program.named()) named.insert(entry.key);
  ordered_json entries = ordered_json::array();
  for (const auto& [key, need] : needed.keys) {
    const char* const place = named.count(key) > 0 ? "named"
                              : need.is_inside     ? "constant"
                                                   : "outside";
    ordered_json entry = entry_json(key, need.bytes, place, need.layout);
    entry["users"] = users_json(need.users);
    entries.push_back(std::move(entry));
  }
  ordered_json list = {{"file", path},
                       {"kind", "program"},
                       {"entries", std::move(entries)},
                       {"unread", users_json(needed.unread)}};
  if (needed.has_more_users) list["has_more_users"] = true;
  return list;
}

std::string users_text(const ordered_json& users) {
  std::string text;
  for (const ordered_json& user : users) {
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    absl::CHexEscape(user["method"].get<std::string>()), " (",
                    absl::CHexEscape(user["backend"].get<std::string>()), ")");
  }
  return text;
}

}  // namespace

absl::StatusOr<ordered_json> list_data(const std::string& path, const runtime::Limits& limits) {
  PETREL_ASSIGN_OR_RETURN(const FileKind kind, file_kind(path));
  if (kind == FileKind::kProgram) return list_program(path, limits);
  PETREL_ASSIGN_OR_RETURN(const std::vector<DataEntry> data, read_data_file(path));
  ordered_json entries = ordered_json::array();
  for (const DataEntry& entry : data) {
    entries.push_back(entry_json(entry.key, entry.blob.size(), "file", entry.layout));
  }
  return ordered_json{{"file", path},
                      {"kind", kind == FileKind::kData ? "data" : "tensors"},
                      {"entries", std::move(entries)}};
}

std::string render_data_list(const ordered_json& list) {
  std::string text;
  uint64_t sum = 0;
  for (const ordered_json& entry : list["entries"]) {
    const auto bytes = entry["bytes"].get<uint64_t>();
    sum += bytes;
    absl::StrAppend(&text,
                    absl::StrFormat("%12d  %-8s  %s", bytes, entry["place"].get<std::string>(),
                                    absl::CHexEscape(entry["key"].get<std::string>())));
    if (entry.contains("layout")) {
      absl::StrAppend(&text, "  ", entry["layout"]["dtype"].get<std::string>(),
                      entry["layout"]["sizes"].dump());
    }
    if (entry.contains("users") && !entry["users"].empty()) {
      absl::StrAppend(&text, "  for ", users_text(entry["users"]));
    }
    text += "\n";
  }
  absl::StrAppend(&text, list["entries"].size(), " keys, ", format_bytes(sum), "\n");
  if (list.contains("has_more_users")) {
    absl::StrAppend(&text, "and more users than ", NeededData::kMaxUses,
                    ", which are not listed\n");
  }
  if (list.contains("unread") && !list["unread"].empty()) {
    absl::StrAppend(&text, "and what the delegates of ", users_text(list["unread"]),
                    " look up, which only their backends know\n");
  }
  return text;
}

}  // namespace petrel::extension
