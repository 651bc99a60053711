// SPDX-License-Identifier: Apache-2.0
#include "exir/board/fields.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "exir/json/json_text.h"
#include "exir/plan/formats/memory_pool.h"

namespace petrel::exir {
namespace {

constexpr size_t kMaxText = 1000;
constexpr size_t kMaxItems = 100;

// Of a value in a message, which may be long.
std::string shown(const Fields::Json& value) {
  std::string text = json_text(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::optional<int64_t> number_of(const Fields::Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) return {};
  if (value.is_number_integer()) return value.get<int64_t>();
  return {};
}

std::optional<int64_t> bytes_of(const Fields::Json& value) {
  if (!value.is_string()) return number_of(value);
  const std::string& text = value.get_ref<const std::string&>();
  uint64_t hex = 0;
  if (!absl::StartsWith(text, "0x")) return plan::parse_bytes(text);
  if (!absl::SimpleHexAtoi(text, &hex) || hex > uint64_t{INT64_MAX}) return {};
  return static_cast<int64_t>(hex);
}

bool is_plain(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return text.size() <= kMaxText;
}

}  // namespace

Fields::Fields(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {
  if (!json.is_object()) note("", absl::StrCat("is ", shown(json), ", must be an object"));
}

bool Fields::has(const char* key) const { return json_->is_object() && json_->contains(key); }

const Fields::Json* Fields::take(const char* key) {
  taken_.insert(key);
  return has(key) ? &(*json_)[key] : nullptr;
}

void Fields::note(const absl::Status& status) {
  if (problem_.ok()) problem_ = status;
}

void Fields::note(const std::string& key, const std::string& problem) {
  std::string place = place_;
  if (!place.empty() && !key.empty()) place += ".";
  absl::StrAppend(&place, key, place.empty() && key.empty() ? "" : ": ");
  note(absl::InvalidArgumentError(place + problem));
}

std::string Fields::text_or(const char* key, const std::string& otherwise) {
  const Json* value = take(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string() || !is_plain(value->get_ref<const std::string&>())) {
    note(key, absl::StrCat("is ", shown(*value), ", must be a text of one line and at most ",
                           kMaxText, " bytes"));
    return otherwise;
  }
  return value->get<std::string>();
}

std::string Fields::text(const char* key) {
  std::string text = text_or(key, "");
  if (text.empty()) note(key, "is missing or empty, must be a text");
  return text;
}

bool Fields::flag(const char* key) {
  const Json* value = take(key);
  if (value == nullptr) return false;
  if (!value->is_boolean())
    note(key, absl::StrCat("is ", shown(*value), ", must be true or false"));
  return value->is_boolean() && value->get<bool>();
}

int64_t Fields::number(const char* key, int64_t least, int64_t most) {
  const Json* value = take(key);
  const std::optional<int64_t> number = value == nullptr ? std::nullopt : number_of(*value);
  if (number && *number >= least && *number <= most) return *number;
  note(key, absl::StrCat("is ", value == nullptr ? "missing" : shown(*value),
                         ", must be a whole number in [", least, ", ", most, "]"));
  return least;
}

int64_t Fields::bytes(const char* key, int64_t least, int64_t most) {
  const Json* value = take(key);
  const std::optional<int64_t> number = value == nullptr ? std::nullopt : bytes_of(*value);
  if (number && *number >= least && *number <= most) return *number;
  note(key,
       absl::StrCat("is ", value == nullptr ? "missing" : shown(*value),
                    ", must be 4096, \"64K\", \"1M\" or \"0x1000\" in [", least, ", ", most, "]"));
  return least;
}

std::vector<std::string> Fields::texts(const char* key) {
  const Json* value = take(key);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  bool is_right = value->is_array() && value->size() <= kMaxItems;
  for (size_t i = 0; is_right && i < value->size(); ++i) {
    const Json& one = (*value)[i];
    is_right = one.is_string() && is_plain(one.get_ref<const std::string&>());
    if (is_right) texts.push_back(one.get<std::string>());
  }
  if (!is_right) {
    note(key, absl::StrCat("is ", shown(*value), ", must be a list of at most ", kMaxItems,
                           " texts of one line"));
  }
  return texts;
}

std::vector<Fields> Fields::list(const char* key) {
  const Json* value = take(key);
  std::vector<Fields> rows;
  if (value == nullptr) return rows;
  if (!value->is_array() || value->size() > kMaxItems) {
    note(key,
         absl::StrCat("is ", shown(*value), ", must be a list of at most ", kMaxItems, " objects"));
    return rows;
  }
  for (size_t i = 0; i < value->size(); ++i) {
    rows.emplace_back((*value)[i],
                      absl::StrCat(place_, place_.empty() ? "" : ".", key, "[", i, "]"));
  }
  return rows;
}

Fields Fields::object(const char* key) {
  static const Json* const kNothing = new Json(Json::object());
  const Json* value = take(key);
  return Fields(value == nullptr ? *kNothing : *value,
                absl::StrCat(place_, place_.empty() ? "" : ".", key));
}

absl::Status Fields::finish() {
  for (auto row = json_->begin(); json_->is_object() && row != json_->end(); ++row) {
    if (taken_.count(row.key()) == 0) note(row.key(), "is no key that is known here");
  }
  return problem_;
}

}  // namespace petrel::exir
