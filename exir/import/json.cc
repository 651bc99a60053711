// SPDX-License-Identifier: Apache-2.0
#include "exir/import/json.h"

#include <rapidjson/error/en.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exir/import/json_memory.h"

namespace petrel::exir {

namespace {

// Of a place and of a key in it, as much as a message shows.
constexpr size_t kMaxPlace = 400;
constexpr size_t kMaxKey = 100;

std::string shortened(std::string_view key) {
  if (key.size() <= kMaxKey) return std::string(key);
  return absl::StrCat(std::string(key.substr(0, kMaxKey)), "...");
}

std::string_view text_of(const rapidjson::Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

// Null if the value is no object or has no such member.
const rapidjson::Value* member(const rapidjson::Value& value, const char* key) {
  if (!value.IsObject()) return nullptr;
  const auto found = value.FindMember(key);
  return found == value.MemberEnd() ? nullptr : &found->value;
}

// Numbers are the nearest doubles, and no text makes it recurse.
constexpr unsigned kHow = rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag |
                          rapidjson::kParseValidateEncodingFlag;

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

Json::Json() {
  static const rapidjson::Value kNull;
  value_ = &kNull;
}

absl::Status Json::error(const std::string& what) const {
  const std::string text = place();
  return absl::InvalidArgumentError(absl::StrCat(text, text.back() == ':' ? " " : ": ", what));
}

absl::StatusOr<Json> Json::at(const char* key) const {
  const rapidjson::Value* const value = member(*value_, key);
  if (value == nullptr) return error(absl::StrCat("has no '", key, "'"));
  return Json(*value, as_holder(), key, 0);
}

std::optional<Json> Json::find(const char* key) const {
  const rapidjson::Value* const value = member(*value_, key);
  if (value == nullptr || value->IsNull()) return std::nullopt;
  return Json(*value, as_holder(), key, 0);
}

absl::StatusOr<int64_t> Json::integer() const {
  if (!value_->IsInt64()) return error("is not a 64-bit integer");
  return value_->GetInt64();
}

absl::StatusOr<double> Json::number() const {
  if (value_->IsNumber()) return value_->GetDouble();
  if (value_->IsString()) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::string_view text = text_of(*value_);
    if (text == "Infinity") return kInfinity;
    if (text == "-Infinity") return -kInfinity;
    if (text == "NaN") return std::nan("");
  }
  return error("is not a number");
}

absl::StatusOr<bool> Json::boolean() const {
  if (!value_->IsBool()) return error("is not true or false");
  return value_->GetBool();
}

absl::StatusOr<std::string> Json::text() const {
  absl::StatusOr<std::string_view> view = text_view();
  if (!view.ok()) return view.status();
  return std::string(*view);
}

absl::StatusOr<std::string_view> Json::text_view() const {
  if (!value_->IsString()) return error("is not text");
  return text_of(*value_);
}

absl::StatusOr<std::vector<Json>> Json::items() const {
  if (!value_->IsArray()) return error("is not a list");
  std::vector<Json> items;
  items.reserve(value_->Size());
  const HolderPtr holder = as_holder();
  for (const rapidjson::Value& item : value_->GetArray()) {
    items.push_back(Json(item, holder, {}, items.size()));
  }
  return items;
}

absl::StatusOr<std::vector<std::pair<std::string, Json>>> Json::members() const {
  if (!value_->IsObject()) return error("is not an object");
  std::vector<std::pair<std::string, Json>> members;
  const HolderPtr holder = as_holder();
  for (const auto& field : value_->GetObject()) {
    const std::string_view key = text_of(field.name);
    members.emplace_back(std::string(key), Json(field.value, holder, key, 0));
  }
  return members;
}

absl::StatusOr<std::pair<std::string, Json>> Json::tagged() const {
  if (!value_->IsObject() || value_->MemberCount() != 1) {
    return error("is not an object with one member");
  }
  const auto& field = *value_->MemberBegin();
  const std::string_view tag = text_of(field.name);
  return std::make_pair(std::string(tag), Json(field.value, as_holder(), tag, 0));
}

absl::StatusOr<JsonDocument> JsonDocument::parse(absl::Span<const uint8_t> bytes,
                                                 const std::string& name) {
  const char* const text = reinterpret_cast<const char*>(bytes.data());
  if (absl::Status status = check_json_memory({text, bytes.size()}, kMaxDepth, name);
      !status.ok()) {
    return status;
  }
  JsonDocument made;
  made.document_ = std::make_unique<rapidjson::Document>();
  made.document_->Parse<kHow>(text, bytes.size());
  if (made.document_->HasParseError()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": is not JSON: ", rapidjson::GetParseError_En(made.document_->GetParseError()),
        " Byte ", made.document_->GetErrorOffset() + 1, "."));
  }
  made.name_ = std::make_unique<const std::string>(name);
  made.root_ = Json(*made.document_, nullptr, *made.name_, 0);
  return made;
}

}  // namespace petrel::exir
