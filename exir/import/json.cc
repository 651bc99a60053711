// SPDX-License-Identifier: Apache-2.0
#include "exir/import/json.h"

#include <cmath>
#include <limits>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace petrel::exir {

namespace {

// The place of the whole document ends with a colon.
std::string child_place(const std::string& parent, const std::string& key) {
  return absl::StrCat(parent, parent.back() == ':' ? " " : ".", key);
}

}  // namespace

absl::Status Json::error(const std::string& what) const {
  return absl::InvalidArgumentError(absl::StrCat(place_, place_.back() == ':' ? " " : ": ", what));
}

absl::StatusOr<Json> Json::at(const char* key) const {
  simdjson::dom::element value;
  if (element_.at_key(key).get(value) != simdjson::SUCCESS) {
    return error(absl::StrCat("has no '", key, "'"));
  }
  return Json(value, child_place(place_, key));
}

std::optional<Json> Json::find(const char* key) const {
  simdjson::dom::element value;
  if (element_.at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  if (value.is_null()) return std::nullopt;
  return Json(value, child_place(place_, key));
}

absl::StatusOr<int64_t> Json::integer() const {
  int64_t value = 0;
  if (element_.type() != simdjson::dom::element_type::INT64 ||
      element_.get(value) != simdjson::SUCCESS) {
    return error("is not a 64-bit integer");
  }
  return value;
}

absl::StatusOr<double> Json::number() const {
  double value = 0;
  if (element_.get(value) == simdjson::SUCCESS) return value;
  std::string_view text;
  if (element_.get(text) == simdjson::SUCCESS) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (text == "Infinity") return kInfinity;
    if (text == "-Infinity") return -kInfinity;
    if (text == "NaN") return std::nan("");
  }
  return error("is not a number");
}

absl::StatusOr<bool> Json::boolean() const {
  bool value = false;
  if (element_.get(value) != simdjson::SUCCESS) {
    return error("is not true or false");
  }
  return value;
}

absl::StatusOr<std::string> Json::text() const {
  std::string_view value;
  if (element_.get(value) != simdjson::SUCCESS) return error("is not text");
  return std::string(value);
}

absl::StatusOr<std::vector<Json>> Json::items() const {
  simdjson::dom::array array;
  if (element_.get(array) != simdjson::SUCCESS) return error("is not a list");
  std::vector<Json> items;
  items.reserve(array.size());
  for (simdjson::dom::element item : array) {
    items.emplace_back(item, absl::StrCat(place_, "[", items.size(), "]"));
  }
  return items;
}

absl::StatusOr<std::vector<std::pair<std::string, Json>>> Json::members() const {
  simdjson::dom::object object;
  if (element_.get(object) != simdjson::SUCCESS) {
    return error("is not an object");
  }
  std::vector<std::pair<std::string, Json>> members;
  for (simdjson::dom::key_value_pair field : object) {
    std::string key(field.key);
    std::string place = child_place(place_, key);
    members.emplace_back(std::move(key), Json(field.value, std::move(place)));
  }
  return members;
}

absl::StatusOr<std::pair<std::string, Json>> Json::tagged() const {
  simdjson::dom::object object;
  if (element_.get(object) != simdjson::SUCCESS || object.size() != 1) {
    return error("is not an object with one member");
  }
  const simdjson::dom::key_value_pair field = *object.begin();
  std::string tag(field.key);
  std::string place = child_place(place_, tag);
  return std::make_pair(std::move(tag), Json(field.value, std::move(place)));
}

absl::StatusOr<JsonDocument> JsonDocument::parse(absl::Span<const uint8_t> bytes,
                                                 const std::string& name) {
  JsonDocument document;
  document.parser_ = std::make_unique<simdjson::dom::parser>();
  simdjson::dom::element root;
  const simdjson::error_code code =
      document.parser_->parse(bytes.data(), bytes.size(), /*realloc_if_needed=*/true).get(root);
  if (code != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": is not JSON: ", simdjson::error_message(code)));
  }
  document.root_ = Json(root, absl::StrCat(name, ":"));
  return document;
}

}  // namespace petrel::exir
