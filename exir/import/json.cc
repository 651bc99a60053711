// SPDX-License-Identifier: Apache-2.0
#include "exir/import/json.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

namespace petrel::exir {

namespace {

// Of a place and of a key in it, as much as a message shows.
constexpr size_t kMaxPlace = 400;
constexpr size_t kMaxKey = 100;

std::string shortened(std::string_view key) {
  if (key.size() <= kMaxKey) return std::string(key);
  return absl::StrCat(std::string(key.substr(0, kMaxKey)), "...");
}

}  // namespace

struct Json::Holder {
  HolderPtr holder;
  std::string_view key;
  size_t index;
};

Json::HolderPtr Json::as_holder() const {
  return std::make_shared<const Holder>(Holder{holder_, key_, index_});
}

std::string Json::place() const {
  std::vector<Holder> steps = {{holder_, key_, index_}};
  while (steps.back().holder != nullptr) steps.push_back(*steps.back().holder);
  std::string text = shortened(steps.back().key) + ":";
  for (size_t i = steps.size() - 1; i-- > 0;) {
    if (text.size() > kMaxPlace) return text + "...";
    if (steps[i].key.data() == nullptr) {
      absl::StrAppend(&text, "[", steps[i].index, "]");
    } else {
      absl::StrAppend(&text, text.back() == ':' ? " " : ".", shortened(steps[i].key));
    }
  }
  return text;
}

absl::Status Json::error(const std::string& what) const {
  const std::string text = place();
  return absl::InvalidArgumentError(absl::StrCat(text, text.back() == ':' ? " " : ": ", what));
}

absl::StatusOr<Json> Json::at(const char* key) const {
  simdjson::dom::element value;
  if (element_.at_key(key).get(value) != simdjson::SUCCESS) {
    return error(absl::StrCat("has no '", key, "'"));
  }
  return Json(value, as_holder(), key, 0);
}

std::optional<Json> Json::find(const char* key) const {
  simdjson::dom::element value;
  if (element_.at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  if (value.is_null()) return std::nullopt;
  return Json(value, as_holder(), key, 0);
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
  const HolderPtr holder = as_holder();
  for (simdjson::dom::element item : array) {
    items.push_back(Json(item, holder, {}, items.size()));
  }
  return items;
}

absl::StatusOr<std::vector<std::pair<std::string, Json>>> Json::members() const {
  simdjson::dom::object object;
  if (element_.get(object) != simdjson::SUCCESS) {
    return error("is not an object");
  }
  std::vector<std::pair<std::string, Json>> members;
  const HolderPtr holder = as_holder();
  for (simdjson::dom::key_value_pair field : object) {
    members.emplace_back(std::string(field.key), Json(field.value, holder, field.key, 0));
  }
  return members;
}

absl::StatusOr<std::pair<std::string, Json>> Json::tagged() const {
  simdjson::dom::object object;
  if (element_.get(object) != simdjson::SUCCESS || object.size() != 1) {
    return error("is not an object with one member");
  }
  const simdjson::dom::key_value_pair field = *object.begin();
  return std::make_pair(std::string(field.key), Json(field.value, as_holder(), field.key, 0));
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
  document.name_ = std::make_unique<const std::string>(name);
  document.root_ = Json(root, nullptr, *document.name_, 0);
  return document;
}

}  // namespace petrel::exir
